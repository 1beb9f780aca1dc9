import { StemmaError } from '../base/errors.ts';
import type { RouteSpec, Scope } from '../contract/route-spec.ts';
import { scopes } from '../contract/route-spec.ts';
import { bearerProtocolPrefix } from '../contract/terminal.ts';
import type { Access, Principal } from './ports.ts';

/** Tokens are short; whatever is longer was not issued by us, and is not worth a look-up. */
const longestTokenChars = 1_024;

/** The cookie's name holds the port: browsers send cookies to every port of a host, and two servers may share one. */
export function cookieName(port: number): string {
  return `stemma_${port}`;
}

/** Says who calls, by bearer token, else by cookie. Throws `UNAUTHORIZED`, and `FORBIDDEN` for a forged form. */
export async function authenticate(request: Request, access: Access, port: number): Promise<Principal> {
  const bearer = bearerOf(request.headers.get('authorization')) ?? offeredBearer(request.headers);
  if (bearer !== undefined) return known(await access.verify(bearer));
  const cookie = cookieOf(request.headers.get('cookie') ?? '', cookieName(port));
  if (cookie === undefined) throw unauthorized('This needs a token.');
  // Browsers name the origin of whatever changes something. A cookie without one is another program's trick.
  const isSocket = request.headers.has('upgrade');
  const isReading = !isSocket && (request.method === 'GET' || request.method === 'HEAD');
  if (!isReading && !request.headers.has('origin')) {
    throw new StemmaError('FORBIDDEN', 'A change with a cookie needs an Origin header. Use a token.', {
      needs: 'origin',
    });
  }
  return known(await access.verifyCookie(cookie));
}

/** Whether this principal may call this route. Throws `FORBIDDEN`, naming what is needed. */
export function authorize(spec: Pick<RouteSpec, 'needs' | 'also'>, principal: Principal): void {
  if (principal.kind !== 'api') {
    if (spec.also?.includes(principal.kind)) return;
    throw forbidden(spec.needs, `A token of an ${principal.kind === 'session' ? 'agent' : 'execution'}`);
  }
  if (!includesScope(principal.scope, spec.needs))
    throw forbidden(spec.needs, `The scope ${principal.scope}`);
}

/** The name of a token in idempotency keys, latches and the log. */
export function nameOf(principal: Principal): string {
  switch (principal.kind) {
    case 'api':
      return `api:${principal.name}`;
    case 'session':
      return `session:${principal.sessionId}`;
    case 'execution':
      return `execution:${principal.executionId}`;
  }
}

/** Whether one scope includes another. */
export function includesScope(has: Scope, needs: Scope): boolean {
  return scopes.indexOf(has) >= scopes.indexOf(needs);
}

function bearerOf(header: string | null): string | undefined {
  if (header === null) return undefined;
  const token = /^Bearer +([\x21-\x7e]+) *$/i.exec(header)?.[1];
  if (token === undefined || token.length > longestTokenChars)
    throw unauthorized('The Authorization header is no bearer token.');
  return token;
}

/** A token among the subprotocols that are offered for a WebSocket: a browser can send no header of its own there. */
function offeredBearer(headers: Headers): string | undefined {
  const offered = headers.has('upgrade') ? (headers.get('sec-websocket-protocol') ?? '') : '';
  const found = offered.split(',').map((name) => name.trim());
  const token = found.find((name) => name.startsWith(bearerProtocolPrefix));
  return token === undefined ? undefined : bearerOf(`Bearer ${token.slice(bearerProtocolPrefix.length)}`);
}

function cookieOf(header: string, name: string): string | undefined {
  for (const part of header.split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name && value !== undefined && value.length <= longestTokenChars) return value;
  }
  return undefined;
}

function known(principal: Principal | undefined): Principal {
  if (principal === undefined) throw unauthorized('Nobody issued this token, or it was revoked.');
  return principal;
}

function unauthorized(why: string): StemmaError {
  return new StemmaError(
    'UNAUTHORIZED',
    `${why} Send "Authorization: Bearer …" with the token from the file DIR/token, or sign in with "stemma open".`,
  );
}

function forbidden(needs: Scope, who: string): StemmaError {
  return new StemmaError(
    'FORBIDDEN',
    `${who} is not enough here; use an API token with the scope ${needs}.`,
    { needs },
  );
}
