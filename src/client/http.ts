import type { z } from 'zod';
import { type ErrorCode, errorCodes, StemmaError } from '../base/errors.ts';

/** Where a server is and who asks. */
export interface Connection {
  /** Without a path, as `http://127.0.0.1:4600`. */
  readonly url: string;
  readonly token?: string;
}

/** One request. `query` leaves out what is undefined; `body` is sent as JSON. */
export interface ClientRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Sends a request and reads its JSON answer by a schema.
 * Throws `StemmaError`: the code of the server's problem document, `UNREACHABLE` when nothing that speaks Stemma answers;
 * an abort throws the signal's own reason.
 */
export async function requestJson<S extends z.ZodType>(
  connection: Connection,
  schema: S,
  request: ClientRequest,
): Promise<z.output<S>> {
  const response = await send(connection, request);
  const body = await readJson(connection, response, request.signal);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw unreachable(
    connection,
    `answers ${request.path} in a shape that this version does not know`,
    parsed.error,
  );
}

/** Sends a request and returns the answer with its body unread; a failed one throws as in `requestJson`. */
export async function send(connection: Connection, request: ClientRequest): Promise<Response> {
  const { signal } = request;
  const address = addressOf(connection, request);
  const init = initOf(connection, request);
  let response: Response;
  try {
    response = await fetch(address, { ...init, signal: signal ?? null });
  } catch (thrown) {
    signal?.throwIfAborted();
    throw wasReached(thrown)
      ? brokenOff(connection, thrown)
      : unreachable(connection, 'does not answer', thrown);
  }
  if (response.ok) return response;
  throw problemError(connection, response, await readJson(connection, response, signal));
}

/** The whole address of a request. Throws `INVALID_INPUT` when the server's is none. */
export function addressOf(connection: Connection, request: Pick<ClientRequest, 'path' | 'query'>): URL {
  const base = parseUrl(connection.url);
  const url = new URL(base.pathname.replace(/\/$/, '') + request.path, base);
  for (const [name, value] of Object.entries(request.query ?? {})) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url;
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url;
  throw new StemmaError('INVALID_INPUT', `"${text}" is not an address of a server; write http://HOST:PORT.`);
}

function initOf(connection: Connection, request: ClientRequest): RequestInit {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers ?? {})) setHeader(headers, name, value);
  if (connection.token !== undefined) setHeader(headers, 'authorization', `Bearer ${connection.token}`);
  const init: RequestInit = { method: request.method ?? 'GET', headers, redirect: 'error' };
  if (request.body === undefined) return init;
  headers.set('content-type', 'application/json');
  return { ...init, body: JSON.stringify(request.body) };
}

// What no header can hold is the caller's mistake, and says nothing about the server. The value may be a secret.
function setHeader(headers: Headers, name: string, value: string): void {
  try {
    headers.set(name, value);
  } catch {
    const what = name === 'authorization' ? 'The token' : `The value for ${name}`;
    const message = `${what} has a line break, or characters that no HTTP header can hold.`;
    throw new StemmaError('INVALID_INPUT', message, { header: name });
  }
}

async function readJson(connection: Connection, response: Response, signal?: AbortSignal): Promise<unknown> {
  let text: string;
  try {
    text = await response.text();
  } catch (thrown) {
    signal?.throwIfAborted();
    throw brokenOff(connection, thrown);
  }
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch (thrown) {
    throw unreachable(connection, `is no Stemma server (HTTP ${response.status} without JSON)`, thrown);
  }
}

/** The error that a problem document tells of; `UNREACHABLE` for what is none. */
export function problemError(
  connection: Connection,
  response: { readonly status: number },
  body: unknown,
): StemmaError {
  const { code, detail, title, data } = (body ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string')
    return unreachable(connection, `is no Stemma server (HTTP ${response.status})`);
  const message = typeof detail === 'string' ? detail : typeof title === 'string' ? title : code;
  const known = codes.has(code);
  const fields = { ...(isRecord(data) ? data : {}), ...(known ? {} : { code }) };
  return new StemmaError(known ? (code as ErrorCode) : codeOfStatus(response.status), message, fields);
}

const codes: ReadonlySet<string> = new Set(errorCodes);

// A newer server may have codes that this version has not heard of; their status still says what kind it is.
function codeOfStatus(status: number): ErrorCode {
  if (status === 404) return 'NOT_FOUND';
  if (status === 409) return 'ILLEGAL_STATE';
  if (status === 503) return 'RECOVERING';
  return status < 500 ? 'INVALID_INPUT' : 'INTERNAL';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// What `fetch` says when there was no connection yet; everything else happened to one.
const unconnected = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

function wasReached(thrown: unknown): boolean {
  const cause = (thrown as { cause?: { code?: unknown } } | null)?.cause;
  const isConnecting = cause?.code === 'UND_ERR_CONNECT_TIMEOUT' || cause?.code === 'ETIMEDOUT';
  return typeof cause?.code === 'string' && !isConnecting && !unconnected.has(cause.code);
}

/** A server was there and has gone: it may be back soon. Told by `data.wasReached`. */
function brokenOff(connection: Connection, cause: unknown): StemmaError {
  return unreachable(connection, 'broke off its answer', cause, { wasReached: true });
}

/** Nothing that speaks Stemma answers there; `what`: what the server does instead. */
export function unreachable(
  connection: Connection,
  what: string,
  cause?: unknown,
  more: Readonly<Record<string, unknown>> = {},
): StemmaError {
  const message = `The server at ${connection.url} ${what}. Start one with "stemma up", or name another with --url.`;
  return new StemmaError('UNREACHABLE', message, { url: connection.url, ...more }, cause);
}
