import { describe, expect, it, vi } from 'vitest';
import { Ids, type SessionId } from '../base/ids.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Capabilities, Conversation, Delivery, Driver, Opened, OpenRequest } from '../drivers/port.ts';
import { enqueue } from '../ledger/enqueue.ts';
import { openSession } from '../ledger/open-session.ts';
import { ask } from '../ledger/questions.ts';
import { newSession, type Session } from '../ledger/session.ts';
import { MemoryStore } from '../store/memory/store.ts';
import type { TurnsContext } from './ports.ts';
import { SessionTurns } from './session-turns.ts';

const minute = 60_000;
const capabilities: Capabilities = {
  steer: 'none',
  negativeProof: 'none',
  turnEnd: 'protocol',
  backgroundTasks: false,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: false,
  usage: 'none',
};

/** An agent program that answers every text at once, and keeps its conversation over its processes. */
class Program {
  readonly texts: string[] = [];
  readonly opened: (string | undefined)[] = [];
  living = 0;
  hasLeftWork = false;
  isEnding = false;
  /** What the end of a process waits for. */
  ending: Promise<void> = Promise.resolve();
  #turns = 0;

  readonly driver: Driver = {
    kind: 'program',
    capabilities,
    honours: [],
    probe: async () => ({ found: true, warnings: [] }),
    open: (request) => this.#open(request),
  };

  async #open(request: OpenRequest): Promise<Opened> {
    if (request.adoptOnly) return { ok: false, code: 'NOT_RUNNING', message: 'nothing lives' };
    this.opened.push(request.nativeId);
    this.living++;
    const conversation: Conversation = {
      nativeId: 'native',
      start: async ({ id, text }: Delivery) => {
        this.texts.push(text);
        const nativeTurnId = `turn ${++this.#turns}`;
        request.emit({ type: 'turnStarted', nativeTurnId, deliveryId: id, position: 0 });
        request.emit({
          type: 'turnEnded',
          nativeTurnId,
          status: 'succeeded',
          answer: 'done',
          tasks: [],
          position: 0,
        });
        return { outcome: 'written' };
      },
      steer: async () => ({ outcome: 'refused', reason: 'it never steers' }),
      withdraw: async () => 'unknown',
      interrupt: async () => 'idle',
      evidence: async () => ({ state: 'absent' }),
      locate: async () => ({ state: 'ended' }),
      answer: async () => false,
      hasLeftWork: async () => this.hasLeftWork,
      detach: async () => undefined,
      end: async () => {
        this.isEnding = true;
        await this.ending;
        this.living--;
        return 'dead';
      },
    };
    return { ok: true, how: request.nativeId === undefined ? 'started' : 'resumed', conversation };
  }
}

/** One session with such an agent. */
class Bench {
  readonly clock = new VirtualClock();
  readonly ids = new Ids(() => this.clock.now(), Math.random);
  readonly store = new MemoryStore({ clock: this.clock });
  readonly program = new Program();
  readonly sessionId: SessionId = this.ids.make('session');
  isWatched = false;
  idleAt: number | undefined;
  readonly turns: SessionTurns;

  constructor(profile: { readonly idleMs?: number } = {}) {
    this.store.onCommit(({ wakes }) => {
      for (const { kind, at } of wakes) if (kind === 'idle') this.idleAt = at;
    });
    const agent = {
      profile: { name: 'a', driver: 'program', command: ['a'], ...profile },
      driver: this.program.driver,
    };
    const context: TurnsContext = {
      store: this.store,
      clock: this.clock,
      ids: this.ids,
      node: 'local',
      agent: () => agent,
      tools: () => undefined,
      directory: () => '/',
      transcript: { append: () => undefined },
      prepare: async () => undefined,
      redact: (text) => text,
      isWatched: () => this.isWatched,
      isStopping: () => false,
      report: () => undefined,
    };
    this.turns = new SessionTurns(context, this.sessionId);
  }

  async open(): Promise<this> {
    const given = { project: 'default', agent: 'a', cwd: '/', title: null, node: 'local' };
    const now = this.clock.now();
    const session = newSession({ ...given, id: this.sessionId, createdAt: now });
    await this.store.decide(() => openSession({ now, session }));
    return this;
  }

  async enqueue(text: string): Promise<void> {
    const message = { id: this.ids.make('execution'), sessionId: this.sessionId, text };
    await this.store.decide(() => enqueue({ now: this.clock.now(), whenBusy: 'queue', message }));
  }

  /** Sends a message and waits for the end of its turn. */
  async send(text: string): Promise<void> {
    await this.enqueue(text);
    await this.turns.deliver();
    await this.settled();
  }

  async settled(): Promise<void> {
    await vi.waitFor(async () => expect((await this.session()).laneTurn).toBeNull());
  }

  async session(): Promise<Session> {
    const session = await this.store.read(() => ask('session', this.sessionId));
    if (!session) throw new Error('there is no session');
    return session;
  }
}

describe('an agent process of no use', () => {
  it('is ended after its time, and the next message goes on with the same conversation', async () => {
    const bench = await new Bench().open();
    await bench.send('one');
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(1);
    bench.clock.advance(15 * minute);
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(0);
    expect((await bench.session()).state).toBe('cold');
    await bench.send('two');
    expect(bench.program).toMatchObject({ living: 1, texts: ['one', 'two'], opened: [undefined, 'native'] });
  });

  it('is not ended under a message that came before its end was decided', async () => {
    const bench = await new Bench().open();
    await bench.send('one');
    bench.clock.advance(20 * minute);
    await bench.enqueue('two');
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(1);
    await bench.turns.deliver();
    await bench.settled();
    expect(bench.program).toMatchObject({ living: 1, texts: ['one', 'two'], opened: [undefined] });
  });

  it('takes no message with it that comes while it is being ended: that one waits, and is sent once', async () => {
    const bench = await new Bench().open();
    await bench.send('one');
    bench.clock.advance(15 * minute);
    let release = (): void => undefined;
    bench.program.ending = new Promise((resolve) => {
      release = resolve;
    });
    const ended = bench.turns.endIdle();
    await vi.waitFor(() => expect(bench.program.isEnding).toBe(true));
    await bench.enqueue('two');
    const delivered = bench.turns.deliver();
    expect(bench.program).toMatchObject({ living: 1, texts: ['one'] });
    release();
    await Promise.all([ended, delivered]);
    await bench.settled();
    expect(bench.program).toMatchObject({ living: 1, texts: ['one', 'two'], opened: [undefined, 'native'] });
  });

  it.each([
    ['somebody looks at', (bench: Bench, isSo: boolean) => void (bench.isWatched = isSo)],
    ['has left something running', (bench: Bench, isSo: boolean) => void (bench.program.hasLeftWork = isSo)],
  ])('is kept while it is one that %s, and asked for again', async (_, set) => {
    const bench = await new Bench().open();
    await bench.send('one');
    set(bench, true);
    bench.clock.advance(15 * minute);
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(1);
    expect(bench.idleAt).toBe(bench.clock.now() + 15 * minute);
    set(bench, false);
    bench.clock.advance(15 * minute);
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(0);
  });

  it('is kept for ever where its profile says so', async () => {
    const bench = await new Bench({ idleMs: 0 }).open();
    await bench.send('one');
    bench.clock.advance(1000 * minute);
    await bench.turns.endIdle();
    expect(bench.program.living).toBe(1);
    expect(bench.idleAt).toBeUndefined();
  });
});
