import { systemClock } from '../../src/base/clock.ts';
import { createApi } from '../../src/api/app.ts';
import type { Api, ApiOptions } from '../../src/api/app.ts';
import { listen } from '../../src/api/listener.ts';
import { loadPage } from '../../src/api/pages.ts';
import { EchoTerminals } from './echo-terminals.ts';
import { MemoryLedger } from './memory-ledger.ts';
import { memoryPorts, quietLog } from './memory-ports.ts';

/** The whole edge on a real loopback port. */
export interface RunningEdge {
  readonly ledger: MemoryLedger;
  readonly terminals: EchoTerminals;
  readonly api: Api;
  readonly port: number;
  readonly url: string;
  /** Calls a path with the admin token unless other headers say otherwise. */
  call(path: string, init?: RequestInit & { readonly token?: string | null }): Promise<Response>;
  post(path: string, body: unknown, token?: string): Promise<Response>;
  stop(): Promise<void>;
}

/** The tokens that every edge knows. */
export const tokens = { admin: 'stm_api_admin', operate: 'stm_api_operate', read: 'stm_api_read' } as const;

/** Starts the edge on a free port. The caller stops it. */
export async function startEdge(
  options: Partial<Omit<ApiOptions, 'port' | 'page'>> = {},
): Promise<RunningEdge> {
  const ledger = new MemoryLedger();
  for (const [scope, token] of Object.entries(tokens)) {
    ledger.addToken(token, { kind: 'api', scope: scope as keyof typeof tokens, name: scope });
  }
  let port = 0;
  const page = await loadPage('dist/web');
  const given = { clock: systemClock, log: quietLog, page, ...options };
  const terminals = new EchoTerminals();
  const api = createApi(memoryPorts(ledger, terminals), { ...given, port: () => port });
  const listener = await listen({ host: '127.0.0.1', port: 0, clock: systemClock, fetch: api.fetch });
  port = listener.port;
  const url = `http://127.0.0.1:${port}`;
  const call: RunningEdge['call'] = (path, { token = tokens.admin, ...init } = {}) => {
    const headers = new Headers(init.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    return fetch(`${url}${path}`, { redirect: 'manual', ...init, headers });
  };
  return {
    ledger,
    terminals,
    api,
    port,
    url,
    call,
    post: (path, body, token = tokens.admin) =>
      call(path, { method: 'POST', body: JSON.stringify(body), token }),
    stop: async () => {
      ledger.state = 'stopping';
      api.stop();
      await listener.close(200);
    },
  };
}
