import type { Clock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import { type ClientRequest, type Connection, send } from './http.ts';
import { Patience } from './retry.ts';
import { type SseMessage, SseParser } from './sse-parser.ts';

/** What to stream, and from where. */
export interface StreamRequest {
  readonly path: string;
  readonly query?: ClientRequest['query'];
  /** Only events behind this one; absent: from now on. */
  readonly lastEventId?: string;
  readonly signal: AbortSignal;
  /** Called each time the stream stands, also after a reconnect. */
  readonly onOpen?: () => void;
  /** Called each time the stream broke and is asked for again. */
  readonly onBroken?: () => void;
}

/**
 * Yields the messages of an event stream until the signal is aborted, over any number of reconnects: each sends the id
 * of the last message, so that nothing is lost or repeated. Throws when the server refuses, or stays away for longer
 * than `patienceMs`. Breaking out of the loop closes the connection.
 */
export async function* streamMessages(
  connection: Connection,
  clock: Clock,
  request: StreamRequest,
): AsyncGenerator<SseMessage, void, undefined> {
  const patience = new Patience(clock);
  let parser = new SseParser(request.lastEventId);
  while (!request.signal.aborted) {
    let broken: unknown = endOfStream(connection);
    try {
      yield* readOnce(connection, request, parser, () => patience.succeeded());
    } catch (thrown) {
      broken = thrown;
    }
    if (request.signal.aborted) return;
    request.onBroken?.();
    await patience.failed(broken, request.signal, parser.retryMs);
    // What was read of a message when the connection broke is sent again in full.
    parser = new SseParser(parser.lastEventId);
  }
}

async function* readOnce(
  connection: Connection,
  request: StreamRequest,
  parser: SseParser,
  onAnswer: () => void,
): AsyncGenerator<SseMessage, void, undefined> {
  const headers = {
    accept: 'text/event-stream',
    ...(parser.lastEventId === undefined ? {} : { 'last-event-id': parser.lastEventId }),
  };
  const { path, query, signal } = request;
  const response = await send(connection, { path, headers, signal, ...(query ? { query } : {}) });
  const body = response.body?.pipeThrough(new TextDecoderStream());
  if (!body) return;
  onAnswer();
  request.onOpen?.();
  const reader = body.getReader();
  // Not left to fetch: its own link from the signal to the body can be collected while a quiet stream is read.
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      yield* parser.push(read.value);
    signal.throwIfAborted();
  } catch (thrown) {
    signal.throwIfAborted();
    throw new StemmaError('UNREACHABLE', `The event stream of ${connection.url} broke off.`, {}, thrown);
  } finally {
    signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function endOfStream(connection: Connection): StemmaError {
  return new StemmaError('UNREACHABLE', `The server at ${connection.url} ended the event stream.`, {
    url: connection.url,
  });
}
