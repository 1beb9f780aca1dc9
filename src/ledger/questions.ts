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
import type { Execution } from './execution.ts';
import type { Graph, GraphStep, StepRef } from './graph.ts';
import type { Notice } from './notice.ts';
import type { Occurrence } from './occurrence.ts';
import type { Schedule } from './schedule.ts';
import type { Dispatch, Notification, Transition } from './notification.ts';
import type { RunRow } from './plan.ts';
import type { Input, Run, Session } from './session.ts';
import type { Steer, Turn } from './turn.ts';
import type { Workspace } from './workspace.ts';

/**
 * What a rule may ask of the state, as data: a store answers inside the transaction that applies the decision, so a
 * rule never works on something stale. Lists are bounded by `limit` where a tree could make them long.
 */
export interface Questions {
  execution: { args: [id: ExecutionId]; answer: Execution | undefined };
  session: { args: [id: SessionId]; answer: Session | undefined };
  turn: { args: [id: TurnId]; answer: Turn | undefined };
  /** Executions that own the turn, in the order in which they joined. */
  owners: { args: [turn: TurnId]; answer: Execution[] };
  /** How many turns owned by the execution ended as `refused`, this one not counted. */
  refusedTurns: { args: [execution: ExecutionId, but: TurnId]; answer: number };
  /** A turn that has not ended and is owned by this execution. */
  activeTurnOf: { args: [execution: ExecutionId]; answer: Turn | undefined };
  /** Who holds a share in this execution. */
  holders: { args: [execution: ExecutionId]; answer: ExecutionId[] };
  /** Unclosed executions that this one holds (edges from it to older ones point the other way). */
  held: { args: [holder: ExecutionId]; answer: Execution[] };
  openChildren: { args: [parent: ExecutionId, limit: number]; answer: Execution[] };
  /** Unclosed children that are counted, oldest first: those that were detached are not. */
  countedChildren: { args: [parent: ExecutionId, limit: number]; answer: Execution[] };
  /** The execution registered under a parent with this key and attempt. */
  keyed: { args: [parent: ExecutionId, key: string, attempt: number]; answer: Execution | undefined };
  /** The latest execution registered under the root with this key, for `join: 'all'`. */
  latestKeyed: { args: [root: ExecutionId, key: string]; answer: Execution | undefined };
  input: { args: [message: ExecutionId]; answer: Input | undefined };
  /** The first message of the queue that is not being steered. */
  nextInput: { args: [session: SessionId]; answer: Input | undefined };
  /** The smallest queue position in use, or 0. */
  headPosition: { args: [session: SessionId]; answer: number };
  tailPosition: { args: [session: SessionId]; answer: number };
  notice: { args: [id: NoticeId]; answer: Notice | undefined };
  /** Owed, mode `each`, due at `now`, oldest first. */
  owed: { args: [session: SessionId, now: number, limit: number]; answer: Notice[] };
  /** On what the batch results are counted that are owed to this session, oldest first. */
  batchesFor: { args: [session: SessionId]; answer: Execution[] };
  /** Owed or claimed, counted on this execution. */
  pendingOn: { args: [execution: ExecutionId]; answer: Notice[] };
  /** Owed or claimed, destined to this session. */
  pendingFor: { args: [session: SessionId]; answer: Notice[] };
  noticesOfSteer: { args: [steer: SteerId]; answer: Notice[] };
  noticesOfContinuation: { args: [continuation: ExecutionId]; answer: Notice[] };
  noticeOf: { args: [execution: ExecutionId]; answer: Notice | undefined };
  steer: { args: [id: SteerId]; answer: Steer | undefined };
  /** Claimed or written, of this session. */
  openSteers: { args: [session: SessionId]; answer: Steer[] };
  /** Unsettled executions of kind `task` of this session, oldest first. */
  liveTasks: { args: [session: SessionId]; answer: Execution[] };
  /** The newest task of the session that the agent names so. */
  taskNamed: { args: [session: SessionId, nativeId: string]; answer: Execution | undefined };
  /** Messages queued in the session, those being steered included. */
  inputs: { args: [session: SessionId]; answer: Input[] };
  /**
   * Unclosed executions that end with the session: roots that run in it, and whatever it owns or runs whose parent does
   * not, or which was detached. Parents first.
   */
  openOwnedBy: { args: [session: SessionId]; answer: Execution[] };
  /** Sessions of an agent that wait for a usage limit or a sign-in; 500 at most. */
  limited: { args: [agent: string]; answer: Session[] };
  /** Owed notices of the tree that are destined to a session with a limit. */
  limitedNotices: { args: [root: ExecutionId]; answer: Notice[] };
  /** Unsettled executions of the tree that wait for something, by their field. */
  waitingIn: { args: [root: ExecutionId]; answer: Execution[] };
  /** The text with which this message went to its agent last, alone or into a running turn. */
  sentText: { args: [message: ExecutionId]; answer: string | undefined };
  run: { args: [id: RunId]; answer: Run | undefined };
  /** Running runs whose messages go to this session. */
  runsOf: { args: [session: SessionId]; answer: Run[] };
  /** The run that is the program of this execution, ended or not. */
  runOwnedBy: { args: [execution: ExecutionId]; answer: Run | undefined };
  /** One row of a run with rows, from 0. */
  runRow: { args: [run: RunId, index: number]; answer: RunRow | undefined };
  schedule: { args: [id: ScheduleId]; answer: Schedule | undefined };
  /** The schedule of this name that is not removed. */
  scheduleNamed: { args: [project: string, name: string]; answer: Schedule | undefined };
  /** Schedules of a project that are not removed, by name. */
  schedulesOf: { args: [project: string]; answer: Schedule[] };
  /** Schedules that are not removed and run after this one (`project/name`), by id. */
  dependents: { args: [fullName: string]; answer: Schedule[] };
  occurrence: { args: [id: OccurrenceId]; answer: Occurrence | undefined };
  occurrenceAt: { args: [schedule: ScheduleId, instant: number]; answer: Occurrence | undefined };
  /** Due, waiting or claimed, in the order of their instants: those that wait for their turn, or the others. */
  openOccurrences: { args: [schedule: ScheduleId, inTurn: boolean, limit: number]; answer: Occurrence[] };
  /** Running runs of a schedule, by id. */
  liveRunsOf: { args: [schedule: ScheduleId]; answer: Run[] };
  /** The run of a schedule that ended last. */
  lastRunOf: { args: [schedule: ScheduleId]; answer: Run | undefined };
  /** What the conversation has had: executions that ran in it by turns of their own, and the tokens of those. */
  sessionTotals: { args: [session: SessionId]; answer: { readonly turns: number; readonly tokens: number } };
  notification: { args: [id: string]; answer: Notification | undefined };
  /** The newest of this transition. */
  latestNotification: { args: [transition: Transition]; answer: Notification | undefined };
  /** The newest of a schedule that says `failed` or `recovered`. */
  lastVerdictOf: { args: [schedule: ScheduleId]; answer: Notification | undefined };
  /** Owed to this target and in no group yet, oldest first. */
  owedDispatches: { args: [target: string, limit: number]; answer: Dispatch[] };
  /** The leaders of the groups of this target that are on their way, oldest first. */
  openGroups: { args: [target: string]; answer: Dispatch[] };
  /** The dispatches of a group, oldest first. */
  dispatchesOf: { args: [leadId: string]; answer: Dispatch[] };
  /** The latest attempt of one message of a run. */
  latestOfRun: { args: [run: RunId, index: number]; answer: Execution | undefined };
  /** The attempts of the messages of a run, by index and attempt: the first ones, since there may be as many as rows. */
  messagesOfRun: { args: [run: RunId, limit: number]; answer: Execution[] };
  /**
   * What the agent of a session answered last, in the tree of this root or, without one, in all that is closed: the message
   * itself, or a later handling of results.
   */
  lastAnswer: { args: [session: SessionId, root: ExecutionId | null]; answer: string | undefined };
  /** How many sessions have a turn that has not ended: all, those of an agent, or those of a project. */
  lanesHeld: { args: [of: 'all' | 'agent' | 'project', name: string]; answer: number };
  /** Those sessions, in the order in which their turns began. */
  laneHolders: { args: [limit: number]; answer: Session[] };
  /** Unended turns that have an owner in this tree, in the order in which they began. */
  turnsIn: { args: [root: ExecutionId]; answer: Turn[] };
  admission: { args: [session: SessionId]; answer: Admission | undefined };
  /** Whoever has waited for a turn slot the longest. */
  firstInLine: { args: []; answer: Admission | undefined };
  /** The greatest place in the line, or 0. */
  lastInLine: { args: []; answer: number };
  /** The first in line of each agent in each project. */
  lineHeads: { args: []; answer: Admission[] };
  /** The next of the same agent and project, behind a place. */
  nextInLine: { args: [agent: string, project: string, place: number]; answer: Admission | undefined };
  /** Owed notices of the tree that are destined to a session in line. */
  heldBackNotices: { args: [root: ExecutionId]; answer: Notice[] };
  workspace: { args: [run: RunId]; answer: Workspace | undefined };
  /** Who holds a lock; who waits for it next, behind a place; the greatest place in its line, or 0. */
  lockHolder: { args: [lock: string]; answer: Workspace | undefined };
  lockNext: { args: [lock: string, place: number]; answer: Workspace | undefined };
  lockLast: { args: [lock: string]; answer: number };
  /** Of the running runs of this session, those in line for a lock. */
  lockWaiters: { args: [session: SessionId]; answer: Workspace[] };
  /** Workflows that report to this session and are closed, those that closed last first. */
  closedWorkflowsOf: { args: [session: SessionId, limit: number]; answer: Execution[] };
  graph: { args: [id: ExecutionId]; answer: Graph | undefined };
  graphStep: { args: [ref: StepRef]; answer: GraphStep | undefined };
  graphStepNamed: { args: [graph: ExecutionId, name: string]; answer: GraphStep | undefined };
  /** Every step of a graph, by index: for what looks at the whole once, never for the end of a step. */
  graphSteps: { args: [graph: ExecutionId]; answer: GraphStep[] };
  /** The step whose latest attempt this is. */
  graphOfStep: { args: [attempt: ExecutionId]; answer: GraphStep | undefined };
  /** Steps of a graph that wait for their next attempt, by index. */
  backingOff: { args: [graph: ExecutionId, limit: number]; answer: GraphStep[] };
  /** Running graphs that score this execution. */
  openEvaluationsOf: { args: [of: ExecutionId]; answer: Graph[] };
}

/** The name of a question. */
export type QuestionName = keyof Questions;

/** One question with its arguments, as a rule yields it. */
export type Question = {
  [Name in QuestionName]: { readonly ask: Name; readonly args: Questions[Name]['args'] };
}[QuestionName];

/** Answers questions synchronously from one consistent state. */
export type Answerer = (question: Question) => unknown;

/** A computation that asks: pure, restartable, and the same for a store in this process and one across a socket. */
export type Asking<T> = Generator<Question, T, unknown>;

/** Asks one question: `const parent = yield* ask('execution', id)`. */
export function* ask<Name extends QuestionName>(
  name: Name,
  ...args: Questions[Name]['args']
): Asking<Questions[Name]['answer']> {
  return (yield { ask: name, args } as unknown as Question) as Questions[Name]['answer'];
}

/** Runs a computation to its end against something that answers at once. */
export function answerAll<T>(asking: Asking<T>, answer: Answerer): T {
  let step = asking.next();
  while (!step.done) step = asking.next(answer(step.value));
  return step.value;
}
