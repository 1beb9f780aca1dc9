import type { NewGraph, WorkflowCall } from '../../src/ledger/graph.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import type { Budgets } from './scheduler.ts';
import type { Choices } from './choices.ts';
import { groupPlan, sayings, stepPlan } from './flow-steps.ts';
import type { Truth, Work } from './truth.ts';
import type { Violations } from './violations.ts';

/** A step as the history made it up, and what really became of its attempts. */
export interface FlowStep {
  readonly plan: StepPlan;
  readonly work: Work;
  /** How the program of each attempt ended. Of scripts only: everything else says it in the ledger. */
  readonly ends: Map<string, 'succeeded' | 'failed'>;
  /** What an agent that has to choose says here. */
  readonly says: string;
  /** In the workflow that was looked at last. */
  hasSucceeded: boolean;
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

  /** The workflow of this label; made up when it is first asked for. `evaluation`: the label of what scores it. */
  call(label: string, evaluation?: string): WorkflowCall {
    const flow = this.all.get(label) ?? this.#make(label);
    const scored = evaluation === undefined ? flow.graph : scoredBy(flow.graph, this.call(evaluation));
    return { workflow: label, group: null, graph: scored, timeoutMs: null, budget: null };
  }

  /** One step of a workflow, asked for alone: one that was made up for this label. */
  alone(label: string, workflow: string, group: string | null): WorkflowCall {
    const { graph } = this.all.get(label) ?? this.#make(label, 1);
    return { workflow, group, graph, timeoutMs: null, budget: null };
  }

  /** The step of this label, which is its name. */
  step(label: string): FlowStep | undefined {
    return this.all
      .get(label.slice(0, label.lastIndexOf('.')))
      ?.steps.find(({ plan }) => plan.name === label);
  }

  /** Whether a message is one of a step's own conversation. */
  isOfStep(label: string): boolean {
    return this.#stepOfMessage(label) !== undefined;
  }

  /** What an agent answers that is asked to choose; undefined: this message does not ask it. */
  choiceFor(label: string): string | undefined {
    const step = this.#stepOfMessage(label);
    return step?.plan.does.type === 'route' ? step.says : undefined;
  }

  #stepOfMessage(label: string): FlowStep | undefined {
    const said = label.replace(/^\[stemma repair \d+ of \d+\] /, '');
    return /\.m\d*(?=[@+~]|$)/.test(said) ? this.step(said.slice(0, said.lastIndexOf('.m'))) : undefined;
  }

  /** The text of a step's conversation: each attempt of the step has a conversation of its own, and a text of its own. */
  textIn(runId: string, text: string, row: number | null): string {
    // What the server says to every step's agent comes behind the text itself.
    const written = /^\{\{\S+\.m\d*\}\}/.exec(text)?.[0];
    if (written === undefined) return text;
    const own = row === null ? written : written.replace(/\}\}$/, `@${row}}}`);
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

  #make(label: string, most = Infinity): Flow {
    const { choices, truth } = this.#world;
    const depth = label.split('.').length;
    const length = Math.min(most, 1 + choices.below(depth === 1 ? 4 : 2));
    const names = Array.from({ length }, (_, index) => `${label}.s${index}`);
    const hasGroups = depth === 1 && length > 1 && choices.chance(20);
    const steps: FlowStep[] = [];
    for (const name of names) {
      const before = steps.map((step) => step.plan);
      const plan = hasGroups ? groupPlan(label, name) : stepPlan(choices, name, before, depth);
      const work = truth.addWork({
        kind: 'work',
        label: name,
        cause: label,
        tells: null,
        activity: undefined,
        stage: 'never',
        isStep: true,
      });
      const says = choices.pick(sayings);
      steps.push({ plan, work, ends: new Map(), says, hasSucceeded: false });
    }
    const settings = {
      agent: [...this.#world.kinds.keys()][0] ?? null,
      cwd: '/here',
      variables: {},
      env: {},
      failFast: !hasGroups && choices.chance(30),
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
}

function scoredBy(graph: NewGraph, evaluation: WorkflowCall): NewGraph {
  return { ...graph, settings: { ...graph.settings, evaluation } };
}
