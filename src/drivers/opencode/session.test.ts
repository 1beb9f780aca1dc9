import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CancelTimer } from '../../base/clock.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { identityOf } from '../../processes/process-identity.ts';
import type { DriverEvent } from '../port.ts';
import { readable } from './catch-up.ts';
import { outline } from './corpus-harness.ts';
import { HeldEvents } from './held-events.ts';
import { Journal } from './journal.ts';
import { OpencodeSession } from './session.ts';

const sessionId = 'ses_1';
const user = (id: string, created: number): { info: object; parts: object[] } => ({
  info: { role: 'user', id, sessionID: sessionId, time: { created } },
  parts: [{ id: `p-${id}`, sessionID: sessionId, messageID: id, type: 'text', text: id }],
});
const asks = (
  id: string,
  parentID: string,
  created: number,
  more: object = {},
): { info: object; parts: object[] } => ({
  info: { role: 'assistant', id, sessionID: sessionId, parentID, time: { created }, ...more },
  parts: [],
});
const whole = (
  id: string,
  parentID: string,
  created: number,
  finish = 'stop',
): { info: object; parts: object[] } =>
  asks(id, parentID, created, { time: { created, completed: created + 1 }, finish });
const idle = { type: 'session.idle', properties: { sessionID: sessionId } };
const updated = ({ info }: { info: object }): object => ({ type: 'message.updated', properties: { info } });

/** The HTTP interface of opencode with a record that the test writes, and a stream that the test speaks on. */
class ScriptedServer {
  messages: object[] = [];
  isBusy = false;
  /** Answers to readings of the list of messages wait until the test says so. */
  isSlow = false;
  isRefusing = false;
  /** What is said on the stream is on its way until the test lets it arrive. */
  isLagging = false;
  readings = 0;
  readonly waiting: (() => void)[] = [];
  #streams: ServerResponse[] = [];
  #onTheWay: object[] = [];
  readonly #server: Server = createServer((request, response) => {
    if (request.method === 'PATCH') void this.#mark(request, response);
    else this.#answer(request.url ?? '', response);
  });

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  say(...events: object[]): void {
    if (this.isLagging) this.#onTheWay.push(...events);
    else this.#write(events);
  }

  /** What is on its way arrives. */
  arrive(): void {
    this.isLagging = false;
    this.#write(this.#onTheWay.splice(0));
  }

  #write(events: readonly object[]): void {
    this.#streams.at(-1)?.write(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(''));
  }

  get streams(): number {
    return this.#streams.length;
  }

  breakStream(): void {
    this.#streams.at(-1)?.destroy();
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** Metadata that is changed is told of on the stream. */
  async #mark(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metadata } = JSON.parse(await text(request)) as { metadata: object };
    this.say({ type: 'session.updated', properties: { info: { id: sessionId, metadata } } });
    response.end('{}');
  }

  #answer(url: string, response: ServerResponse): void {
    if (url === '/event') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      this.#streams.push(response);
      return this.#write([{ type: 'server.connected', properties: {} }]);
    }
    const isList = url.startsWith(`/session/${sessionId}/message`);
    if (isList) this.readings++;
    if (isList && this.isRefusing) return void response.writeHead(500).end();
    const known = url === '/session/status' && this.isBusy ? { [sessionId]: { type: 'busy' } } : {};
    const body = url === '/session/status' ? known : isList ? this.messages : [];
    const answer = JSON.stringify(body);
    const send = (): void => void response.end(answer);
    if (isList && this.isSlow) this.waiting.push(send);
    else send();
  }
}

/** Counts what arrives on streams: each piece puts off the moment at which silence breaks them. */
class ListeningClock extends VirtualClock {
  pieces = 0;

  override after(delayMs: number, fire: () => void): CancelTimer {
    if (delayMs === 45_000) this.pieces++;
    return super.after(delayMs, fire);
  }
}

describe('a session at work', () => {
  let directory: string;
  let server: ScriptedServer;
  let session: OpencodeSession;
  let clock: ListeningClock;
  let events: DriverEvent[];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-opencode-session-'));
    server = new ScriptedServer();
    clock = new ListeningClock();
    events = [];
    const identity = identityOf(process.pid);
    if (!identity) throw new Error('this process has no identity');
    const { journal, state } = Journal.open(directory, sessionId, { position: 0, unresolved: [] });
    const request = {
      sessionId: 'ses_x' as SessionId,
      directory,
      cwd: directory,
      profile: { name: 'opencode', driver: 'opencode', command: ['opencode'] },
      position: 0,
      unresolved: [],
      emit: (event: DriverEvent) => void events.push(event),
    };
    session = new OpencodeSession({
      request,
      server: { identity, url: await server.listen(), password: 'secret' },
      clock,
      journal,
      state,
      isNew: false,
      isNewProcess: false,
    });
  });

  afterEach(async () => {
    await session.close();
    server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const told = (): string[] => outline(events);
  const soon = (check: () => void, stepMs = 50): Promise<void> =>
    vi.waitFor(
      () => {
        clock.advance(stepMs);
        check();
      },
      { timeout: 10_000, interval: 10 },
    );
  const hears = async (...said: object[]): Promise<void> => {
    const before = clock.pieces;
    server.say(...said);
    await soon(() => expect(clock.pieces).toBeGreaterThan(before), 0);
  };
  const ready = async (): Promise<void> => {
    session.start();
    expect(await session.ready(1_000_000)).toBe(true);
  };

  it('ends a turn whose last message will never be finished, also when the idle was missed', async () => {
    server.messages = [user('u1', 1), asks('a1', 'u1', 2)];
    await ready();
    expect(told()).toEqual(['started by "u1"']);
    server.isRefusing = true;
    const before = server.readings;
    await soon(() => expect(server.readings).toBeGreaterThan(before + 1), 500);
    expect(told()).toEqual(['started by "u1"']);
    server.isRefusing = false;
    await soon(() => expect(told()).toEqual(['started by "u1"', 'ended failed: agent']), 500);
  });

  it('ends no newer turn by an idle that came before the reading which showed it', async () => {
    server.isSlow = true;
    server.isBusy = true;
    server.messages = [
      user('u1', 1),
      whole('a1', 'u1', 2),
      user('u2', 5),
      whole('a2', 'u2', 6, 'tool-calls'),
    ];
    session.start();
    await soon(() => expect(server.waiting).toHaveLength(1));
    // The end of the first turn, which the record has already.
    await hears(updated(whole('a1', 'u1', 2)), idle);
    server.isSlow = false;
    server.messages = [...server.messages, asks('a3', 'u2', 8)];
    server.waiting.splice(0).forEach((send) => send());
    expect(await session.ready(1_000_000)).toBe(true);
    expect(told()).toEqual(['started by "u1"', 'ended succeeded', 'started by "u2"']);
    server.isBusy = false;
    server.say(updated(whole('a3', 'u2', 8)), idle);
    await soon(() => expect(told().slice(3)).toEqual(['ended succeeded']), 0);
  });

  it('ends no newer turn by an idle that was said before the reading which showed it, and heard behind it', async () => {
    server.isLagging = true;
    server.isBusy = true;
    server.messages = [
      user('u1', 1),
      whole('a1', 'u1', 2),
      user('u2', 5),
      whole('a2', 'u2', 6, 'tool-calls'),
    ];
    server.say(updated(whole('a1', 'u1', 2)), idle);
    session.start();
    await soon(() => expect(told()).toEqual(['started by "u1"', 'ended succeeded', 'started by "u2"']));
    server.arrive();
    await hears(updated(asks('a3', 'u2', 8)));
    server.messages = [...server.messages, asks('a3', 'u2', 8)];
    expect(await session.ready(1_000_000)).toBe(true);
    expect(told().slice(3)).toEqual([]);
    server.isBusy = false;
    server.say(updated(whole('a3', 'u2', 8)), idle);
    await soon(() => expect(told().slice(3)).toEqual(['ended succeeded']), 0);
  });

  it('lets nothing of a new stream through before the gap in front of it was read', async () => {
    server.isSlow = true;
    server.isBusy = true;
    server.messages = [user('u1', 1), asks('a1', 'u1', 2)];
    session.start();
    await soon(() => expect(server.waiting).toHaveLength(1));
    server.breakStream();
    const before = clock.pieces;
    await soon(() => expect(server.streams).toBe(2));
    // Its opening, and its first event.
    await soon(() => expect(clock.pieces).toBeGreaterThanOrEqual(before + 2), 0);
    // In the gap: the first turn ended, and a second one began.
    server.messages = [user('u1', 1), whole('a1', 'u1', 2), user('u2', 5), asks('a2', 'u2', 6)];
    await hears(updated(asks('a2', 'u2', 6)));
    server.waiting.splice(0).forEach((send) => send());
    await soon(() => expect(server.waiting).toHaveLength(1));
    server.waiting.splice(0).forEach((send) => send());
    expect(await session.ready(1_000_000)).toBe(true);
    expect(told()).toEqual(['started by "u1"', 'ended succeeded', 'started by "u2"']);
  });

  it('reads the record around a message that it cannot read, and says so once', async () => {
    server.isBusy = true;
    server.messages = [{ info: { role: 'ghost' } }, user('u1', 1), asks('a1', 'u1', 2)];
    await ready();
    expect(told()).toEqual(['noise', 'started by "u1"']);
    server.breakStream();
    await soon(() => expect(server.readings).toBe(2));
    expect(await session.ready(1_000_000)).toBe(true);
    expect(told()).toEqual(['noise', 'started by "u1"']);
  });
});

describe('what is held while the record is read', () => {
  it('is bounded: too much of it is a gap, behind which is read anew', () => {
    const held = new HeldEvents();
    const generation = held.hold();
    let outcome = held.add([]);
    for (let i = 0; i < 20_000 && outcome === 'held'; i++) outcome = held.add([]);
    expect(outcome).toBe('full');
    expect(held.generation).toBeGreaterThan(generation);
    const told: unknown[] = [];
    expect(held.handOver((heard) => told.push(heard))).toBe(true);
    expect(told).toEqual([]);
    expect(held.add([])).toBe('free');
  });
});

it('passes over a part in a shape that is not known', () => {
  const { info, parts } = user('u1', 1);
  const { messages, unread } = readable([{ info, parts: [...parts, { type: 5 }] }]);
  expect(messages).toMatchObject([{ info: { id: 'u1' }, parts: [{ id: 'p-u1' }] }]);
  expect(unread).toMatchObject([{ type: 'noise' }]);
});
