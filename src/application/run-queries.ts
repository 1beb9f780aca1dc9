import type { Queries } from '../api/ports.ts';
import { StemmaError } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { idAs } from '../base/ids.ts';
import type { ListQuery, Page } from '../contract/page.ts';
import { largestLimit } from '../contract/page.ts';
import { largestPlaces, listedPlaces, type Run as WireRun, runStates } from '../contract/run.ts';
import { toInstant } from '../contract/text.ts';
import { isOpen } from '../ledger/occurrence.ts';
import { ask } from '../ledger/questions.ts';
import { fullName } from '../ledger/schedule.ts';
import type { RunFilter, RunWithMessages } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { asksForOthers, chosen, idOf, paging } from './list-filters.ts';
import type { WorkflowView } from '../contract/workflow.ts';
import { largestSteps } from '../contract/workflow.ts';
import { workflowTitle } from '../workflows/root-plan.ts';
import { toRun } from './wire-runs.ts';
import { toWorkflowToCome, toWorkflowView } from './wire-workflow.ts';
import { aroundGraph } from './around-graph.ts';

/** A run as the wire shows it, with what is read around it. `steps`: how many of a workflow are shown at most. */
export async function shownRun(
  context: Pick<ApplicationContext, 'store' | 'views' | 'recordPlaces'>,
  row: RunWithMessages,
  steps: number,
): Promise<WireRun> {
  const { store } = context;
  const { sessionId, scheduleId } = row.run;
  const [session, schedule, workspace, workflow] = await Promise.all([
    sessionId === null ? undefined : store.read(() => ask('session', sessionId)),
    scheduleId === null ? undefined : store.read(() => ask('schedule', scheduleId)),
    store.read(() => ask('workspace', row.run.id)),
    workflowOf(context, row, steps),
  ]);
  return { ...toRun(row, { session, schedule, workspace }), ...(workflow ? { workflow } : {}) };
}

/** The evaluation that followed the workflow of a run: its latest attempt, with some of its steps. */
async function scoringOf(
  { store, views, recordPlaces }: Pick<ApplicationContext, 'store' | 'views' | 'recordPlaces'>,
  id: string,
  limit: number,
): Promise<Pick<WireRun, 'scoring'>> {
  const latest = await store.read(() => ask('latestOfRun', idAs('run', id), 1));
  const found = latest && (await views.graph(latest.id, { from: 0, limit }));
  return found ? { scoring: toWorkflowView(found, recordPlaces, await aroundGraph(store, found)) } : {};
}

/** The workflow of a run: its latest attempt, or what it will be. */
async function workflowOf(
  { store, views, recordPlaces }: Pick<ApplicationContext, 'store' | 'views' | 'recordPlaces'>,
  { run }: RunWithMessages,
  limit: number,
): Promise<WorkflowView | undefined> {
  const [work, scoring] = run.plan;
  if (!work?.workflow) return undefined;
  // Of the ledger: the page of messages that was asked for may begin behind it.
  const latest = await store.read(() => ask('latestOfRun', run.id, 0));
  const found = latest && (await views.graph(latest.id, { from: 0, limit }));
  const shown = found
    ? toWorkflowView(found, recordPlaces, await aroundGraph(store, found))
    : toWorkflowToCome(work.workflow, limit);
  const evaluation = scoring?.workflow?.workflow;
  return { ...shown, ...(evaluation === undefined ? {} : { evaluation }) };
}

/** The read side of runs. */
export function createRunQueries(context: ApplicationContext): Pick<Queries, 'runs' | 'run'> {
  const { views } = context;
  return {
    async runs(filter) {
      if (asksForOthers(filter, ['project', 'state', 'session'])) return { items: [] };
      return runsPage(context, filter);
    },
    async run(id, { from, limit = largestPlaces } = {}) {
      const row = await views.run(id, { from, limit });
      return row ? shownRun(context, row, largestSteps) : runToCome(context, id);
    },
  };
}

/**
 * The run that an occurrence is about to become, under the id that it will have: a trigger is answered before its run is
 * there. Undefined where there is none. Throws `NOT_FOUND` with the reason where it was decided that it will not run.
 */
async function runToCome(
  { store }: Pick<ApplicationContext, 'store'>,
  id: RunId,
): Promise<WireRun | undefined> {
  const row = await store.read(() => ask('occurrence', idAs('occurrence', id)));
  const schedule = row && (await store.read(() => ask('schedule', row.scheduleId)));
  if (!row || !schedule) return undefined;
  if (!isOpen(row.state)) {
    const message = `There is no run ${id}: its occurrence of ${fullName(schedule)} was ${row.state} (${row.reason ?? 'no reason was kept'}).`;
    throw new StemmaError('NOT_FOUND', message, { id, occurrence: row.state });
  }
  const { agent, messages, workflow } = schedule.definition;
  const title = workflow && workflowTitle({ workflow: workflow.name, group: workflow.group ?? null });
  const texts = title === undefined ? messages.map((message) => message.text) : [title];
  const text = row.reason ?? 'it is being begun';
  return {
    id,
    project: schedule.project,
    name: schedule.name,
    ...(agent === null ? {} : { agent }),
    schedule: fullName(schedule),
    instant: toInstant(row.instant),
    state: 'waiting',
    waiting: { for: 'dependency', since: toInstant(row.createdAt), text },
    createdAt: toInstant(row.createdAt),
    next: 0,
    messages: texts.map((said, index) => ({ index, text: said, attempts: [] })),
  };
}

/** Which runs, and how many steps of the workflow of each are shown, with what scores it. */
interface RunsPageOptions {
  readonly of?: Pick<RunFilter, 'scheduleId' | 'workflow'>;
  readonly steps?: number;
}

/** A page of runs, newest first; those of one schedule or of one workflow only, if it is given. */
export async function runsPage(
  context: Pick<ApplicationContext, 'store' | 'views' | 'recordPlaces'>,
  filter: ListQuery,
  { of = {}, steps = 0 }: RunsPageOptions = {},
): Promise<Page<WireRun>> {
  const { views } = context;
  const { state } = chosen('state', filter.state, runStates);
  const { cursor, limit } = paging(filter, 'run');
  // Whether one waits is said by what is read around it: all that are at work are looked at.
  const isDerived = state === 'waiting' || state === 'running';
  const page = await views.runs({
    cursor,
    limit: isDerived ? largestLimit : limit,
    ...of,
    ...idOf('sessionId', 'session', filter.session),
    ...(state === undefined ? {} : { state: isDerived ? 'running' : 'ended' }),
    ...(filter.project === undefined ? {} : { project: filter.project }),
  });
  // The run of a background agent is its program, and shown as the agent.
  const own = page.items.filter((row) => row.ownerId === null);
  const rows = (await Promise.all(own.map((row) => views.run(row.id, { limit: listedPlaces })))).flatMap(
    (row) => row ?? [],
  );
  const all = await Promise.all(rows.map((row) => shownRun(context, row, steps)));
  const fitting = isDerived ? all.filter((row) => row.state === state) : all;
  const items = fitting.slice(0, limit);
  const next = fitting.length > limit ? items.at(-1)?.id : page.next;
  const shown = await Promise.all(
    items.map(async (row) =>
      steps > 0 && row.workflow ? { ...row, ...(await scoringOf(context, row.id, steps)) } : row,
    ),
  );
  return { items: shown, ...(next === undefined ? {} : { nextCursor: next }) };
}
