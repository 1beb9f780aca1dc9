import { Ids } from '../../src/base/ids.ts';
import type { RunId, ScheduleId } from '../../src/base/ids.ts';
import { FreshIds } from '../../src/base/ids.ts';
import { Owner } from '../../src/base/lifetime.ts';
import type { VirtualClock } from '../../src/base/virtual-clock.ts';
import { cancelRun } from '../../src/ledger/cancel.ts';
import type { Refusal, Rule } from '../../src/ledger/decision.ts';
import { Draft } from '../../src/ledger/decision.ts';
import type { Outcome } from '../../src/ledger/execution.ts';
import type { Occurrence } from '../../src/ledger/occurrence.ts';
import { ask } from '../../src/ledger/questions.ts';
import { endRun } from '../../src/ledger/run-end.ts';
import type { ScheduleDefinition } from '../../src/ledger/schedule-definition.ts';
import type { Schedule } from '../../src/ledger/schedule.ts';
import type { Run } from '../../src/ledger/session.ts';
import type { Decided } from '../../src/ledger/store.ts';
import type { CommandEnd } from '../../src/runs/ports.ts';
import type { Changed } from '../../src/schedules/change.ts';
import type { SchedulesContext } from '../../src/schedules/ports.ts';
import { Schedules } from '../../src/schedules/schedules.ts';
import type { WholeStore } from '../../src/store/whole-store.ts';
import type { WakeRow } from '../../src/wakeups/rows.ts';

export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** What the agents of a world do: how long a run takes, and how it ends. */
export interface Fate {
  readonly tookMs: number;
  readonly outcome: Outcome;
}

/** What a world is made of. */
export interface WorldParts {
  readonly store: WholeStore;
  readonly clock: VirtualClock;
  readonly random: () => number;
  /** What becomes of a run. Default: it takes a minute and succeeds. */
  readonly fate?: (run: Run) => Fate;
  /** What a precondition says; a promise that never resolves is one that hangs. Default: yes. */
  readonly precondition?: (command: string) => CommandEnd | Promise<CommandEnd>;
  readonly prepare?: SchedulesContext['workspaces']['prepare'];
  /** Where workflows are defined. Default: there are none. */
  readonly workflows?: SchedulesContext['workflows'];
}

/**
 * A server on a virtual clock: its own store and its own handlers of schedules. In the place of agents runs end by
 * themselves, and in that of timers somebody says how far time goes.
 */
export class World {
  readonly parts: WorldParts;
  readonly ids: Ids;
  readonly schedules: Schedules;
  readonly owner: CountingOwner;
  readonly reports: string[] = [];
  readonly ended: string[] = [];
  readonly forgotten: string[] = [];
  readonly #stopHearing: () => void;
  /** What was owed while its handler ran, by kind and target. */
  readonly #heard = new Map<string, WakeRow>();

  constructor(parts: WorldParts) {
    this.parts = parts;
    const { store, clock } = parts;
    this.ids = new Ids(clock.now.bind(clock), parts.random);
    this.owner = new CountingOwner('world', (_, error) => this.reports.push(String(error)));
    this.schedules = new Schedules({
      store,
      clock,
      ids: this.ids,
      node: 'local',
      owner: this.owner,
      report: (what, data) => this.reports.push(`${what} ${JSON.stringify(data)}`),
      agents: { find: (name) => (name === 'demo' ? {} : undefined) },
      workflows: parts.workflows ?? { define: async ({ workflow }) => noWorkflow(workflow) },
      texts: {
        variable: () => undefined,
        recordOf: (id) => `/records/${id}`,
        readFile: async () => ({ ok: false, why: 'there is no such file' }),
      },
      refusalOfBudget: () => undefined,
      claimed: () => store.recovery.claimedOccurrences(),
      all: () => store.recovery.schedules(),
      workspaces: { prepare: parts.prepare ?? (async ({ how, cwd }) => shared(how, cwd)) },
      stopping: {
        cancelRun: async (id, request) => {
          const about = { id, request: { ...request, at: clock.now() }, fresh: new FreshIds(this.ids) };
          const decided = await store.decide(() => cancelRun({ now: clock.now(), ...about }));
          return decided.ok ? { ok: true, value: undefined } : decided;
        },
      },
      commands: {
        run: async (_, command, __, signal) => {
          const said = parts.precondition?.(String(command)) ?? { exitCode: 0, output: '' };
          return said instanceof Promise && signal ? Promise.race([said, rejected(signal)]) : said;
        },
        end: async (id) => {
          this.ended.push(id);
          return 'dead';
        },
        forget: async (id) => void this.forgotten.push(id),
        clear: async (id) => void this.forgotten.push(id),
      },
    });
    this.#stopHearing = store.onCommit(({ wakes }) => {
      for (const wake of wakes) this.#heard.set(keyOf(wake), earlier(this.#heard.get(keyOf(wake)), wake));
    });
  }

  /** As a server starts. */
  async start(): Promise<void> {
    await this.schedules.start();
    await this.settle();
  }

  /** As a server ends, or dies. */
  async end(): Promise<void> {
    this.#stopHearing();
    await this.owner.stop();
  }

  /** Handles everything that is due now, and what comes of it. */
  async settle(): Promise<void> {
    const { store, clock } = this.parts;
    for (;;) {
      await this.rest();
      const due = await store.dueWakes(Number.MIN_SAFE_INTEGER, clock.now());
      if (due.length === 0) return;
      for (const wake of due) await this.#handle(wake);
    }
  }

  /** Lets what handlers began beside themselves come as far as it comes without time. */
  async rest(): Promise<void> {
    for (let turn = 0; turn < restTurns && this.owner.running > 0; turn++)
      await new Promise((resolve) => setImmediate(resolve));
  }

  /** Lets time pass until then, stopping at everything that is due on the way. */
  async runTo(at: number): Promise<void> {
    const { store, clock } = this.parts;
    for (;;) {
      await this.settle();
      const next = await store.nextWake(clock.now());
      if (next === undefined || next > at) break;
      clock.advance(next - clock.now());
    }
    clock.advance(Math.max(0, at - clock.now()));
    await this.settle();
  }

  async #handle(wake: WakeRow): Promise<void> {
    const { store, clock } = this.parts;
    const key = keyOf(wake);
    this.#heard.delete(key);
    if (wake.kind === 'run') await this.#run(wake.target as RunId);
    else if (wake.kind === 'schedule' || wake.kind === 'occurrence')
      await this.schedules.handle({ ...wake, kind: wake.kind });
    const again = this.#heard.get(key);
    if (!again) await store.finishWake(wake, null);
    else if (again.at > clock.now()) await store.finishWake(again, again.at);
  }

  /** A run ends when its time is over, or when it is cancelled. */
  async #run(id: RunId): Promise<void> {
    const { store, clock } = this.parts;
    const run = await store.read(() => ask('run', id));
    if (!run || run.state === 'ended') return;
    const { tookMs, outcome } = this.parts.fate?.(run) ?? { tookMs: minute, outcome: 'succeeded' };
    const at = run.createdAt + tookMs;
    const isOver = run.cancelRequested || at <= clock.now() || run.createdAt > clock.now();
    const fresh = new FreshIds(this.ids);
    const end = run.cancelRequested ? 'cancelled' : outcome;
    await store.decide(() => (isOver ? ending(clock.now(), run, end, fresh) : waking(clock.now(), id, at)));
  }

  /** Repeats a change until the rows that it comes behind are written. */
  async change<T extends Changed>(rule: (fresh: FreshIds) => Rule<T>): Promise<Decided<T>> {
    for (;;) {
      const fresh = new FreshIds(this.ids);
      const decided = await this.parts.store.decide(() => rule(fresh));
      if (!decided.ok || decided.value !== 'behind') return decided;
    }
  }

  async schedule(id: ScheduleId): Promise<Schedule> {
    const row = await this.parts.store.read(() => ask('schedule', id));
    if (!row) throw new Error(`no schedule ${id}`);
    return row;
  }

  /** Every occurrence of a schedule, in the order of instants. */
  async occurrences(id: ScheduleId): Promise<Occurrence[]> {
    const { views } = this.parts.store;
    const rows: Occurrence[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await views.occurrences({ scheduleId: id, limit: 10_000, cursor });
      rows.push(...page.items);
      if (page.next === undefined) return rows.reverse();
      cursor = page.next;
    }
  }

  /** What became of each instant, in few words: `10:00 skipped overlap`. */
  async story(id: ScheduleId): Promise<string[]> {
    return (await this.occurrences(id)).map(storyOf);
  }
}

/** An owner that knows whether it has come to rest. */
class CountingOwner extends Owner {
  running = 0;

  override start(work: (signal: AbortSignal) => Promise<void>): void {
    super.start(async (signal) => {
      this.running++;
      try {
        await work(signal);
      } finally {
        this.running--;
      }
    });
  }
}

/** How many turns of the event loop what is begun beside a handler needs, at most, when nothing of it takes time. */
const restTurns = 200;

/** Day and time, state, and the code of the reason. */
export function storyOf({ instant, state, reason, trigger }: Occurrence): string {
  const at = new Date(instant).toISOString().slice(5, 16).replace('T', ' ');
  const by = trigger === 'time' ? '' : ` ${trigger}`;
  const why = reason === null ? '' : ` ${reason.split(':', 1)[0]}`;
  return `${at}${by} ${state}${why}`;
}

/** What a schedule says that is due every hour, with whatever is different. */
export function says(set: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    when: { cron: '0 * * * *', timezone: 'UTC' },
    timezone: 'UTC',
    agent: 'demo',
    cwd: '/work',
    session: { mode: 'fresh' },
    messages: [
      { text: 'go', timeoutMs: hour, onFailure: 'stop', join: 'own', check: null, background: 'wait' },
    ],
    overlap: 'skip',
    catchUp: { windowMs: day, policy: 'latest' },
    notify: [],
    labels: [],
    ...set,
  };
}

function* ending(now: number, run: Run, outcome: Outcome, fresh: FreshIds): Rule<void> {
  const draft = new Draft(now);
  yield* endRun(
    draft,
    run,
    { outcome, code: outcome === 'failed' ? 'AGENT_FAILED' : null },
    undefined,
    fresh,
  );
  return draft.done(undefined);
}

// biome-ignore lint/correctness/useYield: it asks nothing.
function* waking(now: number, id: RunId, at: number): Rule<void> {
  const draft = new Draft(now);
  draft.wake('run', id, at);
  return draft.done(undefined);
}

/** The directory as it is, with no lock. */
export function shared(
  how: 'exclusive' | 'worktree' | 'scratch' | 'shared',
  path: string,
): Awaited<ReturnType<SchedulesContext['workspaces']['prepare']>> {
  return { ok: true, workspace: { how, from: path, path, lock: null, checkout: null } };
}

function rejected(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = (): void => reject(new Error('let go'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

function keyOf(wake: Pick<WakeRow, 'kind' | 'target'>): string {
  return `${wake.kind}:${wake.target}`;
}

function earlier(known: WakeRow | undefined, wake: WakeRow): WakeRow {
  return known ? { ...wake, at: Math.min(known.at, wake.at) } : wake;
}

function noWorkflow(name: string): Refusal {
  return { ok: false, code: 'NOT_FOUND', message: `There is no workflow ${name}.`, data: {} };
}
