import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { SseParser } from '../client/sse-parser.ts';
import type { Event } from '../contract/events.ts';

let edge: RunningEdge;
let clock: VirtualClock;
beforeEach(async () => {
  clock = new VirtualClock();
  edge = await startEdge({ clock, streamBufferBytes: 100_000, keepAliveMs: 15_000 });
});
afterEach(() => edge.stop());

/** Reads a stream in the background; the test looks at what has come. */
async function follow(path: string, lastEventId?: string) {
  const leaving = new AbortController();
  const headers: Record<string, string> = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
  const response = await edge.call(path, { headers, signal: leaving.signal });
  expect(response.status).toBe(200);
  const parser = new SseParser();
  const seen = {
    text: '',
    types: [] as string[],
    events: [] as Event[],
    names: [] as string[],
    ended: false,
  };
  const read = async (): Promise<void> => {
    for await (const chunk of response.body ?? []) {
      const text = Buffer.from(chunk as Uint8Array).toString();
      seen.text += text;
      for (const message of parser.push(text)) {
        const event = JSON.parse(message.data) as Event;
        expect(event.id).toBe(message.lastEventId);
        seen.events.push(event);
        seen.types.push(event.type);
        seen.names.push(message.event);
      }
    }
  };
  const done = read()
    .catch(() => undefined)
    .then(() => {
      seen.ended = true;
    });
  // The id without data says that what was missed has been sent: the stream is live.
  await expect.poll(() => /(^|\n)id: \S+\n\n/.test(seen.text)).toBe(true);
  return { seen, parser, leave: () => leaving.abort(), done };
}

describe('the event stream', () => {
  test('delivers what is committed, with ids that are cursors', async () => {
    const stream = await follow('/api/v1/events');
    const root = edge.ledger.register({ name: 'root' });
    edge.ledger.settle(root.id, 'succeeded');
    await expect
      .poll(() => stream.seen.types)
      .toEqual(['execution.registered', 'execution.settled', 'execution.closed']);
    expect(stream.seen.events[0]).toMatchObject({ rootId: root.id, data: { executionId: root.id } });
    stream.leave();
    await expect.poll(() => edge.ledger.listeners.size).toBe(0);
  });

  test('resumes behind the last event without loss or repeats, however often it breaks', async () => {
    let cursor: string | undefined;
    const received: string[] = [];
    for (let round = 0; round < 5; round++) {
      const stream = await follow('/api/v1/events', cursor);
      edge.ledger.publish('alarm', { data: { round, live: true } });
      await expect.poll(() => stream.seen.events.at(-1)?.data).toEqual({ round, live: true });
      received.push(...stream.seen.events.map((event) => event.id));
      cursor = stream.parser.lastEventId;
      stream.leave();
      await stream.done;
      edge.ledger.publish('alarm', { data: { round, away: true } });
    }
    const last = await follow('/api/v1/events', cursor);
    await expect.poll(() => last.seen.events.length).toBe(1);
    received.push(...last.seen.events.map((event) => event.id));
    expect(received).toEqual(edge.ledger.events.map((event) => event.id));
    last.leave();
  });

  test('a client that had seen nothing yet can resume too', async () => {
    edge.ledger.publish('alarm', {});
    const stream = await follow('/api/v1/events');
    const cursor = stream.parser.lastEventId;
    expect(cursor).toBe(edge.ledger.events[0]?.id);
    stream.leave();
    edge.ledger.publish('alarm', { data: { missed: true } });
    const again = await follow('/api/v1/events', cursor);
    await expect.poll(() => again.seen.events.map((event) => event.data)).toEqual([{ missed: true }]);
    again.leave();
  });

  test('catches up over many pages, filtered or not', async () => {
    const session = edge.ledger.addSession();
    for (let i = 0; i < 1_000; i++) {
      edge.ledger.publish('alarm', { data: { i }, ...(i % 3 === 0 ? { sessionId: session.id } : {}) });
    }
    const start = `${edge.ledger.database}.0`;
    const whole = await follow(`/api/v1/events?after=${start}`);
    await expect.poll(() => whole.seen.events.length).toBe(1_000);
    const part = await follow(`/api/v1/events?after=${start}&session=${session.id}`);
    await expect.poll(() => part.seen.events.length).toBe(334);
    expect(part.seen.events.every((event) => event.sessionId === session.id)).toBe(true);
    whole.leave();
    part.leave();
  });

  test('an event of one session never reaches the stream of another', async () => {
    const [one, two] = [edge.ledger.addSession(), edge.ledger.addSession()];
    const streams = await Promise.all([one, two].map(({ id }) => follow(`/api/v1/events?session=${id}`)));
    edge.ledger.publish('turn.started', { sessionId: one.id, data: { of: 1 } });
    edge.ledger.publish('turn.started', { sessionId: two.id, data: { of: 2 } });
    await expect
      .poll(() => streams.map(({ seen }) => seen.events.map(({ data }) => data)))
      .toEqual([[{ of: 1 }], [{ of: 2 }]]);
    for (const stream of streams) stream.leave();
  });

  test('a cursor of another database gets a reset, then what is new', async () => {
    edge.ledger.publish('alarm', { data: { old: true } });
    const stream = await follow('/api/v1/events', 'elsewhere.41');
    edge.ledger.publish('alarm', { data: { fresh: true } });
    await expect.poll(() => stream.seen.types).toEqual(['reset', 'alarm']);
    expect(stream.seen.names).toEqual(['reset', 'message']);
    expect(stream.seen.events[1]?.data).toEqual({ fresh: true });
    stream.leave();
  });

  test('a quiet stream is kept alive by comments, by the clock that was given', async () => {
    const stream = await follow('/api/v1/events');
    expect(stream.seen.text).not.toContain(': still here');
    clock.advance(45_000);
    await expect.poll(() => stream.seen.text.match(/: still here/g)?.length).toBe(3);
    expect(stream.seen.events).toEqual([]);
    stream.leave();
    await expect.poll(() => edge.ledger.listeners.size).toBe(0);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('a client that does not read is cut off, and nothing piles up for it', async () => {
    const socket = connect({ host: '127.0.0.1', port: edge.port });
    let isClosed = false;
    socket.on('close', () => {
      isClosed = true;
    });
    socket.on('error', () => undefined);
    const head = `GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1:${edge.port}\r\nAuthorization: Bearer ${tokens.admin}\r\n\r\n`;
    socket.write(head);
    await expect.poll(() => edge.ledger.listeners.size).toBe(1);
    socket.pause();
    const filler = 'x'.repeat(10_000);
    await expect
      .poll(
        () => {
          for (let i = 0; i < 100; i++) edge.ledger.publish('alarm', { data: { filler } });
          return edge.ledger.listeners.size;
        },
        { timeout: 10_000, interval: 20 },
      )
      .toBe(0);
    socket.resume();
    await expect.poll(() => isClosed).toBe(true);
    expect(clock.nextAt()).toBeUndefined();
  });

  test('stopping ends every stream politely', async () => {
    const streams = await Promise.all([follow('/api/v1/events'), follow('/api/v1/events')]);
    edge.api.stop();
    await expect.poll(() => streams.every(({ seen }) => seen.ended)).toBe(true);
    expect(edge.ledger.listeners.size).toBe(0);
    expect((await edge.call('/api/v1/events')).status).toBe(503);
  });

  test('stopping lets a wait answer with what holds, at once', async () => {
    const root = edge.ledger.register({ name: 'root' });
    const waiting = edge.call(`/api/v1/executions/${root.id}/wait?timeoutMs=60000`);
    await expect.poll(() => edge.ledger.listeners.size).toBe(1);
    edge.api.stop();
    expect(await (await waiting).json()).toMatchObject({
      closed: false,
      holding: [{ executionId: root.id }],
    });
  });

  test('many waits at once are no leak, and are not warned of', async () => {
    const warnings: Error[] = [];
    const hear = (warning: Error): void => void warnings.push(warning);
    process.on('warning', hear);
    const root = edge.ledger.register({ name: 'root' });
    const path = `/api/v1/executions/${root.id}/wait?timeoutMs=60000`;
    const waiting = Array.from({ length: 12 }, () => edge.call(path));
    await expect.poll(() => edge.ledger.listeners.size).toBe(12);
    edge.api.stop();
    await Promise.all(waiting);
    process.off('warning', hear);
    expect(warnings).toEqual([]);
  });

  test('unknown filters are refused', async () => {
    expect((await edge.call('/api/v1/events?root=exe_01JZZ')).status).toBe(404);
    expect((await edge.call('/api/v1/events?rot=exe_01JZZ')).status).toBe(400);
    expect((await edge.call('/api/v1/events', { method: 'HEAD' })).status).toBe(405);
    expect(edge.ledger.listeners.size).toBe(0);
  });
});
