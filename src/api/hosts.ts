import { StemmaError } from '../base/errors.ts';

/** By which names this server may be called. */
export interface HostRules {
  /** The port on which it listens. */
  readonly port: number;
  /** How browsers reach it through a proxy. */
  readonly publicUrl?: string;
  /** Further host names without port, for a server that is bound to more than loopback. */
  readonly hosts?: readonly string[];
}

const loopbackNames = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * Refuses a request whose Host or Origin names another server. The first is a name that an attacker's DNS points at
 * this machine (rebinding), the second a foreign page that lets the browser call us. An Origin may be absent: programs
 * send none, and browsers always do where it matters. Throws `FOREIGN_HOST`.
 */
export function checkHosts(headers: Headers, rules: HostRules): void {
  const host = headers.get('host')?.toLowerCase() ?? '';
  if (!allowedHosts(rules).has(host)) throw foreign('Host', host);
  const origin = headers.get('origin');
  if (origin !== null && !allowedOrigins(rules).has(origin.toLowerCase())) throw foreign('Origin', origin);
}

function allowedHosts(rules: HostRules): Set<string> {
  const names = [...loopbackNames, ...(rules.hosts ?? []).map((name) => name.toLowerCase())];
  const hosts = names.flatMap((name) =>
    rules.port === 80 ? [name, `${name}:80`] : [`${name}:${rules.port}`],
  );
  if (rules.publicUrl !== undefined) hosts.push(new URL(rules.publicUrl).host);
  return new Set(hosts);
}

function allowedOrigins(rules: HostRules): Set<string> {
  const { publicUrl, ...local } = rules;
  const origins = [...allowedHosts(local)].map((host) => `http://${host}`);
  if (publicUrl !== undefined) origins.push(new URL(publicUrl).origin);
  return new Set(origins);
}

function foreign(header: string, value: string): StemmaError {
  const shown = value.slice(0, 100);
  return new StemmaError(
    'FOREIGN_HOST',
    `The ${header} ${JSON.stringify(shown)} is not this server. Call it by its own address, or set server.publicUrl.`,
    { header, value: shown },
  );
}
