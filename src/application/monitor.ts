import type { Queries } from '../api/ports.ts';
import { executionKinds, executionStates } from '../contract/execution.ts';
import type { ListQuery } from '../contract/page.ts';
import { largestLimit } from '../contract/page.ts';
import type { Execution } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import type { Tree } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { withLimits } from './limits.ts';
import { asksForOthers, chosen, paging } from './list-filters.ts';
import { type RootFacts, toMonitorRow } from './wire.ts';

/** How much of what is open in each tree is looked at to say what holds it. */
const monitorDepth = 500;
const emptyTree: Tree = {
  executions: [],
  notices: [],
  holds: [],
  held: [],
  turns: [],
  steers: [],
  isCut: false,
};

/** What runs now, each root with what holds it: what is closed in its tree costs nothing, however much that is. */
export function createMonitor(
  context: Pick<ApplicationContext, 'views' | 'store' | 'clock' | 'limits' | 'activity'>,
): Queries['monitor'] {
  const { views, clock } = context;
  return async (filter) => {
    const { cursor, limit } = paging(filter, 'execution');
    const fits = monitorFilter(filter);
    const page = await views.liveRoots({ cursor, limit: fits === undefined ? limit : largestLimit });
    const fitting = page.items.filter(({ root }) => fits?.(root) ?? true);
    const shown = fitting.slice(0, limit);
    const next = fitting.length > limit ? shown.at(-1)?.root.id : page.next;
    const rows = await Promise.all(
      shown.map(async (live) => {
        const open = (await views.openTree(live.root.id, { limit: monitorDepth })) ?? emptyTree;
        const limited = await withLimits(context, open);
        const facts = await factsOf(context, live.root);
        return toMonitorRow(live, limited, facts, clock.now());
      }),
    );
    return {
      items: rows.sort((a, b) => Number(b.waiting?.for === 'input') - Number(a.waiting?.for === 'input')),
      ...(next === undefined ? {} : { nextCursor: next }),
    };
  };
}

/** What is known of a root beside its tree. */
async function factsOf(
  { store, activity }: Pick<ApplicationContext, 'store' | 'activity'>,
  { id, runsIn, runId }: Execution,
): Promise<RootFacts> {
  const session = runsIn === null ? undefined : await store.read(() => ask('session', runsIn));
  const run = runId === null ? undefined : await store.read(() => ask('run', runId));
  const scheduleId = run?.scheduleId ?? null;
  const schedule = scheduleId === null ? undefined : await store.read(() => ask('schedule', scheduleId));
  return { session, schedule, activity: activity.of(id) };
}

/** Which live roots are asked for; undefined: all. */
function monitorFilter(filter: ListQuery): ((root: Execution) => boolean) | undefined {
  const { project, session, root: rootId } = filter;
  const { state } = chosen('state', filter.state, executionStates);
  const { kind } = chosen('kind', filter.kind, executionKinds);
  if (asksForOthers(filter, ['project', 'state', 'session', 'root', 'kind'])) return () => false;
  const wanted = [project, session, rootId, state, kind];
  if (wanted.every((value) => value === undefined)) return undefined;
  return (root) =>
    [root.project, root.runsIn, root.id, root.state, root.kind].every(
      (value, index) => wanted[index] === undefined || wanted[index] === value,
    );
}
