import { request as requestHttp } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../base/clock.ts';
import { guardedLookup, isRefusedAddress, refusedAddressText } from './guarded-lookup.ts';
import { plainLine } from './plain.ts';
import type { Attempt } from './port.ts';

/** How much of an answer is read, in bytes, and how much of it is told, in UTF-16 units. */
const readBytes = 16_384;
const toldText = 200;

/** One request. */
export interface Post {
  /** http or https. It may hold a secret in its path: only the host is told. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly allowLinkLocal: boolean;
}

/** Posts once. Redirects are not followed: a target says where it is. Never rejects. */
export async function post(given: Post, clock: Clock, signal: AbortSignal): Promise<Attempt> {
  const url = URL.canParse(given.url) ? new URL(given.url) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return down('its address is no URL that begins with http:// or https://');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // A literal address is never looked up.
  if (!given.allowLinkLocal && isIP(host) !== 0 && isRefusedAddress(host))
    return down(refusedAddressText(url.host));
  const limit = new AbortController();
  const cancelTimer = clock.after(given.timeoutMs, () => limit.abort());
  try {
    const answer = await send(url, given, AbortSignal.any([limit.signal, signal]));
    return attemptOf(answer, url, clock.now());
  } catch (error) {
    if (limit.signal.aborted) return down(`${url.host} did not answer within ${given.timeoutMs / 1000} s`);
    return down(`${url.host} cannot be reached (${reasonOf(error)})`);
  } finally {
    cancelTimer();
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

function send(url: URL, given: Post, signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
      method: 'POST',
      headers: {
        ...given.headers,
        'content-length': String(Buffer.byteLength(given.body)),
        'user-agent': 'stemma',
      },
      // A connection of its own each time: what is sent once a day is not kept open.
      agent: false,
      signal,
      ...(given.allowLinkLocal ? {} : { lookup: guardedLookup }),
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const end = (): void => {
        resolve({ status, headers, text: Buffer.concat(chunks).toString() });
        response.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk.subarray(0, readBytes - size));
        size += chunk.length;
        if (size >= readBytes) end();
      });
      response.on('end', end);
      // The status is what counts: an answer that breaks off has said it.
      response.on('error', end);
    });
    request.end(given.body);
  });
}

function attemptOf({ status, headers, text }: Answer, { host }: URL, nowMs: number): Attempt {
  if (status >= 200 && status < 300) return { ok: true };
  const said = plainLine(text, toldText);
  const tail = said === '' ? '' : `: ${said}`;
  if (status >= 300 && status < 400)
    return { ok: false, kind: 'refused', message: `${host} answered ${status}; redirects are not followed` };
  const message = `${host} answered ${status}${tail}`;
  const isBusy = status === 408 || status === 425 || status === 429 || status >= 500;
  if (!isBusy) return { ok: false, kind: 'refused', message };
  const retryAfterMs = retryAfterOf(headers['retry-after'], nowMs);
  return { ok: false, kind: 'down', message, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

/** Seconds or an HTTP date (RFC 9110, 10.2.3). */
function retryAfterOf(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - nowMs;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  // Of several addresses that were tried, each has its own error.
  const inner = error instanceof AggregateError ? (error.errors[0] as NodeJS.ErrnoException) : undefined;
  return plainLine(code ?? inner?.code ?? (message || 'unknown'), toldText);
}

function down(message: string): Attempt {
  return { ok: false, kind: 'down', message };
}
