import { FreshIds, Ids } from '../../src/base/ids.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import type { Session } from '../../src/ledger/session.ts';
import { newSession } from '../../src/ledger/session.ts';
import type { StoredEvent } from '../../src/ledger/store.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { wakeKey } from '../../src/store/memory/state.ts';
import type { WakeRow } from '../../src/wakeups/rows.ts';
import type { Call } from './calls.ts';
import { difference, ruleOf, short, tell } from './calls.ts';
import type { Choice, Choose, Numbers } from './choice.ts';
import { node } from './choice.ts';
import { remember } from './facts.ts';
import type { Came, Facts, Moment } from './moment.ts';
import { changed, noFacts } from './moment.ts';
import { violated } from './properties.ts';
import type { State } from './state.ts';
import { indexed } from './state.ts';

/** UTC milliseconds at which every history begins. */
export const start = Date.UTC(2026, 0, 1);

/** What was done to the store, so that it can be done to another one. */
export type Done =
  | { readonly at: number; readonly call: Call }
  | { readonly at: number; readonly finish: WakeRow; readonly next: number | null };

/** A ledger in memory with everything that is known of its history. Every decision is followed by every property. */
export class Model {
  readonly clock = new VirtualClock(start);
  readonly store = new MemoryStore({ clock: this.clock });
  readonly ids: Ids;
  readonly done: Done[] = [];
  readonly #facts: Facts = noFacts();
  readonly #trace: string[] = [];
  readonly #checks: boolean;
  #state: State;
  #events: readonly StoredEvent[] = [];
  /** What was owed since the present choice began, by wake-up. */
  readonly #again = new Map<string, number>();
  #limits: TurnLimits | undefined;
  #step = 0;

  constructor({ checks = true }: { readonly checks?: boolean } = {}) {
    let n = 0;
    this.ids = new Ids(
      () => this.clock.now(),
      () => (n++ * 0.618034) % 1,
    );
    this.#checks = checks;
    this.#state = indexed(this.store.snapshot());
    this.store.onCommit((committed) => {
      this.#events = committed.events;
      for (const wake of committed.wakes) {
        const key = wakeKey(wake);
        this.#again.set(key, Math.min(this.#again.get(key) ?? wake.at, wake.at));
      }
    });
  }

  get state(): State {
    return this.#state;
  }

  /** How many turns may run at once, as the server was told last. */
  get limits(): TurnLimits | undefined {
    return this.#limits;
  }

  /** What has happened so far, a line for each call. */
  get trace(): readonly string[] {
    return this.#trace;
  }

  /** Opens the sessions that a history begins with. */
  async open(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const about = {
        id: this.ids.make('session'),
        project: 'default',
        agent: 'demo',
        cwd: '/',
        title: null,
        node,
      };
      // Of those that a history begins with, the second gives out work.
      const delivery = i === 1 ? ('controller' as const) : ('auto' as const);
      const session: Session = { ...newSession({ ...about, createdAt: this.clock.now() }), delivery };
      await this.call({ rule: 'openSession', command: { now: this.clock.now(), session } });
    }
  }

  /** Begins a history in the middle: one session runs a turn, one has a message to run. */
  async begin(): Promise<void> {
    await this.open(2);
    const [first, second] = [...this.#state.sessions.keys()];
    if (!first || !second) return;
    const now = this.clock.now();
    for (const sessionId of [first, second]) {
      const message = { id: this.ids.make('execution'), sessionId, text: 'message' };
      await this.call({ rule: 'enqueue', command: { now, whenBusy: 'queue', message } });
    }
    const fresh = new FreshIds(this.ids);
    await this.call({ rule: 'takeLane', command: { now, sessionId: first, node, fresh } });
    const deliveryId = fresh.at('turn', 0);
    const about = { now, sessionId: first, nativeTurnId: 'native', position: now, node, deliveryId, fresh };
    await this.call({ rule: 'agentStarted', command: about });
  }

  /** What a choice comes to in the present state. */
  choose(choose: Choose, numbers: Numbers): Choice | undefined {
    const { state, ids, limits } = this;
    return choose({ ...numbers, state, now: this.clock.now(), ids, limits });
  }

  /** Makes the calls of a choice, one after the other, and finishes the wake-up that it was for. */
  async play(choice: Choice): Promise<void> {
    this.#again.clear();
    for (let next: Choice | undefined = choice; next; ) {
      const came: Came = await this.call(next.call);
      next = next.follow?.(came, this.#state);
    }
    if (choice.wake) await this.#finish(choice.wake);
  }

  /** Makes one call and checks every property of what it did. Throws with the whole trace when one does not hold. */
  async call(call: Call): Promise<Came> {
    const before = this.#state;
    this.#events = [];
    if (call.rule === 'callNext') this.#limits = call.command.limits;
    const came = await this.#decide(call);
    this.done.push({ at: this.clock.now(), call });
    this.#state = indexed(this.store.snapshot());
    this.#trace.push(`${++this.#step} ${tell(call)} -> ${told(came)}`);
    const moment: Moment = {
      before,
      after: this.#state,
      call,
      came,
      now: this.clock.now(),
      events: this.#events,
      limits: this.#limits,
      facts: this.#facts,
    };
    remember(moment, this.#step);
    if (this.#checks) this.#check(moment);
    return came;
  }

  async #decide(call: Call): Promise<Came> {
    try {
      const decided = await this.store.decide(ruleOf(call));
      return decided.ok ? { as: 'decided', value: decided.value } : { as: 'refused', code: decided.code };
    } catch (error) {
      return { as: 'thrown', error: error as Error };
    }
  }

  /** The row goes, or is due at what was owed while it was handled, as the wake-ups of the server do it. */
  async #finish(wake: WakeRow): Promise<void> {
    const now = this.#state.wakes.get(wakeKey(wake));
    if (!now) return;
    const next = this.#again.get(wakeKey(wake)) ?? null;
    this.done.push({ at: this.clock.now(), finish: now, next });
    await this.store.finishWake(now, next);
    this.#state = indexed(this.store.snapshot());
  }

  #check(moment: Moment): void {
    const broken = violated(moment);
    if (!broken) return;
    const rows = [
      ...changed(moment.before.executions, moment.after.executions),
      ...changed(moment.before.notices, moment.after.notices),
      ...changed(moment.before.turns, moment.after.turns),
      ...changed(moment.before.sessions, moment.after.sessions),
    ];
    const changes = rows.map(({ was, row }) => `  ${difference(was, row)}`).join('\n');
    throw new Error(
      `${broken.name}: ${broken.why}\n${this.#trace.join('\n')}\nrows that the last call changed:\n${changes}`,
    );
  }
}

function told(came: Came): string {
  if (came.as === 'refused') return came.code;
  return came.as === 'thrown' ? `threw ${came.error.message}` : short(came.value);
}
