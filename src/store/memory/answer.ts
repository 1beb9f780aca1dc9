import { assertNever } from '../../base/assert-never.ts';
import type { Execution } from '../../ledger/execution.ts';
import { isSettled } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Dispatch, Notification } from '../../ledger/notification.ts';
import { isPending } from '../../ledger/notice.ts';
import type { Question } from '../../ledger/questions.ts';
import type { Input } from '../../ledger/session.ts';
import { answerOfLine, answerOfLocks } from './admission-answers.ts';
import { answerOfGraphs } from './graph-answers.ts';
import { answerOfRuns } from './run-answers.ts';
import { answerOfSchedules } from './schedule-answers.ts';
import type { MemoryState } from './state.ts';
import { answerOfTurns, sentText } from './turn-answers.ts';

/** Answers the questions of rules by looking at every row: histories in memory are short. */
export function answerFrom(state: MemoryState, question: Question): unknown {
  switch (question.ask) {
    case 'execution':
      return state.rows('execution').get(question.args[0]);
    case 'session':
      return state.rows('session').get(question.args[0]);
    case 'turn':
      return state.rows('turn').get(question.args[0]);
    case 'notice':
      return state.rows('notice').get(question.args[0]);
    case 'steer':
      return state.rows('steer').get(question.args[0]);
    case 'run':
      return state.rows('run').get(question.args[0]);
    case 'input':
      return state.rows('input').get(question.args[0]);
    case 'openSteers':
      return [...state.rows('steer').values()]
        .filter((steer) => steer.sessionId === question.args[0] && steer.endedAt === null)
        .sort(byId);
    case 'runRow':
    case 'runsOf':
    case 'runOwnedBy':
    case 'latestOfRun':
    case 'messagesOfRun':
    case 'lastAnswer':
      return answerOfRuns(state, question);
    case 'nextInput':
      return queueOf(state, question.args[0]).find((input) => input.steerId === null);
    case 'inputs':
      return queueOf(state, question.args[0]);
    case 'headPosition':
      return queueOf(state, question.args[0])[0]?.position ?? 0;
    case 'tailPosition':
      return queueOf(state, question.args[0]).at(-1)?.position ?? 0;
    case 'limited':
      return [...state.rows('session').values()]
        .filter((session) => session.agent === question.args[0] && session.limit !== null)
        .sort(byId)
        .slice(0, 500);
    case 'sentText':
      return sentText(state, question.args[0]);
    case 'schedule':
    case 'scheduleNamed':
    case 'schedulesOf':
    case 'dependents':
    case 'occurrence':
    case 'occurrenceAt':
    case 'openOccurrences':
    case 'liveRunsOf':
    case 'lastRunOf':
    case 'sessionTotals':
      return answerOfSchedules(state, question);
    case 'notification':
      return state.rows('notification').get(question.args[0]);
    case 'latestNotification':
      return newest(state, (row) => row.transition === question.args[0]);
    case 'lastVerdictOf':
      return newest(
        state,
        ({ scheduleId, transition }) =>
          scheduleId === question.args[0] && (transition === 'failed' || transition === 'recovered'),
      );
    case 'owedDispatches':
      return dispatches(state, (row) => row.target === question.args[0] && row.state === 'owed').slice(
        0,
        question.args[1],
      );
    case 'openGroups':
      return dispatches(
        state,
        (row) => row.target === question.args[0] && row.state === 'sending' && row.leadId === row.id,
      );
    case 'dispatchesOf':
      return dispatches(state, (row) => row.leadId === question.args[0]);
    case 'owners':
    case 'refusedTurns':
    case 'activeTurnOf':
    case 'turnsIn':
      return answerOfTurns(state, question);
    case 'lanesHeld':
    case 'laneHolders':
    case 'admission':
    case 'firstInLine':
    case 'lastInLine':
    case 'lineHeads':
    case 'nextInLine':
      return answerOfLine(state, question);
    case 'workspace':
    case 'lockHolder':
    case 'lockNext':
    case 'lockLast':
    case 'lockWaiters':
      return answerOfLocks(state, question);
    case 'graph':
    case 'graphStep':
    case 'graphStepNamed':
    case 'graphSteps':
    case 'graphOfStep':
    case 'backingOff':
    case 'openEvaluationsOf':
      return answerOfGraphs(state, question);
    case 'owed':
    case 'batchesFor':
    case 'pendingOn':
    case 'pendingFor':
    case 'noticesOfSteer':
    case 'noticesOfContinuation':
    case 'noticeOf':
    case 'limitedNotices':
    case 'heldBackNotices':
      return ofNotices(state, question);
    default:
      return ofExecutions(state, question);
  }
}

type Of<Name extends Question['ask']> = Extract<Question, { readonly ask: Name }>;

function ofNotices(
  state: MemoryState,
  question: Of<
    | 'owed'
    | 'batchesFor'
    | 'pendingOn'
    | 'pendingFor'
    | 'noticesOfSteer'
    | 'noticesOfContinuation'
    | 'noticeOf'
    | 'limitedNotices'
    | 'heldBackNotices'
  >,
): unknown {
  const [id] = question.args;
  const notices = [...state.rows('notice').values()].sort(byId);
  switch (question.ask) {
    case 'owed': {
      const [, now, limit] = question.args;
      const isDue = (row: Notice): boolean =>
        row.state === 'owed' && row.mode === 'each' && row.notBefore <= now;
      return notices
        .filter((row) => row.sessionId === id && isDue(row))
        .sort(byOwed)
        .slice(0, limit);
    }
    case 'batchesFor': {
      const meant = notices.filter(
        (row) => row.sessionId === id && row.state === 'owed' && row.mode === 'batch',
      );
      return [...new Set(meant.map((row) => row.countedOn))]
        .sort(compare)
        .map((parent) => state.rows('execution').get(parent));
    }
    case 'pendingOn':
      return notices.filter((row) => row.countedOn === id && isPending(row.state));
    case 'pendingFor':
      return notices.filter((row) => row.sessionId === id && isPending(row.state)).sort(byOwed);
    case 'limitedNotices':
      return notices.filter(
        (row) =>
          row.rootId === id &&
          row.state === 'owed' &&
          (state.rows('session').get(row.sessionId)?.limit ?? null) !== null,
      );
    case 'heldBackNotices':
      return notices.filter(
        (row) => row.rootId === id && row.state === 'owed' && state.rows('admission').has(row.sessionId),
      );
    case 'noticesOfSteer':
      return notices.filter((row) => row.steerId === id);
    case 'noticesOfContinuation':
      return notices.filter((row) => row.continuationId === id);
    case 'noticeOf':
      return notices.find((row) => row.executionId === id);
    default:
      return assertNever(question);
  }
}

function ofExecutions(
  state: MemoryState,
  question: Of<
    | 'holders'
    | 'held'
    | 'openChildren'
    | 'countedChildren'
    | 'keyed'
    | 'latestKeyed'
    | 'liveTasks'
    | 'taskNamed'
    | 'openOwnedBy'
    | 'closedWorkflowsOf'
    | 'waitingIn'
  >,
): unknown {
  const [id] = question.args;
  const executions = [...state.rows('execution').values()].sort(byId);
  switch (question.ask) {
    case 'holders': {
      const edges = [...state.holds].filter((hold) => hold.executionId === id);
      return edges.map((hold) => hold.holderId).sort();
    }
    case 'held': {
      const edges = [...state.holds].filter((hold) => hold.holderId === id);
      const held = new Set<string>(edges.map((hold) => hold.executionId));
      return executions.filter((row) => held.has(row.id) && !row.closed);
    }
    case 'openChildren':
      return executions.filter((row) => row.parentId === id && !row.closed).slice(0, question.args[1]);
    case 'countedChildren':
      return executions
        .filter((row) => row.parentId === id && !row.closed && row.detachedAt === null)
        .slice(0, question.args[1]);
    case 'keyed': {
      const [, key, attempt] = question.args;
      return executions.find((row) => row.parentId === id && row.key === key && row.attempt === attempt);
    }
    case 'latestKeyed':
      return executions.findLast((row) => row.rootId === id && row.key === question.args[1]);
    case 'liveTasks':
      return executions.filter((row) => row.runsIn === id && row.kind === 'task' && !isSettled(row.state));
    case 'taskNamed': {
      const [, nativeId] = question.args;
      return executions.findLast(
        (row) => row.runsIn === id && row.kind === 'task' && row.nativeId === nativeId,
      );
    }
    case 'waitingIn':
      return executions.filter((row) => row.rootId === id && row.waiting !== null);
    case 'closedWorkflowsOf':
      return executions
        .filter((row) => row.closed && row.kind === 'workflow' && row.reportsTo === id)
        .sort((a, b) => (b.closedAt ?? 0) - (a.closedAt ?? 0) || compare(b.id, a.id))
        .slice(0, question.args[1]);
    case 'openOwnedBy':
      return executions.filter(
        (row) =>
          !row.closed && isOwn(row, id) && (row.detachedAt !== null || !isOwn(parentOf(state, row), id)),
      );
    default:
      return assertNever(question);
  }
}

function isOwn(row: Execution | undefined, sessionId: string): boolean {
  return row?.runsIn === sessionId || row?.cancelledBy === sessionId;
}

function parentOf(state: MemoryState, row: Execution): Execution | undefined {
  return row.parentId === null ? undefined : state.rows('execution').get(row.parentId);
}

function queueOf(state: MemoryState, sessionId: string): Input[] {
  return [...state.rows('input').values()]
    .filter((input) => input.sessionId === sessionId)
    .sort((a, b) => a.position - b.position || compare(a.executionId, b.executionId));
}

function newest(state: MemoryState, fits: (row: Notification) => boolean): Notification | undefined {
  return [...state.rows('notification').values()]
    .filter(fits)
    .sort((a, b) => a.at - b.at || byId(a, b))
    .at(-1);
}

function dispatches(state: MemoryState, fits: (row: Dispatch) => boolean): Dispatch[] {
  return [...state.rows('dispatch').values()].filter(fits).sort(byOwed);
}

function byOwed(
  a: Pick<Notice | Dispatch, 'owedAt' | 'id'>,
  b: Pick<Notice | Dispatch, 'owedAt' | 'id'>,
): number {
  return a.owedAt - b.owedAt || compare(a.id, b.id);
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compare(a.id, b.id);
}

/** The order of SQLite's binary collation, for ids. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
