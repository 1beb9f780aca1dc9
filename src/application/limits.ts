import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Execution } from '../ledger/execution.ts';
import { isSettled, waitsForAdmission } from '../ledger/execution.ts';
import type { BackOff, HeldBack } from '../ledger/holding.ts';
import type { TurnLimits } from '../ledger/line.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Limit } from '../ledger/session.ts';
import { describeHeldBack } from '../ledger/slots.ts';
import { describeLock } from '../ledger/workspace-lock.ts';
import type { Tree } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import type { LimitedTree } from './wire.ts';

/**
 * Adds to a tree what its owed results wait for: the limits of the sessions that they are owed to, and the slots that those
 * wait for. Who has the slots and the workspaces that are waited for is said as it is now.
 */
export async function withLimits(
  { store, limits }: Pick<ApplicationContext, 'store' | 'limits'>,
  rows: Tree,
): Promise<LimitedTree> {
  const owed = rows.notices.filter((notice) => notice.state === 'owed').map((notice) => notice.sessionId);
  const usage = new Map<SessionId, Limit>();
  const heldBack = new Map<SessionId, HeldBack>();
  for (const id of new Set(owed)) {
    const session = await store.read(() => ask('session', id));
    if (session?.limit) usage.set(id, session.limit);
    const held = await store.read(() => heldBackOf(id, limits));
    if (held) heldBack.set(id, held);
  }
  const executions: Execution[] = [];
  for (const row of rows.executions) {
    const isHeldBack = row.waiting !== null && waitsForAdmission(row.waiting);
    executions.push(isHeldBack ? await store.read(() => toldNow(row, limits)) : row);
  }
  const workflows = await store.read(() => workflowsIn(rows.executions));
  return { ...rows, executions, limits: usage, heldBack, workflows };
}

/** Of one workflow, so many steps between two attempts are named. */
const mostBackOffs = 20;

/** The unsettled workflows among these, each with its steps between two attempts. */
function* workflowsIn(rows: readonly Execution[]): Asking<Map<ExecutionId, readonly BackOff[]>> {
  const found = new Map<ExecutionId, readonly BackOff[]>();
  for (const row of rows) {
    const mayBe = row.kind === 'workflow' || row.kind === 'evaluation' || row.kind === 'step';
    if (!mayBe || isSettled(row.state) || !(yield* ask('graph', row.id))) continue;
    const backOffs: BackOff[] = [];
    for (const step of yield* ask('backingOff', row.id, mostBackOffs)) {
      const last = step.currentId === null ? undefined : yield* ask('execution', step.currentId);
      const { plan, tries: attempt, reason, retryAt } = step;
      const since = last?.endedAt ?? row.createdAt;
      backOffs.push({ step: plan.name, attempt, code: reason ?? 'FAILED', since, until: retryAt ?? since });
    }
    found.set(row.id, backOffs);
  }
  return found;
}

/** Whether a session waits for a turn slot, and who has those. */
export function* heldBackOf(id: SessionId, limits: TurnLimits | undefined): Asking<HeldBack | undefined> {
  const row = yield* ask('admission', id);
  return row && { since: row.since, text: yield* describeHeldBack(limits ?? {}, row) };
}

/** The holders may have changed since it was written what the execution waits for. */
function* toldNow(row: Execution, limits: TurnLimits | undefined): Asking<Execution> {
  const { waiting, runsIn, runId } = row;
  if (!waiting) return row;
  const held = waiting.for === 'slot' && runsIn !== null ? yield* heldBackOf(runsIn, limits) : undefined;
  if (held) return { ...row, waiting: { ...waiting, text: held.text } };
  const workspace =
    waiting.for === 'workspace' && runId !== null ? yield* ask('workspace', runId) : undefined;
  const holder = workspace?.lock ? yield* ask('lockHolder', workspace.lock) : undefined;
  return holder ? { ...row, waiting: { ...waiting, text: describeLock(holder) } } : row;
}
