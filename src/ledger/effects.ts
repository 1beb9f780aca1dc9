import type {
  ExecutionId,
  NoticeId,
  OccurrenceId,
  RunId,
  ScheduleId,
  SessionId,
  SteerId,
  TurnId,
} from '../base/ids.ts';
import type { Admission } from './line.ts';
import type { Execution, ExecutionUsage, Failure, SettledState } from './execution.ts';
import type { Graph, GraphStep, StepRef } from './graph.ts';
import type { Notice } from './notice.ts';
import type { Occurrence } from './occurrence.ts';
import type { Schedule } from './schedule.ts';
import type { Dispatch, Notification } from './notification.ts';
import type { RunRow } from './plan.ts';
import type { Input, Run, Session } from './session.ts';
import type { Steer, Turn, TurnOwner } from './turn.ts';
import type { Workspace } from './workspace.ts';

/** What may change of an execution after its registration, apart from its counts and its end. */
export type ExecutionPatch = Partial<
  Pick<
    Execution,
    | 'state'
    | 'waiting'
    | 'drain'
    | 'verdict'
    | 'cancelRequested'
    | 'detachedAt'
    | 'deadlineAt'
    | 'clockedUntil'
    | 'startedAt'
    | 'runsIn'
    | 'reportsTo'
    | 'mode'
    | 'nativeId'
    | 'usage'
    | 'wakeOnClose'
  >
>;

/**
 * What a wake-up is for. Handlers are idempotent; the target is a root, a run, a session, a schedule, an occurrence or a
 * notification; of `dispatch` the name of whom to tell; `slot` has one target, the line of those that are held back;
 * of `workspace` a run that has ended; of `controller` an execution of which a child has failed; of `step` a step of a workflow (`exe_…/INDEX`), and of `graph` the execution whose
 * program it is a step of.
 */
export type WakeKind =
  | 'session'
  | 'run'
  | 'drained'
  | 'deadline'
  | 'heartbeat'
  | 'question'
  | 'idle'
  | 'schedule'
  | 'occurrence'
  | 'notification'
  | 'dispatch'
  | 'slot'
  | 'workspace'
  | 'step'
  | 'graph'
  | 'controller';

/** One call that is owed. Of one kind and target there is never more than one. */
export interface Wake {
  readonly kind: WakeKind;
  readonly target: string;
  /** UTC milliseconds; 0 is at once. An earlier instant replaces a later one. */
  readonly at: number;
}

/** What people and programs are told, in commit order. An event belongs to at most one session. */
export interface LedgerEvent {
  readonly type: string;
  readonly at: number;
  readonly rootId: ExecutionId | null;
  readonly sessionId: SessionId | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * Everything a decision may do: the whole vocabulary. A store applies a list of these in one transaction, in order.
 * Counts of executions change by relative deltas only (`open`, `settle.openBy`, `failures`, `spend`); after each of them the store repeats the
 * one rule, `isClosed`, and cascades: a closed execution takes one from its parent and from each of its holders (not when
 * it was detached), writes `execution.closed`, fixes a root's outcome, and owes its `wakeOnClose`; a deficit that falls
 * to `drain` or below it owes a `drained` wake-up.
 */
export type Effect =
  | { readonly do: 'insertExecution'; readonly row: Execution }
  | { readonly do: 'patchExecution'; readonly id: ExecutionId; readonly set: ExecutionPatch }
  | { readonly do: 'open'; readonly id: ExecutionId; readonly by: number }
  | { readonly do: 'failures'; readonly id: ExecutionId; readonly by: number }
  | { readonly do: 'spend'; readonly id: ExecutionId; readonly by: ExecutionUsage }
  | {
      readonly do: 'settle';
      readonly id: ExecutionId;
      readonly state: SettledState;
      readonly at: number;
      readonly openBy: number;
      readonly error: Failure | null;
      readonly result: string | null;
      readonly answerPlace: number | null;
      readonly usage: ExecutionUsage | null;
    }
  | { readonly do: 'insertHold'; readonly executionId: ExecutionId; readonly holderId: ExecutionId }
  | { readonly do: 'insertNotice'; readonly row: Notice }
  | { readonly do: 'patchNotice'; readonly id: NoticeId; readonly set: Partial<Notice> }
  | { readonly do: 'insertSession'; readonly row: Session }
  | { readonly do: 'patchSession'; readonly id: SessionId; readonly set: Partial<Session> }
  | { readonly do: 'insertTurn'; readonly row: Turn }
  | { readonly do: 'patchTurn'; readonly id: TurnId; readonly set: Partial<Turn> }
  | { readonly do: 'insertOwner'; readonly row: TurnOwner }
  | { readonly do: 'insertInput'; readonly row: Input }
  | { readonly do: 'patchInput'; readonly id: ExecutionId; readonly set: Partial<Input> }
  | { readonly do: 'deleteInput'; readonly id: ExecutionId }
  | { readonly do: 'insertSteer'; readonly row: Steer }
  | { readonly do: 'patchSteer'; readonly id: SteerId; readonly set: Partial<Steer> }
  | { readonly do: 'insertRun'; readonly row: Run }
  | { readonly do: 'patchRun'; readonly id: RunId; readonly set: Partial<Run> }
  | { readonly do: 'insertRows'; readonly runId: RunId; readonly rows: readonly RunRow[] }
  | { readonly do: 'copyRows'; readonly runId: RunId; readonly from: RunId }
  | { readonly do: 'insertSchedule'; readonly row: Schedule }
  | { readonly do: 'patchSchedule'; readonly id: ScheduleId; readonly set: Partial<Schedule> }
  | { readonly do: 'insertOccurrence'; readonly row: Occurrence }
  | { readonly do: 'patchOccurrence'; readonly id: OccurrenceId; readonly set: Partial<Occurrence> }
  | { readonly do: 'insertNotification'; readonly row: Notification }
  | { readonly do: 'patchNotification'; readonly id: string; readonly set: Partial<Notification> }
  | { readonly do: 'insertDispatch'; readonly row: Dispatch }
  | { readonly do: 'patchDispatch'; readonly id: string; readonly set: Partial<Dispatch> }
  | { readonly do: 'insertAdmission'; readonly row: Admission }
  | { readonly do: 'patchAdmission'; readonly id: SessionId; readonly set: Partial<Admission> }
  | { readonly do: 'deleteAdmission'; readonly id: SessionId }
  | { readonly do: 'insertWorkspace'; readonly row: Workspace }
  | { readonly do: 'patchWorkspace'; readonly id: RunId; readonly set: Partial<Workspace> }
  | { readonly do: 'insertGraph'; readonly row: Graph }
  | { readonly do: 'patchGraph'; readonly id: ExecutionId; readonly set: Partial<Graph> }
  | { readonly do: 'insertGraphStep'; readonly row: GraphStep }
  | { readonly do: 'patchGraphStep'; readonly ref: StepRef; readonly set: Partial<GraphStep> }
  | { readonly do: 'wake'; readonly wake: Wake }
  | { readonly do: 'event'; readonly event: LedgerEvent };
