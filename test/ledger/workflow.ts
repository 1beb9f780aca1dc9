import type { ExecutionId, SessionId } from '../../src/base/ids.ts';
import { FreshIds } from '../../src/base/ids.ts';
import type { Json } from '../../src/base/json.ts';
import type { Actor, Execution } from '../../src/ledger/execution.ts';
import type { Beginning } from '../../src/ledger/graph-attempt.ts';
import type { Graph, GraphSettings, GraphStep, NewGraph, ProgramEnd } from '../../src/ledger/graph.ts';
import type { Launch } from '../../src/ledger/launch.ts';
import { newSession } from '../../src/ledger/session.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import { node } from './choice.ts';
import { planOf, type Scene } from './scene.ts';

const launches: Beginning = { as: 'launch', launch: {} };

/** A step with this name, a script unless it is said otherwise. */
export function stepOf(name: string, given: Partial<StepPlan> = {}): StepPlan {
  return {
    name,
    needs: [],
    when: null,
    retry: null,
    timeoutMs: null,
    onFailure: 'stop',
    outputs: {},
    repairs: 0,
    budget: null,
    does: { type: 'script', run: 'true', env: {}, cwd: null },
    ...given,
  };
}

/** The program of a workflow with these steps. */
export function graphOf(steps: readonly StepPlan[], settings: Partial<GraphSettings> = {}): NewGraph {
  return {
    project: 'default',
    workflow: 'nightly',
    group: null,
    inputs: {},
    settings: {
      agent: 'demo',
      cwd: '/',
      variables: {},
      env: {},
      failFast: false,
      evaluation: null,
      outputs: {},
      timezone: 'UTC',
      instant: Date.UTC(2026, 0, 1),
      isFromFile: true,
      ...settings,
    },
    of: null,
    resumes: null,
    steps,
    reused: [],
  };
}

/** A workflow in a scene, and the words for what happens to its steps. */
export class Workflow {
  readonly id: ExecutionId;
  readonly #scene: Scene;

  constructor(scene: Scene, id: ExecutionId) {
    this.#scene = scene;
    this.id = id;
  }

  /** Launched by whoever it is, a person unless it is said otherwise. */
  static async launch(
    scene: Scene,
    steps: readonly StepPlan[],
    given: Partial<Launch> & { readonly settings?: Partial<GraphSettings> } = {},
  ): Promise<Workflow> {
    const { settings, ...more } = given;
    const id = scene.model.ids.make('execution');
    const about = { now: scene.now, id, kind: 'workflow', name: 'nightly' } as const;
    const caller = { by: 'person' } as const;
    await scene.do({
      rule: 'launch',
      command: { ...about, caller, graph: graphOf(steps, settings), ...more },
    });
    return new Workflow(scene, id);
  }

  get row(): Execution {
    return this.#scene.row(this.id);
  }

  get graph(): Graph {
    const graph = this.#scene.model.state.snapshot.graphs.find(({ id }) => id === this.id);
    if (!graph) throw new Error(`${this.id} has no graph`);
    return graph;
  }

  step(name: string): GraphStep {
    const steps = this.#scene.model.state.snapshot.graphSteps;
    const step = steps.find(({ graphId, plan }) => graphId === this.id && plan.name === name);
    if (!step) throw new Error(`no step ${name}`);
    return step;
  }

  /** The states of all steps, by name; those that were skipped with why. */
  get states(): Record<string, string> {
    const steps = this.#scene.model.state.snapshot.graphSteps.filter(({ graphId }) => graphId === this.id);
    const said = ({ state, reason }: GraphStep): string =>
      state === 'skipped' ? `${state}: ${reason}` : state;
    return Object.fromEntries(steps.map((step) => [step.plan.name, said(step)]));
  }

  /** The latest attempt of a step. */
  attempt(name: string): Execution {
    const { currentId } = this.step(name);
    if (currentId === null) throw new Error(`${name} has no attempt`);
    return this.#scene.row(currentId);
  }

  begin(name: string, how: Beginning = launches, moves = this.step(name).moves): Promise<string> {
    const fresh = this.#scene.fresh();
    const { ref } = this.step(name);
    return this.#scene.do({ rule: 'beginStep', command: { now: this.#scene.now, ref, moves, how, fresh } });
  }

  /** A step begins as a conversation with one message. */
  async beginAgent(name: string, texts: readonly string[] = ['do it']): Promise<SessionId> {
    const { ids } = this.#scene.model;
    const about = { id: ids.make('session'), project: 'default', agent: 'demo', cwd: '/', title: name, node };
    const session = newSession({ ...about, createdAt: this.#scene.now });
    const hosts = { session, runId: ids.make('run'), plan: planOf(texts), tells: 'cost' } as const;
    await this.begin(name, { as: 'launch', launch: { hosts } });
    return session.id;
  }

  /** The program of the attempt ends, and what follows is decided. */
  async ends(name: string, end: Partial<ProgramEnd> = {}): Promise<string> {
    await this.programEnds(name, end);
    return this.decides(name);
  }

  fails(name: string, code = 'SCRIPT_FAILED'): Promise<string> {
    return this.ends(name, { state: 'failed', error: { code, message: 'exit code 1' } });
  }

  programEnds(name: string, end: Partial<ProgramEnd> = {}): Promise<string> {
    const whole = { state: 'succeeded', result: 'done', error: null, outputs: {}, ...end } as const;
    const { id } = this.attempt(name);
    const fresh = new FreshIds(this.#scene.model.ids);
    return this.#scene.do({ rule: 'endProgram', command: { now: this.#scene.now, id, end: whole, fresh } });
  }

  decides(name: string): Promise<string> {
    return this.#scene.do({ rule: 'stepEnded', command: { now: this.#scene.now, ref: this.step(name).ref } });
  }

  /** What its handler does when it has ended. */
  async settles(result = 'summary', outputs: Record<string, Json> = {}): Promise<string> {
    const about = { now: this.#scene.now, id: this.id };
    const rest = await this.#scene.do<string>({ rule: 'drainGraph', command: about });
    if (rest !== 'free') return rest;
    const fresh = this.#scene.fresh();
    return this.#scene.do({ rule: 'settleGraph', command: { ...about, result, outputs, fresh } });
  }

  /** The wake-ups of a step that are owed are handled: what is owed from now on is seen. */
  async handled(name: string): Promise<void> {
    const { ref } = this.step(name);
    const row = [...this.#scene.model.state.wakes.values()].find(
      ({ kind, target }) => kind === 'step' && target === ref,
    );
    if (row) await this.#scene.model.store.finishWake(row, null);
  }

  /** The wake-ups that are owed of this kind, by target. */
  wakes(kind: string): Map<string, number> {
    const rows = [...this.#scene.model.state.wakes.values()].filter((wake) => wake.kind === kind);
    return new Map(rows.map(({ target, at }) => [target, at]));
  }

  cancel(by: Actor['kind'] = 'person', verdict = 'CANCELLED', id: ExecutionId = this.id) {
    return this.#scene.cancel(id, { kind: by }, verdict);
  }
}
