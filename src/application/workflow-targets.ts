import type { ErrorCode } from '../base/errors.ts';
import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { isOfSession } from '../ledger/dependency.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Graph } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { ApplicationContext } from './context.ts';

/** How many of what a session has had done are looked through for the one that is meant. */
const lookedThrough = 100;
/** How many ids may fit the beginning of one. */
const fittingIds = 20;

/** The run of a workflow that an agent means, or why none, in words for it. */
export type FoundTarget =
  | { readonly ok: true; readonly id: ExecutionId }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** Which run of a workflow is meant. */
export interface WantedTarget {
  readonly sessionId: SessionId;
  /** The id of a run or of an execution, or the beginning of one; absent: the latest closed one that fits. */
  readonly run: string | undefined;
  /** Which workflows come into question without an id. */
  readonly fits: (graph: Graph) => boolean;
  /** What such a workflow is called, for people. */
  readonly what: string;
}

/**
 * Finds the run of a workflow that an agent names: in the trees of its own session, above it (which is for the ledger to
 * refuse), or a run of its project that is of no session.
 */
export async function findTarget(
  context: Pick<ApplicationContext, 'store' | 'views'>,
  wanted: WantedTarget,
): Promise<FoundTarget> {
  const { run } = wanted;
  if (run === undefined) return context.store.read(() => latestClosed(wanted));
  const ids = await fitting(context, run);
  const known: Execution[] = [];
  for (const id of ids) {
    const row = await context.store.read(() => targetOf(id, wanted.sessionId));
    if (row) known.push(row);
  }
  const [first, second] = known;
  if (first && second) {
    const names = known.map(({ id }) => id).join(', ');
    return no('AMBIGUOUS_ID', `run: ${run} fits ${names}; give more of it.`);
  }
  if (first) return { ok: true, id: first.id };
  const begins = ids.some((id) => isId('run', id)) ? ' that has begun a workflow' : '';
  const message = `run: there is no run ${run}${begins} that this conversation may see; list_executions shows what it has set in motion.`;
  return no('NOT_FOUND', message);
}

async function fitting(
  { views }: Pick<ApplicationContext, 'views'>,
  text: string,
): Promise<(ExecutionId | RunId)[]> {
  if (isId('execution', text) || isId('run', text)) return [text];
  return text.startsWith('run_')
    ? views.resolvePrefix('run', text, fittingIds)
    : views.resolvePrefix('execution', text, fittingIds);
}

/** The workflow that an id means, if the session may see it. */
function* targetOf(id: ExecutionId | RunId, sessionId: SessionId): Asking<Execution | undefined> {
  const row = isId('run', id) ? yield* ask('latestOfRun', id, 0) : yield* ask('execution', id);
  if (!row || (isId('run', id) && row.kind === 'message')) return undefined;
  const session = yield* ask('session', sessionId);
  if (!session) return undefined;
  const isOfNobody = row.parentId === null && row.runId !== null && row.kind === 'workflow';
  if (isOfNobody && row.project === session.project) return row;
  if (yield* isOfSession(row, sessionId)) return row;
  return (yield* isAbove(row.id, session.hostedBy)) ? row : undefined;
}

function* isAbove(id: ExecutionId, from: ExecutionId | null): Asking<boolean> {
  for (let next = from; next !== null; next = (yield* ask('execution', next))?.parentId ?? null)
    if (next === id) return true;
  return false;
}

function* latestClosed({ sessionId, fits, what }: WantedTarget): Asking<FoundTarget> {
  for (const row of yield* ask('closedWorkflowsOf', sessionId, lookedThrough)) {
    const graph = yield* ask('graph', row.id);
    if (graph && fits(graph)) return { ok: true, id: row.id };
  }
  const message = `run: this conversation has set no ${what} in motion that is closed; give the id of one as "run".`;
  return no('NOT_FOUND', message);
}

function no(code: ErrorCode, message: string): FoundTarget {
  return { ok: false, code, message };
}
