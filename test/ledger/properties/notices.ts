import { isSettled } from '../../../src/ledger/execution.ts';
import type { Notice } from '../../../src/ledger/notice.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';

function checkWho({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), (notice) => {
    const of = after.executions.get(notice.executionId);
    if (!of || !isSettled(of.state)) return `${short(notice.id)} is about something that has not settled`;
    if (of.mode === 'none') return `${short(notice.id)} is about ${short(of.id)}, which owes nothing`;
    if (of.kind === 'late') return `${short(notice.id)} is about late activity`;
    if (notice.sessionId !== of.reportsTo) return `${short(notice.id)} goes to ${short(notice.sessionId)}`;
    return notice.countedOn === (of.parentId ?? of.id)
      ? undefined
      : `${short(notice.id)} is counted elsewhere`;
  });
}

/** Where a notice is, said again by what it names. */
function misplaced(state: State, notice: Notice): string | undefined {
  const steer = notice.steerId === null ? undefined : state.steers.get(notice.steerId);
  const continuation =
    notice.continuationId === null ? undefined : state.executions.get(notice.continuationId);
  switch (notice.state) {
    case 'owed':
      return notice.steerId === null && notice.continuationId === null ? undefined : 'is owed and on its way';
    case 'claimed':
      return steer?.endedAt === null && !continuation
        ? undefined
        : `is claimed by a steer that is ${steer?.state}`;
    case 'handed':
      return continuation && !isSettled(continuation.state)
        ? undefined
        : `is handed to ${short(continuation?.id)}, which is ${continuation?.state}`;
    case 'handled':
      return continuation?.state === 'succeeded' ? undefined : `is handled by what is ${continuation?.state}`;
    case 'waived':
      return notice.reason && notice.actor ? undefined : 'is waived by nobody';
  }
}

function checkPlace({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), (notice) => {
    const why = misplaced(after, notice);
    return why && `${short(notice.id)} ${why}`;
  });
}

function checkHandlers({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), (notice) => {
    if (notice.continuationId === null) return undefined;
    const by = after.executions.get(notice.continuationId);
    if (by?.kind !== 'continuation') return `${short(notice.id)} is handled by a ${by?.kind}`;
    if (by.parentId !== notice.countedOn)
      return `${short(by.id)} is no child of what ${short(notice.id)} is counted on`;
    if (by.state === 'succeeded' && notice.state !== 'handled')
      return `${short(notice.id)} is ${notice.state}, though ${short(by.id)} succeeded`;
    return by.runsIn === notice.sessionId ? undefined : `${short(notice.id)} went to ${short(by.runsIn)}`;
  });
}

/** Whether a settled execution must have told somebody, from what is fixed at birth and who cancelled it. */
function checkOwed(moment: Moment): string | undefined {
  const { before, after } = moment;
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (!isSettled(row.state) || (was && isSettled(was.state))) return undefined;
    if (row.mode === 'none' || row.reportsTo === null || row.detachedAt !== null) return undefined;
    const by = row.cancelRequested?.actor.kind;
    const above = row.parentId === null ? row : after.executions.get(row.parentId);
    const isSilent = by === 'parent' || by === 'agent' || (above?.cancelRequested ?? null) !== null;
    const notice = after.noticeOf.get(row.id);
    if (isSilent && notice) return `${short(row.id)} was cancelled from above, and owes ${short(notice.id)}`;
    return isSilent || notice ? undefined : `${short(row.id)} ended, and ${short(row.reportsTo)} is not told`;
  });
}

/** Background work that holds somebody tells the agent of its end. */
function checkTasks({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (was || row.kind !== 'task' || row.parentId === null) return undefined;
    const parent = after.executions.get(row.parentId);
    const isTold = parent?.background === 'wait';
    return (row.mode === 'each') === isTold ? undefined : `${short(row.id)} reports as ${row.mode}`;
  });
}

/** Pending results of a cancelled parent: none is owed, and a claimed one is already in the agent's hands. */
function checkCancelled({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), (notice) => {
    const on = after.executions.get(notice.countedOn);
    if (!on?.cancelRequested) return undefined;
    if (notice.state === 'owed') return `${short(notice.id)} is owed to a cancelled ${short(on.id)}`;
    const steer = notice.steerId === null ? undefined : after.steers.get(notice.steerId);
    const isUnwritten = notice.state === 'claimed' && steer?.state === 'claimed';
    return isUnwritten ? `${short(notice.id)} of a cancelled tree may still be written` : undefined;
  });
}

function checkStopped({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), (notice) =>
    notice.state === 'owed' && after.sessions.get(notice.sessionId)?.state === 'stopped'
      ? `${short(notice.id)} is owed to a stopped session`
      : undefined,
  );
}

/** Given up only after all attempts, and then the root must say so. */
function checkGivenUp(moment: Moment): string | undefined {
  const { before, after } = moment;
  return firstOf(changed(before.notices, after.notices), ({ was, row }) => {
    if (row.attempt > 2 && row.state !== 'waived') return `${short(row.id)} has ${row.attempt} attempts`;
    if (row.state !== 'waived' || was?.state === 'waived') return undefined;
    const isFinal = commandIf(moment, 'sendFailed')?.isFinal === true;
    if (row.reason === 'undeliverable' && (was?.attempt ?? 0) < 2 && !isFinal)
      return `${short(row.id)} was given up after ${was?.attempt} attempts`;
    const isGivenUp = ['undeliverable', 'session_gone', 'capacity', 'login'].includes(row.reason ?? '');
    const root = after.executions.get(row.rootId);
    return isGivenUp && root && !root.closed && root.verdict === null
      ? `${short(root.id)} does not say so`
      : undefined;
  });
}

/** Who is told, where each notice is, and who answers for it. */
export const noticeProperties: readonly Property[] = [
  {
    name: 'a notice belongs to a settled execution that reports, and is counted on its parent',
    check: checkWho,
  },
  { name: 'a notice is in exactly one place', check: checkPlace },
  {
    name: 'the handler of a notice is a continuation below what it was counted on, in its session',
    check: checkHandlers,
  },
  { name: 'an end that must be told owes a notice, and one from above does not', check: checkOwed },
  { name: 'background work that holds somebody reports its end', check: checkTasks },
  { name: 'nothing of a cancelled parent is owed or may still be written', check: checkCancelled },
  { name: 'nothing is owed to a stopped session', check: checkStopped },
  { name: 'a notice is given up only after all attempts, and its root says so', check: checkGivenUp },
];
