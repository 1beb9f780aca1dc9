import type { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { OpencodeServer } from './server.ts';

/** What became of a request. `refused`: the server answered, and said no. `lost`: nobody knows whether it arrived. */
export type Answer =
  | { readonly outcome: 'ok'; readonly result: unknown }
  | { readonly outcome: 'refused'; readonly status: number; readonly message: string }
  | { readonly outcome: 'lost'; readonly message: string };

/** Nothing could be learned: no answer, a refusal, or an answer in an unknown shape. */
export class Unreadable extends Error {
  /** The status of the refusal, if it was one. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

const askMs = 20_000;

/** The HTTP interface of one opencode server. Every call comes back within its time; none throws but `read`. */
export class OpencodeApi {
  readonly #server: OpencodeServer;
  readonly #authorization: string;

  constructor(server: OpencodeServer) {
    this.#server = server;
    this.#authorization = `Basic ${Buffer.from(`opencode:${server.password}`).toString('base64')}`;
  }

  /** Asks, with a deadline. */
  async call(method: string, path: string, body?: unknown, timeoutMs = askMs): Promise<Answer> {
    try {
      const response = await fetch(`${this.#server.url}${path}`, {
        method,
        headers: { authorization: this.#authorization, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(timeoutMs),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.ok) return { outcome: 'ok', result: parseJson(text) };
      return {
        outcome: 'refused',
        status: response.status,
        message: `${method} ${path}: ${response.status} ${text.slice(0, 300)}`,
      };
    } catch (error) {
      const { message, cause } =
        error instanceof Error ? error : { message: String(error), cause: undefined };
      const why = cause instanceof Error ? ` (${cause.message})` : '';
      return { outcome: 'lost', message: `${method} ${path}: ${message}${why}` };
    }
  }

  /** Reads something. Throws `Unreadable` when that cannot be done. */
  async read<Result>(path: string, shape: z.ZodType<Result>): Promise<Result> {
    const answer = await this.call('GET', path);
    if (answer.outcome !== 'ok')
      throw new Unreadable(answer.message, answer.outcome === 'refused' ? answer.status : undefined);
    const read = shape.safeParse(answer.result);
    if (!read.success) throw new Unreadable(`GET ${path} was answered in a shape that is not known`);
    return read.data;
  }

  /** Opens the stream of events; it ends when `signal` is aborted. Throws when it cannot be opened. */
  async events(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const headers = { authorization: this.#authorization, accept: 'text/event-stream' };
    const response = await fetch(`${this.#server.url}/event`, { headers, signal });
    if (!response.ok || !response.body)
      throw new Unreadable(`GET /event: ${response.status}`, response.status);
    return response.body;
  }
}
