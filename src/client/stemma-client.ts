import type { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { type Event, event, resetEventType } from '../contract/events.ts';
import {
  type AnswerOf,
  type BodyInputOf,
  otherPaths,
  pathOf,
  type RouteName,
  routeTable,
  routes,
} from '../contract/routes.ts';
import { type ClientRequest, type Connection, requestJson } from './http.ts';
import { streamMessages } from './sse.ts';

/** What goes with a call besides its name. */
export interface CallOptions<Name extends RouteName> {
  /** The id or name in the path; the beginning of an id is enough if it fits only one. */
  readonly id?: string;
  readonly query?: ClientRequest['query'];
  readonly body?: BodyInputOf<Name>;
  /** Makes a repeated call answer the first one's answer. */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Which events to follow. */
export interface FollowOptions {
  readonly root?: string;
  readonly session?: string;
  /** Only what was committed behind this event. Absent: from now on. */
  readonly after?: string;
  readonly signal: AbortSignal;
  /** Called each time the stream stands: what happened before must be read, what happens after it will come. */
  readonly onOpen?: () => void;
  /** Called each time the stream broke: the server may be gone. */
  readonly onBroken?: () => void;
}

/** A typed client of the HTTP API. It holds no connection and needs no closing; every call may throw `StemmaError`. */
export class StemmaClient {
  readonly connection: Connection;
  readonly clock: Clock;

  constructor(connection: Connection, clock: Clock) {
    this.connection = connection;
    this.clock = clock;
  }

  /** Calls one route of the contract; the answer is checked by its schema. */
  async call<Name extends RouteName>(name: Name, options: CallOptions<Name> = {}): Promise<AnswerOf<Name>> {
    const { id, query, body, idempotencyKey, signal } = options;
    const { method } = routeTable[name];
    const answer = routes[name].answer as unknown as z.ZodType<AnswerOf<Name>>;
    return requestJson(this.connection, answer, {
      method,
      path: pathOf(name, id),
      ...(query ? { query } : {}),
      ...(method === 'POST' || method === 'PUT' ? { body: body ?? {} } : {}),
      ...(idempotencyKey === undefined ? {} : { headers: { 'idempotency-key': idempotencyKey } }),
      signal,
    });
  }

  /**
   * Yields events until the signal is aborted, without loss or repeats over reconnects. Events of types that this
   * version does not know are left out. A `reset` event means that the cursor is void: read everything afresh.
   */
  async *events(options: FollowOptions): AsyncGenerator<Event, void, undefined> {
    const { root, session, after, signal, onOpen, onBroken } = options;
    const messages = streamMessages(this.connection, this.clock, {
      path: otherPaths.events,
      query: { root, session },
      signal,
      ...(after === undefined ? {} : { lastEventId: after }),
      ...(onOpen ? { onOpen } : {}),
      ...(onBroken ? { onBroken } : {}),
    });
    for await (const message of messages) {
      const known = readEvent(message);
      if (known) yield known;
    }
  }
}

function readEvent(message: { event: string; data: string; lastEventId: string }): Event | undefined {
  const data = parseJson(message.data);
  if (message.event === resetEventType) {
    const fields = typeof data === 'object' && data !== null ? data : {};
    const whole = event.safeParse(fields);
    return whole.success
      ? whole.data
      : { id: message.lastEventId, at: '', type: resetEventType, data: { ...fields } };
  }
  return event.safeParse(data).data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
