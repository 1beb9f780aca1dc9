import { onFaultPoint } from '../../src/base/faults.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import type { Session } from '../../src/ledger/session.ts';
import { newSession } from '../../src/ledger/session.ts';
import { openSession } from '../../src/ledger/open-session.ts';
import type { WorkflowCall } from '../../src/ledger/graph.ts';
import type { BeginRun } from '../../src/ledger/sequence.ts';
import { beginRun } from '../../src/ledger/sequence.ts';
import { rootPlan } from '../../src/workflows/root-plan.ts';
import { advanceActions } from './advances.ts';
import { agentActions } from './agent-actions.ts';
import type { AgentKind } from './agent-kinds.ts';
import { callActions } from './calls.ts';
import { clockActions } from './clocks.ts';
import { Choices } from './choices.ts';
import { checkFlows } from './flow-checks.ts';
import { flowActions } from './flow-actions.ts';
import { checkRest } from './rest.ts';
import { describe, Observer } from './observer.ts';
import { orchestratorActions } from './orchestrators.ts';
import { personActions } from './persons.ts';
import { planOf } from './plan.ts';
import { Programs } from './programs.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress, settle } from './scheduler.ts';
import { Server } from './server.ts';
import type { Violation } from './violations.ts';
import type { World } from './world.ts';
import { newWorld } from './new-world.ts';

/** Steps in which anything may happen, before the world becomes fair. */
const freeSteps = { least: 20, most: 110 } as const;
/** A fair world comes to rest within so many steps, or never. */
const fairSteps = 4_000;
/** In a fair world nothing is waited for longer than this, in milliseconds of its clock, unless something hangs. */
const patienceMs = 20 * 60_000;
const hungPatienceMs = 30 * 60 * 60_000;

/** How a history ended, and all that happened in it. */
export interface History {
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
  readonly tape: readonly number[];
}

/** What a history is played with besides its seed. */
export interface PlayOptions {
  /** Plays this tape instead of one that the seed gives. */
  readonly tape?: readonly number[];
  /** The trace also tells every event of the ledger. */
  readonly isVerbose?: boolean;
  /** Agents launch workflows with steps, rather than something that has none. */
  readonly isWorking?: boolean;
}

/** Plays one history: from a seed, or again from a tape. */
export async function playHistory(seed: number, options: PlayOptions = {}): Promise<History> {
  const play = new Play(seed, options);
  try {
    await play.toTheEnd();
  } finally {
    onFaultPoint(undefined);
  }
  return play;
}

class Play implements History {
  readonly trace: string[] = [];
  readonly #choices: Choices;
  readonly #world: World;
  readonly #programs: Programs;
  readonly #observer: Observer;
  #server: Server;
  #stillSince: number;

  constructor(seed: number, { tape, isVerbose = false, isWorking = false }: PlayOptions) {
    this.#choices = new Choices(seed, tape);
    const note = (line: string): void => void this.trace.push(line);
    const detail = (line: () => string): void => void (isVerbose && this.trace.push(line()));
    this.#world = newWorld(seed, this.#choices, isWorking, { note, detail });
    this.#programs = new Programs(this.#world);
    this.#observer = new Observer(this.#world, this.#programs);
    this.#server = this.#newServer(undefined);
    this.#stillSince = this.#world.clock.monotonic();
  }

  get violation(): Violation | undefined {
    return this.#world.violations.first;
  }

  get tape(): readonly number[] {
    return this.#choices.tape;
  }

  async toTheEnd(): Promise<void> {
    await this.#begin();
    const drawn = freeSteps.least + this.#choices.below(freeSteps.most - freeSteps.least);
    const free = this.#world.isWorking ? 2 * drawn : drawn;
    for (let i = 0; i < free && !this.violation; i++) await this.#step('free');
    this.trace.push('--- from here on the world is fair ---');
    this.#world.budgets.exhaust();
    let steps = 0;
    while (!this.violation && (await this.#step('fair'))) {
      if (++steps > fairSteps) this.#world.violations.report('LIVELOCK', this.#unrest());
    }
    if (!this.violation) checkRest(this.#world, this.#observer.state);
    if (!this.violation) checkFlows(this.#world, this.#observer.state);
  }

  #unrest(): string {
    const open = this.#observer.state.executions.filter((row) => !row.closed).map(describe);
    return `no rest after ${fairSteps} steps; open are ${open.slice(0, 5).join(', ') || 'none'}`;
  }

  async #begin(): Promise<void> {
    this.#server.start();
    await settle();
    const kinds = [...this.#world.kinds.values()];
    // Where runs are in each other's way there are several.
    const isNarrow = this.#world.limited.isOn || this.#world.isAlone;
    const runs = (isNarrow ? 2 : 1) + this.#choices.below(2);
    for (let i = 0; i < runs; i++) this.#beginRun(`r${i}`, kinds[isNarrow ? i % kinds.length : i]);
    const works = this.#world.isWorking ? 1 + this.#choices.below(2) : 0;
    for (let i = 0; i < works; i++)
      if (this.#choices.chance(50)) this.#sendWorkflow();
      else this.#beginWorkflow();
    await settle();
  }

  #beginRun(name: string, kind: AgentKind | undefined): void {
    const { ids, clock, truth } = this.#world;
    if (!kind) return;
    const made = newSession({
      id: ids.make('session'),
      project: 'default',
      agent: kind.name,
      cwd: '.',
      title: `the session of ${name}`,
      node: 'local',
      createdAt: clock.now(),
    });
    const session: Session = { ...made, delivery: this.#world.isGiving ? 'controller' : 'auto' };
    const plan = planOf(this.#world, name, 2 + this.#choices.below(2));
    // What is tried again is known when it is there.
    if (!this.#world.isRetrying) for (const message of plan) truth.addMessage(message.text, session.id, null);
    const id = ids.make('run');
    const now = clock.now();
    const server = this.#server;
    const workspace = this.#workspace();
    server.run('begin a run', async () => {
      await server.store.decide(() => openSession({ now, session }));
      await server.store.decide(() =>
        beginRun({ now, id, project: 'default', name, sessionId: session.id, plan, ...workspace }),
      );
    });
  }

  #workspace(): Pick<BeginRun, 'workspace'> {
    const place = { how: 'exclusive', from: '/here', path: '/here', lock: '/here', checkout: null } as const;
    return this.#world.isAlone ? { workspace: place } : {};
  }

  /** A run sends a workflow, perhaps several times, and perhaps another one behind it, which scores it. */
  #sendWorkflow(): void {
    const { truth, flows, ids, clock } = this.#world;
    const call = (): WorkflowCall => {
      const label = `${this.#world.label('w')}f`;
      const about = { kind: 'work', label, cause: null, isRoot: true, activity: undefined } as const;
      truth.addWork({ ...about, tells: null, stage: 'never' });
      return flows.call(label);
    };
    const { graph, ...rest } = call();
    const evaluation = this.#choices.chance(40) ? call() : null;
    const scored = { ...rest, graph: { ...graph, settings: { ...graph.settings, evaluation } } };
    const backoffMs = this.#choices.pick([0, 20_000]);
    const retry = this.#choices.chance(50) ? { retry: { max: 1, backoffMs } } : {};
    const plan = rootPlan(scored, { cwd: '/here', ...retry });
    const id = ids.make('run');
    const about = { now: clock.now(), id, project: 'default', name: `the run of ${rest.workflow}`, plan };
    const workspace = this.#workspace();
    const server = this.#server;
    server.run('begin a run', () =>
      server.store.decide(() => beginRun({ ...about, sessionId: null, ...workspace })),
    );
  }

  /** A person begins a workflow, which reports to nobody. */
  #beginWorkflow(): void {
    const { truth, flows } = this.#world;
    const label = `${this.#world.label('w')}f`;
    const about = { kind: 'work', label, cause: null, isRoot: true, activity: undefined } as const;
    const work = truth.addWork({ ...about, tells: null, stage: 'calling' });
    const { graph } = flows.call(label);
    const server = this.#server;
    server.run('begin a workflow', async () => {
      const command = { caller: { by: 'person' }, kind: 'workflow', name: label, graph } as const;
      const launched = await server.launcher.launch(command);
      if (!launched.ok) work.stage = 'never';
    });
  }

  /** Does one thing. False when nothing is left to do. */
  async #step(phase: 'free' | 'fair'): Promise<boolean> {
    const all = this.#actions();
    const possible = phase === 'free' ? all : all.filter((action) => action.isProgress);
    const time = this.#time(phase, possible.length === 0);
    const actions = time ? [...possible, time] : possible;
    if (actions.length === 0) return false;
    const action = this.#choices.weighted(actions);
    this.trace.push(action.name);
    if (action !== time) this.#stillSince = this.#world.clock.monotonic();
    action.run();
    await settle();
    return true;
  }

  #actions(): Action[] {
    const world = this.#world;
    const server = this.#server;
    const actions = [...world.gates.actions(), ...server.actions(), ...clockActions(world)];
    for (const agent of world.agents.values()) {
      if (agent.process?.isAlive)
        actions.push(
          ...agentActions(world, agent.process),
          ...orchestratorActions(world, agent.process, server),
        );
      if (agent.process) actions.push(...callActions(world, agent.process, server));
    }
    actions.push(...this.#programs.actions(server));
    if (!server.isAlive) actions.push(progress('THE SERVER STARTS', () => this.#restart(), 8));
    else actions.push(...this.#deaths(server));
    if (server.isReady) {
      const { state } = this.#observer;
      actions.push(...personActions(world, server, state), ...advanceActions(world, server, state));
      actions.push(...flowActions(world, server, state));
    }
    return actions;
  }

  /** The clock goes on: at any time in a free world, in a fair one when nothing else is to be done. */
  #time(phase: 'free' | 'fair', isStill: boolean): Action | undefined {
    const { clock, facts } = this.#world;
    const next = clock.nextAt();
    if (next === undefined || (phase === 'fair' && !isStill)) return undefined;
    const patience = facts.isHung ? hungPatienceMs : patienceMs;
    const inMs = next - clock.now();
    if (phase === 'fair' && clock.monotonic() + inMs - this.#stillSince > patience) return undefined;
    const seconds = Math.round(inMs / 1000);
    return { ...progress(`time passes: ${seconds} s`, () => void clock.step(), 2) };
  }

  #deaths(server: Server): Action[] {
    const { budgets, choices } = this.#world;
    if (!budgets.has('crashes') || server.isDoomed) return [];
    const soon = maybe(
      'the server will die at a fault point',
      () => {
        budgets.spend('crashes');
        server.dieAfter(1 + choices.below(25));
      },
      3,
    );
    const now = maybe(
      'the server dies',
      () => {
        budgets.spend('crashes');
        server.die();
      },
      2,
    );
    return [soon, now];
  }

  #restart(): void {
    this.#programs.breakCalls();
    for (const agent of this.#world.agents.values()) {
      const { process } = agent;
      if (!process) continue;
      process.asking = 0;
      process.calls = process.calls.filter((call) => call.stage !== 'handling');
      if (this.#choices.chance(15) && process.isAlive) {
        this.#world.note(`  ${agent.label} died meanwhile`);
        process.die('killed while nobody watched');
      }
    }
    for (const work of this.#world.truth.works.values()) {
      const isInFlight = [...this.#world.agents.values()].some((agent) =>
        agent.process?.calls.some((call) => call.work === work),
      );
      if (work.stage === 'calling' && !isInFlight) work.stage = 'never';
    }
    // What the dead server committed last was decided under its limits.
    this.#observer.see(this.#server.durable);
    const { limited } = this.#world;
    // Whoever starts it may have changed its limits.
    if (limited.isOn)
      limited.limits = this.#choices.pick<TurnLimits>([limited.limits ?? {}, { turns: 1 }, { turns: 2 }, {}]);
    this.#server = this.#newServer(this.#server);
    this.#server.start();
  }

  #newServer(before: Server | undefined): Server {
    const parts = {
      world: this.#world,
      programs: this.#programs,
      onHandOut: this.#observer.handOut.bind(this.#observer),
      onCommit: this.#observer.see.bind(this.#observer),
    };
    return new Server(parts, before?.durable);
  }
}
