import type { WorkflowQueries } from '../api/ports.ts';
import { StemmaError } from '../base/errors.ts';
import { findNearest } from '../base/nearest.ts';
import { defaultLimit } from '../contract/page.ts';
import type { ExecutionId } from '../base/ids.ts';
import { largestSteps, type Workflow, type WorkflowViewQuery } from '../contract/workflow.ts';
import { ask } from '../ledger/questions.ts';
import type { StepPage } from '../store/views.ts';
import type { ListedWorkflow } from '../workflows/port.ts';
import { aroundGraph } from './around-graph.ts';
import { attemptView } from './attempt-view.ts';
import type { ApplicationContext } from './context.ts';
import { invalidCursor } from './list-filters.ts';
import { runsPage } from './run-queries.ts';
import { present } from './wire.ts';
import { toWorkflowView } from './wire-workflow.ts';

/** The read side of workflows. */
export function createWorkflowQueries(context: ApplicationContext): WorkflowQueries {
  const { store, workflows, views, recordPlaces } = context;
  return {
    async list({ project, cursor, limit = defaultLimit }) {
      const all = (await workflows.list()).filter((one) => project === undefined || one.project === project);
      const behind = cursor === undefined ? all : all.filter((one) => nameOf(one) > cursor);
      const items = behind.slice(0, limit);
      const last = items.at(-1);
      const next = last && behind.length > limit ? { nextCursor: nameOf(last) } : {};
      return { items: items.map(toWorkflow), ...next };
    },
    async of(id, query) {
      const found = await views.graph(id, await stepPage(context, id, query));
      return found && toWorkflowView(found, recordPlaces, await aroundGraph(store, found));
    },
    attempt: (id, query) => attemptView(context, id, query),
    async runs(name, { steps = 0, ...filter }) {
      const [first = '', second] = name.split('/');
      const wanted = second === undefined ? { name: first } : { project: first, name: second };
      const page = await runsPage(
        context,
        { ...filter, limit: filter.limit ?? defaultLimit },
        { of: { workflow: wanted }, steps },
      );
      if (page.items.length === 0 && filter.cursor === undefined) await checkIsThere(context, name);
      return page;
    },
  };
}

/** So many steps are named where one is missing. */
const mostNames = 20;

/** Which steps are meant. Throws `INVALID_INPUT` for a cursor that there is none, `NOT_FOUND` for a step. */
async function stepPage(
  { store }: ApplicationContext,
  id: ExecutionId,
  { step, cursor, limit = largestSteps }: WorkflowViewQuery,
): Promise<StepPage> {
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) throw invalidCursor(cursor);
  if (step === undefined) return { from: Number(cursor ?? 0), limit };
  const found = await store.read(() => ask('graphStepNamed', id, step));
  if (found) return { from: found.index, limit: 1, isAlone: true };
  const steps = await store.read(() => ask('graphSteps', id));
  // What has no steps is told by whoever asks for it.
  if (steps.length === 0) return { from: 0, limit: 1 };
  const nearest = findNearest(
    step,
    steps.map(({ plan }) => plan.name),
  );
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  const names = steps.map(({ plan }) => plan.name);
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  const message = `The workflow ${id} has no step "${step}".${hint} It has: ${names.slice(0, mostNames).join(', ')}${more}.`;
  const within = steps.filter(({ plan }) => plan.does.type === 'workflow').map(({ plan }) => plan.name);
  throw new StemmaError('NOT_FOUND', message, { id, step, nearest, within: within.slice(0, mostNames) });
}

/** Nothing has run of a workflow that there is; of one that there is not, whoever asks mistyped its name. */
async function checkIsThere({ workflows }: ApplicationContext, name: string): Promise<void> {
  const known = await workflows.list();
  const isThere = known.some((one) => one.name === name || nameOf(one) === name);
  if (isThere) return;
  const nearest = findNearest(
    name,
    known.flatMap((one) => [one.name, nameOf(one)]),
  );
  const hint =
    nearest === undefined ? '"stemma workflow ls" shows those that there are.' : `Did you mean "${nearest}"?`;
  throw new StemmaError(
    'NOT_FOUND',
    `There is no workflow "${name}", and none of this name was run. ${hint}`,
    {
      id: name,
      ...(nearest === undefined ? {} : { nearest }),
    },
  );
}

function nameOf({ project, name }: Pick<ListedWorkflow, 'project' | 'name'>): string {
  return `${project}/${name}`;
}

function toWorkflow(one: ListedWorkflow): Workflow {
  const inputs = one.inputs.map(({ name, description, type, isRequired, default: value, choices }) => {
    const more = present({ description, default: value });
    const input = {
      type,
      required: isRequired,
      ...more,
      ...(choices.length > 0 ? { enum: [...choices] } : {}),
    };
    return [name, input] as const;
  });
  return {
    project: one.project,
    name: one.name,
    groups: [...one.groups],
    inputs: Object.fromEntries(inputs),
    steps: one.steps.map(({ name, type, needs }) => ({ name, type, needs: [...needs] })),
    ...present({ description: one.description, evaluation: one.evaluation }),
    ...(one.isEvaluation ? { evaluates: true } : {}),
    ...(one.problems.length > 0 ? { problems: [...one.problems] } : {}),
  };
}
