import type { Clock } from '../../src/base/clock.ts';
import { Redaction } from '../../src/base/redaction.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { Draft } from '../../src/ledger/decision.ts';
import type { Rule } from '../../src/ledger/decision.ts';
import type { Owed } from '../../src/ledger/notifying.ts';
import { owe } from '../../src/ledger/notifying.ts';
import type { StoredEvent } from '../../src/ledger/store.ts';
import type { Wakeups } from '../../src/ledger/wakeups.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import type { SendingParts } from '../../src/notify/sending.ts';
import type { TargetSettings } from '../../src/notify/settings.ts';
import { createTarget } from '../../src/notify/targets.ts';
import type { NotificationWake } from '../../src/runs/wake-handler.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { localWakeups } from '../../src/wakeups/local.ts';

/** What sending needs, in tests. */
export function sendingParts(clock: Clock, more: Partial<SendingParts> = {}): SendingParts {
  return {
    clock,
    redaction: new Redaction(),
    directory: '/',
    env: { PATH: process.env['PATH'] },
    places: () => ({ pageUrl: 'http://127.0.0.1:4600' }),
    ...more,
  };
}

/** A rule that owes one notification. */
export function owing(now: number, owed: Partial<Owed> & Pick<Owed, 'subject'>): () => Rule<null> {
  return function* () {
    const draft = new Draft(now);
    yield* owe(draft, { transition: 'missed', to: null, ...owed });
    return draft.done(null);
  };
}

/** A ledger in memory whose outbox goes to real targets, on a clock that moves when it is told to. */
export class Outbox {
  readonly clock = new VirtualClock();
  readonly store: MemoryStore;
  readonly alarms: StoredEvent[] = [];
  readonly parts: SendingParts;
  readonly #wakeups: Wakeups;
  readonly #notifier: Notifier;

  constructor(
    targets: Readonly<Record<string, TargetSettings>>,
    always: readonly string[],
    more: { readonly from?: MemorySnapshot; readonly env?: SendingParts['env'] } = {},
  ) {
    const { clock } = this;
    this.parts = sendingParts(clock, more.env ? { env: more.env } : {});
    this.store = new MemoryStore({ clock }, more.from);
    this.store.onCommit(({ events }) =>
      this.alarms.push(...events.filter((event) => event.type === 'alarm')),
    );
    const made = Object.entries(targets).map(
      ([name, settings]) => [name, createTarget(settings, this.parts)] as const,
    );
    this.#notifier = new Notifier({
      store: this.store,
      clock,
      random: () => 0.5,
      targets: new Map(made),
      always,
      redact: (text) => this.parts.redaction.text(text),
    });
    this.#wakeups = localWakeups({ store: this.store, clock });
  }

  start(): Promise<void> {
    return this.#wakeups.start((wake) => this.#notifier.handle(wake as NotificationWake));
  }

  async stop(): Promise<void> {
    this.#notifier.stop();
    await this.#wakeups.stop();
  }

  async owe(owed: Partial<Owed> & Pick<Owed, 'subject'>): Promise<void> {
    await this.store.decide(owing(this.clock.now(), owed));
  }

  /** States of the dispatches to a target, in the order of their ids. */
  statesOf(target: string): string[] {
    const rows = this.store.snapshot().dispatches.filter((row) => row.target === target);
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map((row) => row.state);
  }

  /** Waits until a condition holds, with a deadline of real time; virtual time stands still. */
  async until(what: () => boolean): Promise<void> {
    const deadline = performance.now() + 20_000;
    while (!what()) {
      if (performance.now() > deadline) throw new Error(`waited in vain for ${String(what)}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Lets virtual time go on in steps, each when what is under way has come to rest, until a condition holds. */
  async pass(what: () => boolean, stepMs: number, longestMs: number): Promise<void> {
    const end = this.clock.now() + longestMs;
    while (!what()) {
      if (this.clock.now() > end) throw new Error(`${longestMs} ms have passed without ${String(what)}`);
      await this.rest();
      if (what()) return;
      this.clock.advance(stepMs);
      await this.rest();
    }
  }

  /** Waits until nothing is being sent: no wake-up is due. */
  async rest(): Promise<void> {
    const isDue = (): boolean => this.store.snapshot().wakeups.some((row) => row.at <= this.clock.now());
    await this.until(() => !isDue());
    for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
  }
}
