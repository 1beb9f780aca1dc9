import type { NewGraph, WorkflowCall } from '../../src/ledger/graph.ts';
import type { StepPlan, StepProgram } from '../../src/ledger/step-plan.ts';
import type { Budgets } from './scheduler.ts';
import type { Choices } from './choices.ts';
import { orchestrationOf } from './orchestrators.ts';
import type { Truth, Work } from './truth.ts';
import type { Violations } from './violations.ts';

const minuteMs = 60_000;
const stepTypes = [
  'script',
  'script',
  'script',
  'agent',
  'todo',
  'todo',
  'todo',
  'human',
  'workflow',
] as const;
/** How deep workflows of a history are in each other. */
const deepest = 4;

/** A step as the history made it up, and what really became of its attempts. */
export interface FlowStep {
  readonly plan: StepPlan;
  readonly work: Work;
  /** How the programs of its attempts ended, in order. Of scripts only: everything else says it in the ledger. */
  readonly ends: ('succeeded' | 'failed')[];
}

/** A workflow as the history made it up. */
export interface Flow {
  readonly label: string;
  readonly graph: NewGraph;
  readonly steps: readonly FlowStep[];
}

/** What the making of workflows needs of the world. */
interface FlowWorld {
  readonly choices: Choices;
  readonly budgets: Budgets;
  readonly truth: Truth;
  readonly violations: Violations;
  readonly kinds: ReadonlyMap<string, unknown>;
}

/** The workflows of a history, by the label of whatever they are the program of. They owe nothing to the code under test. */
export class Flows {
  readonly all = new Map<string, Flow>();
  readonly #world: FlowWorld;
  readonly #runs = new Map<string, string[]>();

  constructor(world: FlowWorld) {
    this.#world = world;
  }

  /** The workflow of this label; made up when it is first asked for. */
  call(label: string): WorkflowCall {
    const { graph } = this.all.get(label) ?? this.#make(label);
    return { workflow: label, group: null, graph, timeoutMs: null, budget: null };
  }

  /** The step of this label, which is its name. */
  step(label: string): FlowStep | undefined {
    return this.all
      .get(label.slice(0, label.lastIndexOf('.')))
      ?.steps.find(({ plan }) => plan.name === label);
  }

  /** The text of a step's conversation: each attempt of the step has a conversation of its own, and a text of its own. */
  textIn(runId: string, text: string): string {
    // What the server says to every step's agent comes behind the text itself.
    const own = /^\{\{\S+\.m\}\}/.exec(text)?.[0];
    if (own === undefined) return text;
    const runs = this.#runs.get(text) ?? [];
    if (!runs.includes(runId)) this.#runs.set(text, [...runs, runId]);
    const place = (this.#runs.get(text) ?? []).indexOf(runId);
    return place === 0 ? own : own.replace(/\}\}$/, `+${place + 1}}}`);
  }

  /** A script of a step begins: everything that the step needs must be over. */
  checkOrder(step: FlowStep): void {
    for (const need of step.plan.needs) {
      const before = this.step(need);
      const alive = before?.work.stage === 'running' ? 'it runs' : this.#world.truth.alive(need, 'programs');
      if (alive)
        this.#world.violations.report(
          'ORDER',
          `${step.plan.name} begins before the end of ${need}: ${alive}`,
        );
    }
    const alive =
      step.work.stage === 'running' ? 'it runs' : this.#world.truth.alive(step.plan.name, 'programs');
    if (alive) this.#world.violations.report('ORDER', `${step.plan.name} begins again: ${alive}`);
  }

  #make(label: string): Flow {
    const { choices, truth } = this.#world;
    const depth = label.split('.').length;
    const names = Array.from(
      { length: 1 + choices.below(depth === 1 ? 4 : 2) },
      (_, index) => `${label}.s${index}`,
    );
    const steps = names.map((name, index): FlowStep => {
      const plan = this.#plan(name, names.slice(0, index), depth);
      const work = truth.addWork({
        kind: 'work',
        label: name,
        cause: label,
        tells: null,
        activity: undefined,
        stage: 'never',
        isStep: true,
      });
      return { plan, work, ends: [] };
    });
    const settings = {
      agent: [...this.#world.kinds.keys()][0] ?? null,
      cwd: '/here',
      variables: {},
      env: {},
      failFast: choices.chance(30),
      evaluation: null,
      outputs: {},
      timezone: 'UTC',
      instant: 0,
      isFromFile: false,
    };
    const plans = steps.map(({ plan }) => plan);
    const about = { project: 'default', workflow: label, group: null, inputs: {}, of: null, resumes: null };
    const flow: Flow = { label, graph: { ...about, settings, steps: plans, reused: [] }, steps };
    this.all.set(label, flow);
    return flow;
  }

  #plan(name: string, before: readonly string[], depth: number): StepPlan {
    const { choices } = this.#world;
    const does = this.#does(name, depth);
    // What is inside one another is made up once, so it is tried once.
    const mayRetry = does.type === 'script' || does.type === 'agent' || does.type === 'todo';
    return {
      name,
      needs: before.filter(() => choices.chance(50)),
      when: choices.chance(15) ? 'false' : null,
      retry:
        mayRetry && choices.chance(50)
          ? { max: 1 + choices.below(2), backoffMs: choices.pick([0, 20_000]) }
          : null,
      timeoutMs: does.type === 'script' ? choices.pick([null, 5 * minuteMs]) : null,
      onFailure: choices.pick(['stop', 'continue'] as const),
      outputs: {},
      repairs: 0,
      budget: null,
      does,
    };
  }

  #does(name: string, depth: number): StepProgram {
    const { choices } = this.#world;
    const use = { agent: null, cwd: null } as const;
    const type = choices.pick(stepTypes);
    if (type === 'agent') return { ...use, type, prompt: `{{${name}.m}}` };
    if (type === 'todo') return { ...use, type, prompt: `{{${name}.m}}`, ...orchestrationOf(choices) };
    if (type === 'workflow' && depth < deepest) return { type, workflow: name, group: null, inputs: {} };
    if (type === 'human')
      return { type, question: `${name}?`, choices: ['yes', 'no'], declines: ['no'], otherwise: null };
    return { type: 'script', run: name, env: {}, cwd: null };
  }
}
