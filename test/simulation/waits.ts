import type { ExecutionId, SessionId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { CommitContext } from './checks-context.ts';
import type { StepAlone } from './launching-tools.ts';
import { describe } from './observer.ts';
import type { World } from './world.ts';

/**
 * What waits for something else to be closed begins nothing before; what scores a workflow by itself is there in the very moment in
 * which that is closed, once; and a step that somebody asks for alone does not run beside itself.
 */
export function checkWaits(context: CommitContext): void {
  const { before, after } = context;
  if (before.executions.length !== after.executions.length) {
    const known = new Set(before.executions.map((row) => row.id));
    for (const row of after.executions) {
      if (known.has(row.id)) continue;
      checkBegun(context, row);
      checkAlone(context, row);
    }
  }
  const old = new Map(before.executions.map((row) => [row.id, row]));
  for (const row of after.executions)
    if (row.closed && !old.get(row.id)?.closed && after.graphs.length > 0) checkScored(context, row);
}

/** What something waits for: an evaluation by its workflow, a review by its message. */
function targetOf({ graphs, runs }: MemorySnapshot, { id, kind }: Execution): ExecutionId | null {
  if (kind === 'evaluation') return graphs.find((graph) => graph.id === id)?.of ?? null;
  if (kind === 'review') return runs.find(({ ownerId }) => ownerId === id)?.plan[0]?.of ?? null;
  return null;
}

function checkBegun({ world, after }: CommitContext, row: Execution): void {
  const parent = after.executions.find(({ id }) => id === row.parentId);
  const targetId = parent && targetOf(after, parent);
  const target = targetId && after.executions.find(({ id }) => id === targetId);
  if (!parent || !target || target.closed) return;
  world.violations.report('EARLY', `${row.name} of ${parent.name} begins while ${describe(target)} is open`);
}

/** What scores a workflow is registered when that is closed, unless somebody has ended it, or what is above both is over. */
function checkScored({ world, before, after }: CommitContext, row: Execution): void {
  const graph = after.graphs.find(({ id }) => id === row.id);
  const by = graph?.settings.evaluation;
  // A run sends what scores its workflow itself.
  if (!by || row.runId !== null) return;
  const scores = after.graphs.filter(({ of, workflow }) => of === row.id && workflow === by.workflow);
  const parent = before.executions.find(({ id }) => id === row.parentId);
  const mayBegin =
    !parent ||
    (!parent.closed && parent.cancelRequested === null && !['cancelled', 'lost'].includes(parent.state));
  const wanted = row.cancelRequested === null && mayBegin ? 1 : 0;
  if (scores.length !== wanted)
    world.violations.report(
      'FLOW',
      `${describe(row)} is closed and scored ${scores.length} times, of ${wanted}`,
    );
}

/** Nothing of the same step is at work in what the same conversation has begun: neither alone nor within its workflow. */
function checkAlone({ world, before, after }: CommitContext, row: Execution): void {
  if (row.kind !== 'step' || !after.graphs.some(({ id }) => id === row.id)) return;
  const [, workflow, step, group] = /^step:([^/]+)\/([^:]+)(?::(.*))?$/.exec(row.key ?? '') ?? [];
  const rows = new Map(before.executions.map((each) => [each.id, each]));
  const isSame = (other: Execution): boolean => {
    if (other.kind === 'step' && other.key === row.key) return other.reportsTo === row.reportsTo;
    const whole = other.parentId === null ? undefined : rows.get(other.parentId);
    const top = group === undefined || !whole?.parentId ? whole : rows.get(whole.parentId);
    const isWithin = top?.name === workflow && top?.kind === 'workflow' && other.name === step;
    return isWithin && top?.reportsTo === row.reportsTo && isAtWork(before, top);
  };
  const beside = before.executions.find((other) => isAtWork(before, other) && isSame(other));
  if (beside) world.violations.report('TWICE', `${row.name} runs beside ${describe(beside)}, the same step`);
}

function isAtWork({ executions }: MemorySnapshot, row: Execution): boolean {
  if (isSettled(row.state) || row.cancelRequested !== null) return false;
  // What holds nothing any more is not found below what may be closed by now.
  for (let at: Execution | undefined = row; at; ) {
    if (at.detachedAt !== null) return false;
    const { parentId }: Execution = at;
    at = executions.find(({ id }) => id === parentId);
  }
  return true;
}

/** What happened while a call was answered. */
interface During {
  readonly before: MemorySnapshot;
  readonly after: MemorySnapshot;
}

/** Asked for a step, an agent is answered with one that was at work meanwhile: that very step. */
export function checkJoined(
  { violations }: World,
  { before, after, id, step }: During & { readonly id: ExecutionId; readonly step: StepAlone },
): void {
  const row = after.executions.find((each) => each.id === id);
  const was = before.executions.find((each) => each.id === id);
  const what = `${step.workflow}/${step.step}`;
  if (!row) return violations.report('JOINED', `${what} is answered with ${id}, which does not exist`);
  if (was && (isSettled(was.state) || was.cancelRequested))
    violations.report('JOINED', `${what} is answered with ${describe(row)}, which was over before`);
  const whole = after.graphs.find((graph) => graph.id === row.parentId);
  const isWithin = whole !== undefined && row.name === step.step;
  const isAlone = row.key === `step:${what}${step.group === null ? '' : `:${step.group}`}`;
  if (!isWithin && !isAlone)
    violations.report('JOINED', `${what} is answered with ${describe(row)}, which is something else`);
}

/** A wait that was refused would never have ended: what was to be waited for needs what the agent works at. */
export function checkRefusedWait(
  { violations }: World,
  call: During & { readonly sessionId: SessionId; readonly targetId: string | undefined },
): void {
  const { before, after, sessionId, targetId } = call;
  const isNeeded = [before, after].some((state) => {
    const session = state.sessions.find(({ id }) => id === sessionId);
    // What a controller's agent gives out comes back together, also to whatever shares its turn later: its own step does.
    const host = session?.delivery === 'controller' ? session.hostedBy : null;
    const working = state.executions.filter(
      (row) => !row.closed && (row.runsIn === sessionId || row.id === host),
    );
    const needs = needsOf(state, targetId ?? '');
    return working.some(({ id }) => needs.has(id));
  });
  if (!isNeeded)
    violations.report('REFUSED', `a wait for ${targetId} is refused, which needs nobody who asked`);
}

/** Everything that must be closed before this can be, itself included. */
function needsOf({ executions, holds, workspaces }: MemorySnapshot, from: string): Set<string> {
  const needed = new Set([from]);
  for (const id of needed) {
    const row = executions.find((each) => each.id === id);
    if (!row || row.closed) continue;
    if (row.waiting?.on !== undefined) needed.add(row.waiting.on);
    if (row.waiting?.for === 'workspace') {
      const lock = workspaces.find(({ runId }) => runId === row.runId)?.lock;
      const holder = workspaces.find((other) => other.isHeld && other.lock === lock)?.runId;
      for (const other of executions) if (other.runId === holder && !other.closed) needed.add(other.id);
    }
    for (const below of executions) if (below.parentId === id && !below.closed) needed.add(below.id);
    for (const edge of holds) if (edge.holderId === id) needed.add(edge.executionId);
  }
  return needed;
}
