import type { Clock } from '../../src/base/clock.ts';
import type { FaultPoint } from '../../src/base/faults.ts';
import type { SubAgentTool } from '../../src/application/sub-agent-tools.ts';
import { callSubAgentTool } from '../../src/application/sub-agent-tools.ts';
import { onFaultPoint } from '../../src/base/faults.ts';
import type { SessionId } from '../../src/base/ids.ts';
import { Owner } from '../../src/base/lifetime.ts';
import type { ToolArguments } from '../../src/contract/tools.ts';
import type { UsageTold } from '../../src/ledger/spending.ts';
import type { LedgerStore } from '../../src/ledger/store.ts';
import type { Wakeups } from '../../src/ledger/wakeups.ts';
import { Launcher } from '../../src/launching/launcher.ts';
import type { ToolAnswer, ToolResults } from '../../src/mcp/ports.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { Commits } from '../../src/runs/commits.ts';
import type { RunsContext } from '../../src/runs/ports.ts';
import { Steps } from '../../src/runs/steps.ts';
import { Stopping } from '../../src/runs/stopping.ts';
import { wakeHandler } from '../../src/runs/wake-handler.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { Sessions } from '../../src/turns/sessions.ts';
import type { TurnsContext } from '../../src/turns/ports.ts';
import { localWakeups } from '../../src/wakeups/local.ts';
import type { OnHandOut } from './agent-driver.ts';
import { SimulatedDrivers } from './agent-driver.ts';
import type { Programs } from './programs.ts';
import type { Action } from './scheduler.ts';
import { simulatedTexts } from './plan.ts';
import { simulatedSurroundings } from './steps.ts';
import type { World } from './world.ts';

/** How long the process of an agent may be of no use, in milliseconds. */
const idleAfterMs = 10 * 60_000;

/** Thrown at the fault point at which the server dies, so that nothing behind it is done. */
class Crash extends Error {}

/** What a simulated server is made of. */
export interface ServerParts {
  readonly world: World;
  readonly programs: Programs;
  readonly onHandOut: OnHandOut;
  /** Hears of every commit, with the state after it. */
  readonly onCommit: (state: MemorySnapshot) => void;
}

/** One process of our server: the product's own code, wired as the program wires it, until it stops or dies. */
export class Server {
  readonly store: LedgerStore;
  readonly sessions: Sessions;
  readonly stopping: Stopping;
  readonly launcher: Launcher;
  readonly #memory: MemoryStore;
  readonly #world: World;
  readonly #drivers: SimulatedDrivers;
  readonly #runs: RunsContext;
  readonly #notifier: Notifier;
  readonly #wakeups: Wakeups;
  readonly #timers = new Set<() => void>();
  #isAlive = true;
  #isReady = false;
  #stepsToDeath = Number.POSITIVE_INFINITY;
  #left: MemorySnapshot | undefined;

  constructor(parts: ServerParts, durable: MemorySnapshot | undefined) {
    const { world } = parts;
    this.#world = world;
    const clock = this.#clock();
    this.#memory = durable ? MemoryStore.restore(durable, { clock }) : new MemoryStore({ clock });
    this.#memory.onCommit(({ events }) => {
      if (!this.#isAlive) return;
      for (const event of events) world.detail(() => `    · ${event.type} ${JSON.stringify(event.data)}`);
      parts.onCommit(this.#memory.snapshot());
    });
    this.store = this.#mortal(this.#memory);
    this.#drivers = new SimulatedDrivers(world, parts.onHandOut);
    const { store } = this;
    const { ids } = world;
    const report = (what: string, data: Readonly<Record<string, unknown>>): void => this.#report(what, data);
    this.sessions = new Sessions(this.#turns(clock, report));
    const commits = new Commits(store, clock);
    const owner = new Owner('server', (_name, error) => report('owner.failed', { error: String(error) }));
    const commands = parts.programs.commands(() => this.#isAlive);
    const texts = simulatedTexts(world);
    const { sessions } = this;
    const tells = (name: string): UsageTold | undefined => (world.kinds.has(name) ? 'cost' : undefined);
    const steps = simulatedSurroundings(tells, world.flows);
    this.#runs = { store, clock, ids, sessions, commits, commands, texts, workspaces, owner, report, steps };
    this.#notifier = new Notifier({
      store,
      clock,
      random: () => 0.5,
      targets: new Map(),
      always: [],
      redact: (text) => text,
    });
    this.stopping = new Stopping(this.#runs);
    this.launcher = new Launcher({ store, clock, ids, node: 'local', sessions: this.sessions, tells });
    this.#wakeups = localWakeups({ store: this.#memory, clock, report });
    onFaultPoint((point) => this.#reach(point));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Whether it takes calls, messages and wake-ups. */
  get isReady(): boolean {
    return this.#isAlive && this.#isReady;
  }

  /** What is durable now, or was when it died. */
  get durable(): MemorySnapshot {
    return this.#left ?? this.#memory.snapshot();
  }

  /** The order of a start: find out what an earlier process left, then handle wake-ups. */
  start(): void {
    const work = async (): Promise<void> => {
      const left = await this.#memory.recovery.liveSessions();
      await this.sessions.recover(left.map((session) => session.id));
      const steps = new Steps(this.#runs);
      const handle = wakeHandler(
        this.#runs,
        { stopping: this.stopping, steps },
        async () => undefined,
        (wake) => this.#notifier.handle(wake),
      );
      // Asked where there are no limits it answers nobody, and would only make every history another one.
      if (this.#world.limited.isOn) await this.sessions.callNext();
      await this.#wakeups.start(async (wake, signal) => {
        await this.#world.gates.pass(`wake-up of ${wake.kind}`);
        return this.#isAlive ? handle(wake, signal) : undefined;
      });
      await steps.goOn(await this.#memory.recovery.openScripts());
      this.#isReady = true;
    };
    this.run('start', work);
  }

  /** Does something as a request to this server; what it throws is a bug, unless the server died of it. */
  run(name: string, work: () => Promise<unknown>): void {
    work().catch((error: unknown) => {
      if (this.#isAlive) this.#world.violations.report('BROKEN', `${name}: ${String(error)}`);
    });
  }

  /** A call of an agent that gives out work, as the edge hands it on. */
  callTool<Name extends SubAgentTool>(
    sessionId: SessionId,
    tool: Name,
    args: ToolArguments<Name>,
    meta: Readonly<Record<string, unknown>> = {},
  ): Promise<ToolAnswer<ToolResults[Name]>> {
    const { store, launcher, stopping, views } = this;
    return callSubAgentTool({ store, launcher, stopping, views }, sessionId, tool, args, meta);
  }

  /** What is asked about many executions at once. */
  get views(): MemoryStore['views'] {
    return this.#memory.views;
  }

  /** What it does next by itself, apart from what waits at the gates. */
  actions(): Action[] {
    return this.#isAlive ? this.#drivers.actions() : [];
  }

  /** It will die when it has come to its `steps`-th fault point from now. */
  dieAfter(steps: number): void {
    this.#stepsToDeath = steps;
  }

  get isDoomed(): boolean {
    return Number.isFinite(this.#stepsToDeath);
  }

  /** It dies: everything that it had in memory is gone. */
  die(): void {
    if (!this.#isAlive) return;
    this.#left = this.#memory.snapshot();
    this.#isAlive = false;
    this.#world.gates.close();
    for (const cancel of this.#timers) cancel();
    this.#world.note('  THE SERVER IS DEAD');
  }

  #reach(point: FaultPoint): void {
    if (!this.#isAlive) throw new Crash('dead');
    if (--this.#stepsToDeath > 0) return;
    this.#world.note(`  fault point ${point}`);
    this.die();
    throw new Crash(point);
  }

  #report(what: string, data: Readonly<Record<string, unknown>>): void {
    if (!this.#isAlive) return;
    this.#world.note(`  reports ${what} ${JSON.stringify(data)}`);
    if (what.endsWith('failed')) this.#world.violations.report('BROKEN', `${what} ${JSON.stringify(data)}`);
  }

  /** Whoever asks a dead server's store gets no answer; sometimes a commit takes its time. */
  #mortal(inner: MemoryStore): LedgerStore {
    const whileAlive = async <T>(work: () => Promise<T>): Promise<T> => {
      if (this.#isAlive && this.#world.budgets.has('slowCommits') && this.#world.choices.chance(8)) {
        await this.#world.gates.pass('a commit');
      }
      if (!this.#isAlive) return never();
      const result = await work();
      return this.#isAlive ? result : never();
    };
    return {
      decide: (rule) => whileAlive(() => inner.decide(rule)),
      read: (asking) => whileAlive(() => inner.read(asking)),
      onCommit: (listener) => inner.onCommit((committed) => this.#isAlive && listener(committed)),
      close: () => inner.close(),
    };
  }

  #clock(): Clock {
    const { clock } = this.#world;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, fire) => {
        const cancel = clock.after(delayMs, () => {
          this.#timers.delete(cancel);
          if (this.#isAlive) fire();
        });
        this.#timers.add(cancel);
        return () => {
          this.#timers.delete(cancel);
          cancel();
        };
      },
    };
  }

  #turns(clock: Clock, report: TurnsContext['report']): TurnsContext {
    const { kinds, ids } = this.#world;
    return {
      store: this.store,
      clock,
      ids,
      node: 'local',
      limits: this.#world.limited.limits,
      report,
      agent: (name) => {
        const kind = kinds.get(name);
        if (!kind) return undefined;
        // Where a person may type at any moment, nobody can say that the process is of no use.
        const idleMs = kind.hasScreen ? 0 : idleAfterMs;
        const profile = { name, driver: name, command: [name], idleMs };
        return { profile, driver: this.#drivers.driverOf(kind) };
      },
      tools: () => undefined,
      prepare: async () => undefined,
      redact: (text) => text,
      directory: (sessionId) => sessionId,
      transcript: { append: () => undefined },
      isWatched: () => false,
      isStopping: () => false,
    };
  }
}

/** No run of a history has anything on disk. */
const workspaces: RunsContext['workspaces'] = {
  prepare: async ({ how, cwd }) => ({
    ok: true,
    workspace: { how, from: cwd, path: cwd, lock: null, checkout: null },
  }),
  release: async () => ({ what: 'removed', why: null }),
};

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined);
}
