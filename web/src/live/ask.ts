import type { Problem } from '../../../src/contract/problem.ts';
import { apiUrl } from './base.ts';

/** How long a request may take; milliseconds. */
const answerMs = 30_000;

/** A request that was refused (`status`, `code`), or that nobody answered (`status` 0). */
export class AskError extends Error {
  readonly status: number;
  readonly code: string;
  /** What the problem says besides: of wrong input its `issues`. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(status: number, code: string, message: string, data: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = 'AskError';
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/** Reads a path of the API. Throws `AskError`. */
export function ask<T>(path: string, signal?: AbortSignal): Promise<T> {
  return send<T>(path, { signal: signal ?? null });
}

/** Changes something; `key` makes a repetition harmless. Throws `AskError`. */
export function tell<T>(
  path: string,
  body: object,
  { method = 'POST', key }: { method?: 'POST' | 'PUT' | 'DELETE'; key?: string } = {},
): Promise<T> {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (key !== undefined) headers['idempotency-key'] = key;
  return send<T>(path, { method, headers, body: method === 'DELETE' ? null : JSON.stringify(body) });
}

/** How long a stop is waited for, until it is said that it was asked for; milliseconds. */
const stopMs = 1_500;

/**
 * Stops an execution with everything below it. The server answers when all of it has ended, which may take as long as whatever
 * runs there likes: the page then goes on, and shows it as `cancelling`. Throws `AskError`.
 */
export async function stopTree(id: string, reason = 'stopped on the page'): Promise<void> {
  const path = `/executions/${encodeURIComponent(id)}/cancel`;
  const answer = tell(path, { scope: 'tree', reason });
  const isAsked = new Promise<void>((resolve) => setTimeout(resolve, stopMs));
  await Promise.race([answer, isAsked]);
}

/** Server time minus the time of this machine, as of the last answer; milliseconds. */
export let skewMs = 0;

async function send<T>(path: string, init: RequestInit): Promise<T> {
  const limit = AbortSignal.timeout(answerMs);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const response = await fetch(apiUrl(path), { ...init, signal }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
    throw new AskError(0, 'UNREACHABLE', 'The server does not answer.');
  });
  const date = Date.parse(response.headers.get('date') ?? '');
  if (Number.isFinite(date)) skewMs = date - Date.now();
  const answer: unknown = await response.json().catch(() => undefined);
  if (response.ok) return answer as T;
  const { code = 'INTERNAL', detail, title, data } = (answer ?? {}) as Partial<Problem>;
  throw new AskError(response.status, code, detail ?? title ?? `HTTP ${response.status}`, data);
}
