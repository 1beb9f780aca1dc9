import { findNearest } from '../base/nearest.ts';
import { describeProblems } from '../cli/yaml-file.ts';
import type { Refusal } from '../ledger/decision.ts';
import { refuse } from '../ledger/decision.ts';
import type { WorkflowCall } from '../ledger/graph.ts';
import { callOf } from '../workflows/definition.ts';
import type { WorkflowFacts } from '../workflows/facts.ts';
import { listedWorkflow } from '../workflows/listed.ts';
import type {
  ListedWorkflow,
  WorkflowDefinition,
  WorkflowRequest,
  WorkflowSource,
} from '../workflows/port.ts';
import { stepPlansOf } from '../workflows/step-plans.ts';
import { agentsOf, type UsedAgent } from '../workflows/used-agents.ts';
import { type CheckedWorkflow, type WorkflowProject, WorkflowReading } from './workflow-reading.ts';

/** What the workflows of a server are read with. */
export interface WorkflowFilesContext {
  /** The project of the server's configuration; undefined: it has none, and no workflows. */
  readonly project: WorkflowProject | undefined;
  /** What they are held against; asked anew each time. */
  readonly facts: () => Pick<WorkflowFacts, 'agents' | 'refusalOfBudget'>;
  /** The environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Answer<T> = { readonly ok: true; readonly value: T } | Refusal;

/** The workflows that are files beside `stemma.yaml`, read anew with each call. */
export function workflowFiles(context: WorkflowFilesContext): WorkflowSource {
  return {
    list: () => listAll(context),
    async define(request) {
      const where = placeOf(context, request);
      if (!where.ok) return where;
      const { name, directory, project } = where.value;
      const reading = await WorkflowReading.of(directory);
      if (request.file) reading.put(name, request.file.path, request.file.text);
      return new Defining(context, reading, project).define(name, request);
    },
  };
}

async function listAll({ project, facts }: WorkflowFilesContext): Promise<readonly ListedWorkflow[]> {
  if (!project) return [];
  const reading = await WorkflowReading.of(project.workflows);
  const listed: ListedWorkflow[] = [];
  for (const name of reading.names) {
    const checked = await reading.check(name, facts());
    if (checked) listed.push(listedWorkflow(project.project, name, checked.file, problemsOf(checked)));
  }
  const odd = reading.odd.map(({ name, why }) => listedWorkflow(project.project, name, undefined, [why]));
  return [...listed, ...odd];
}

interface Place {
  readonly name: string;
  readonly project: string;
  /** Of the workflow files; absolute. */
  readonly directory: string;
}

function placeOf({ project }: WorkflowFilesContext, { workflow, file, cwd }: WorkflowRequest): Answer<Place> {
  const slash = workflow.indexOf('/');
  const name = workflow.slice(slash + 1);
  const named = slash < 0 ? undefined : workflow.slice(0, slash);
  if (project && (named === undefined || named === project.project || file))
    return { ok: true, value: { name, project: project.project, directory: project.workflows } };
  if (file && cwd !== undefined) return { ok: true, value: { name, project: 'default', directory: '' } };
  const there = project
    ? `The workflows of this server belong to ${project.project}.`
    : 'This server was started without a stemma.yaml, beside which workflows would be.';
  return refuse('NOT_FOUND', `There is no workflow ${workflow}. ${there}`, { id: workflow });
}

/** One definition: the workflow that is asked for, what scores it, and the agents of all that they begin. */
class Defining {
  readonly #context: WorkflowFilesContext;
  readonly #reading: WorkflowReading;
  readonly #project: string;

  constructor(context: WorkflowFilesContext, reading: WorkflowReading, project: string) {
    this.#context = context;
    this.#reading = reading;
    this.#project = project;
  }

  async define(name: string, request: WorkflowRequest): Promise<Answer<WorkflowDefinition>> {
    const checked = await this.#reading.check(name, this.#context.facts());
    if (!checked) return this.#missing(name);
    if (checked.problems.length > 0) return refusalOf(checked);
    const { head } = checked.file;
    const evaluation = await this.#evaluation(head.evaluation, request);
    if (evaluation && 'ok' in evaluation) return evaluation;
    const called = await callOf(this.#soundOf(checked, request, evaluation), request);
    if (!called.ok) return called;
    const agents = await this.#agents(name, request.step, [name]);
    const isEvaluation = head.of !== undefined;
    const value = { project: this.#project, name, call: called.value, isEvaluation, agents };
    return { ok: true, value };
  }

  #soundOf(checked: CheckedWorkflow, { cwd, file: sent }: WorkflowRequest, evaluation: WorkflowCall | null) {
    const { project, env } = this.#context;
    const isFromFile = sent === undefined;
    return {
      project: this.#project,
      name: checked.name,
      file: checked.file,
      directory: cwd ?? project?.directory ?? '/',
      isFromFile,
      env: (variable: string) => (isFromFile ? env[variable] : undefined),
      evaluation,
    };
  }

  async #evaluation(
    name: string | undefined,
    { evaluation, step, instant, cwd }: WorkflowRequest,
  ): Promise<WorkflowCall | Refusal | null> {
    if (name === undefined || evaluation === false || step !== undefined) return null;
    const request = { workflow: name, instant, ...(cwd === undefined ? {} : { cwd }) };
    const defined = await this.define(name, { ...request, evaluation: false });
    return defined.ok ? defined.value.call : defined;
  }

  /** Those of the steps, and of the workflows that steps begin. What begins itself was refused; the bound is for files that changed meanwhile. */
  async #agents(name: string, step: string | undefined, way: readonly string[]): Promise<UsedAgent[]> {
    const checked = await this.#reading.check(name, this.#context.facts());
    if (!checked || checked.problems.length > 0) return [];
    const plans = stepPlansOf(checked.file).filter((plan) => step === undefined || plan.name === step);
    const own = agentsOf(plans, { agent: checked.file.head.agent ?? null });
    const nested = await Promise.all(
      plans.map(async ({ name: nests, does }) => {
        if (does.type !== 'workflow' || way.includes(does.workflow)) return [];
        const below = await this.#agents(does.workflow, undefined, [...way, does.workflow]);
        return below.map((each) => ({ ...each, step: `${nests}/${each.step}` }));
      }),
    );
    return [...own, ...nested.flat()];
  }

  #missing(name: string): Refusal {
    const { names } = this.#reading;
    const nearest = findNearest(name, names);
    const there = names.length === 0 ? 'There are none.' : `There are ${names.slice(0, 20).join(', ')}.`;
    const hint = nearest === undefined ? there : `Did you mean "${nearest}"?`;
    const data = { id: name, ...(nearest === undefined ? {} : { nearest }) };
    return refuse('NOT_FOUND', `There is no workflow "${name}". ${hint}`, data);
  }
}

function refusalOf({ name, problems }: CheckedWorkflow): Refusal {
  const message = `The workflow "${name}" has mistakes.\n\n${describeProblems(problems)}`;
  return refuse('INVALID_CONFIG', message, { workflow: name, problems });
}

function problemsOf({ problems }: CheckedWorkflow): string[] {
  return problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
}
