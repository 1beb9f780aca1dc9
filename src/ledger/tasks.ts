import type { ExecutionId, FreshIds, SessionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Actor, CancelRequest, Execution, SettledState } from './execution.ts';
import { isSettled } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { distinct, newExecution } from './registration.ts';
import { rules } from './rules.ts';
import type { Session } from './session.ts';
import { end } from './settle.ts';

/** Background work as the agent names it. */
export interface TaskSeen {
  readonly taskId: string;
  readonly name: string;
}

/** Background work of the agent CLI began while its turn runs. */
export function* taskStarted(command: {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly task: TaskSeen;
  readonly fresh: FreshIds;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const session = yield* ask('session', command.sessionId);
  if (!session || (yield* ask('taskNamed', session.id, command.task.taskId))) return draft.done(false);
  const id = session.wakeTurn ?? session.laneTurn ?? session.lastTurn;
  const owners = id === null ? [] : yield* ask('owners', id);
  registerTask(draft, session, owners, { ...command.task, id: command.fresh.at('execution', 0) });
  return draft.done(true);
}

/** No instant: the agent hears of the end by waking for it, and nobody else tells it while its process lives. */
export const untilItWakes = Number.MAX_SAFE_INTEGER;

/** Background work of the agent CLI ended: it settles owing a notice (R5). */
export function* taskEnded(command: {
  readonly now: number;
  readonly sessionId: SessionId;
  readonly taskId: string;
  readonly status: SettledState;
  readonly result: string;
  /** Whether the agent wakes by itself for such an end. Default no. */
  readonly wakesByItself?: boolean;
  readonly fresh: FreshIds;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const task = yield* ask('taskNamed', command.sessionId, command.taskId);
  if (!task || isSettled(task.state)) return draft.done(false);
  const error = command.status === 'failed' ? { code: 'AGENT_FAILED', message: command.result } : null;
  // What was asked to stop, and did, has not failed.
  const state = task.cancelRequested && command.status !== 'succeeded' ? 'cancelled' : command.status;
  yield* end(
    draft,
    task,
    { state, result: command.result, error },
    command.fresh.at('notice', 0),
    command.wakesByItself ? untilItWakes : command.now,
  );
  return draft.done(true);
}

/** What the agent still runs by itself becomes `task` executions in the transaction that settles its turn (R6). */
export function* registerTasks(
  draft: Draft,
  session: Session,
  owners: readonly Execution[],
  command: { readonly tasks: readonly TaskSeen[]; readonly fresh: FreshIds },
): Asking<void> {
  if (!rules.taskSnapshot) return;
  let place = 0;
  // A driver may name one twice.
  for (const task of new Map(command.tasks.map((each) => [each.taskId, each])).values()) {
    if (yield* ask('taskNamed', session.id, task.taskId)) continue;
    const id = command.fresh.at('execution', 100 + place++);
    registerTask(draft, session, owners, { ...task, id, isTurnOver: true });
  }
}

const parentActor: Actor = { kind: 'parent' };

/** What an owner's turn has left running is ended with it, where that is what its message asked for. */
export function* cancelTasks(draft: Draft, session: Session, owners: readonly Execution[]): Asking<void> {
  for (const task of yield* ask('liveTasks', session.id)) {
    const parent = owners.find((owner) => owner.id === task.parentId);
    if (parent?.background !== 'cancel' || task.cancelRequested || task.detachedAt !== null) continue;
    draft.patch(task.id, { cancelRequested: leftBehind(draft) });
    draft.wake('deadline', task.id);
  }
}

function leftBehind(draft: Draft): CancelRequest {
  return { actor: parentActor, at: draft.now, reason: 'its turn has ended' };
}

/** Registers one background task under the turn's primary owner, held by the others. */
function registerTask(
  draft: Draft,
  session: Session,
  owners: readonly Execution[],
  // `isTurnOver`: it was left behind by a turn that has ended.
  task: TaskSeen & { readonly id: ExecutionId; readonly isTurnOver?: boolean },
): void {
  const unsettled = owners.filter((owner) => !isSettled(owner.state));
  // It lives already, so it is counted even below what was cancelled, and is ended with it.
  const parent = unsettled.find((owner) => owner.kind !== 'late') ?? unsettled[0] ?? null;
  const above = (parent ?? owners[0])?.cancelRequested ?? null;
  const isLeft = task.isTurnOver === true && parent?.background === 'cancel';
  const cancelRequested = above ? { ...above, actor: parentActor } : isLeft ? leftBehind(draft) : null;
  const counted = parent !== null && parent.background === 'wait';
  const row = newExecution(draft.now, parent, parent ? 'turn' : 'none', {
    id: task.id,
    kind: 'task',
    name: task.name,
    project: session.project,
    runsIn: session.id,
    reportsTo: rules.taskNotice && counted ? session.id : null,
    mode: rules.taskNotice && counted ? 'each' : 'none',
    cancelledBy: session.id,
    nativeId: task.taskId,
    detachedAt: parent && parent.background === 'detach' ? draft.now : null,
    cancelRequested,
  });
  if (cancelRequested) draft.wake('deadline', above && parent ? parent.id : row.id);
  const others = rules.holders ? unsettled.map((owner) => owner.id) : [];
  draft.register(row, parent ? distinct(others, parent.id) : []);
}
