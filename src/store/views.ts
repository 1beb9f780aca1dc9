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
import type { Execution, ExecutionKind, ExecutionState, ExecutionUsage } from '../ledger/execution.ts';
import type { Graph, GraphStep, StepRef } from '../ledger/graph.ts';
import type { Notice, NoticeState } from '../ledger/notice.ts';
import type { Dispatch, DispatchState, Notification, Transition } from '../ledger/notification.ts';
import type { Occurrence, OccurrenceState } from '../ledger/occurrence.ts';
import type { Schedule, ScheduleOrigin, ScheduleState } from '../ledger/schedule.ts';
import { lengthOf } from '../ledger/plan.ts';
import type { Input, Run, Session, SessionState } from '../ledger/session.ts';
import type { StoredEvent } from '../ledger/store.ts';
import type { Steer, Turn } from '../ledger/turn.ts';

/**
 * Reads for the edges: lists, trees, the monitor. Each answers rows of the ledger from one consistent, committed state,
 * by indexed statements only. None may throw for what it does not find.
 */
export interface Views {
  executions(filter: ExecutionFilter): Promise<Page<Execution>>;
  /** A whole tree, at most `limit` executions of it, or undefined when there is no such root. */
  tree(rootId: ExecutionId, options: { readonly limit: number }): Promise<Tree | undefined>;
  /**
   * What of a tree is not over: what is unclosed, at most `limit` of it, nearest to the root first, and what results are of that nobody
   * has handled. It costs no more for all that is closed. Undefined when there is no such root.
   */
  openTree(rootId: ExecutionId, options: { readonly limit: number }): Promise<Tree | undefined>;
  notices(filter: NoticeFilter): Promise<Page<Notice>>;
  sessions(filter: SessionFilter): Promise<Page<Session>>;
  /** The queue of a session, first in first out, those being steered included. */
  inputsOf(sessionId: SessionId): Promise<Input[]>;
  /** How the texts of these executions went to their session, in the order of the ids that are given. */
  deliveries(ids: readonly ExecutionId[]): Promise<Delivery[]>;
  /** Roots that are not closed, with what is open below each; unlike all other lists, the oldest first. */
  liveRoots(place: Paging): Promise<Page<LiveRoot>>;
  runs(filter: RunFilter): Promise<Page<Run>>;
  /** A run with what was sent at some of its places, by index and attempt. */
  run(id: RunId, places: RunPlaces): Promise<RunWithMessages | undefined>;
  /** A workflow with a page of its steps and the attempts at each; undefined when this execution has no steps. */
  graph(id: ExecutionId, page: StepPage): Promise<GraphView | undefined>;
  /** By project and name. */
  schedules(filter: ScheduleFilter): Promise<Page<Schedule>>;
  /** The occurrences of one schedule, those of the latest instants first; the cursor is an instant. */
  occurrences(filter: OccurrenceFilter): Promise<Page<Occurrence>>;
  /** What people are told, newest first, whatever the ids are. */
  notifications(filter: NotificationFilter): Promise<Page<NotificationView>>;
  /** Ids that begin with `prefix`, in order, at most `limit`. */
  resolvePrefix<Kind extends keyof IdOf>(kind: Kind, prefix: string, limit: number): Promise<IdOf[Kind][]>;
}

/** Reads for a server that starts: what was going on when the last one ended. */
export interface RecoveryViews {
  /** Sessions with a live conversation, a turn, a queued message or a notice owed to them. */
  liveSessions(): Promise<Session[]>;
  runningRuns(): Promise<Run[]>;
  /** Every schedule that is not removed. */
  schedules(): Promise<ScheduleId[]>;
  /** Those that were being begun. */
  claimedOccurrences(): Promise<Occurrence[]>;
  /** Steps of workflows that are scripts and run, or are to begin now. */
  openScripts(): Promise<StepRef[]>;
}

/** The committed events, in order. */
export interface EventLog {
  /** Identifies this database; it is part of every cursor. */
  readonly databaseId: string;
  eventsSince(sequence: number, filter: EventFilter, limit: number): Promise<EventPage>;
  /** The place of the newest event, or 0. */
  lastSequence(): Promise<number>;
}

/**
 * One page of a list, newest first. `next` is the cursor of the page after it, absent on the last one. A page may be
 * short, even empty, and still have a next one: how many rows one call looks at is bounded.
 */
export interface Page<Row> {
  readonly items: Row[];
  readonly next?: string;
}

/** Where a list goes on, and how much of it is wanted. */
export interface Paging {
  readonly cursor?: string | undefined;
  readonly limit: number;
}

export interface ExecutionFilter extends Paging {
  readonly state?: ExecutionState | undefined;
  readonly kind?: ExecutionKind | undefined;
  /** Only what runs in this session. */
  readonly sessionId?: SessionId | undefined;
  readonly rootId?: ExecutionId | undefined;
  readonly project?: string | undefined;
  /** Only roots, or only what is no root. */
  readonly root?: boolean | undefined;
  /** Only what is not closed, or only what is. */
  readonly live?: boolean | undefined;
}

export interface NoticeFilter extends Paging {
  readonly sessionId?: SessionId | undefined;
  readonly state?: NoticeState | undefined;
}

export interface SessionFilter extends Paging {
  readonly project?: string | undefined;
  readonly state?: SessionState | undefined;
}

export interface RunFilter extends Paging {
  readonly project?: string | undefined;
  readonly state?: Run['state'] | undefined;
  readonly sessionId?: SessionId | undefined;
  readonly scheduleId?: ScheduleId | undefined;
  /** Only runs of the workflow of this name. */
  readonly workflow?: { readonly name: string; readonly project?: string | undefined } | undefined;
}

/** Which steps of a workflow: so many behind this index. */
export interface StepPage {
  readonly from: number;
  readonly limit: number;
  /** One step was asked for: what is behind it is not told. */
  readonly isAlone?: boolean;
}

/** A workflow with some of its steps, by index. `next`: the index of the step behind them, if there is one. */
export interface GraphView {
  readonly graph: Graph;
  readonly total: number;
  readonly steps: readonly GraphStep[];
  /** By the index of the step, oldest first; the latest `attemptsShown` of each. */
  readonly attempts: ReadonlyMap<number, readonly Execution[]>;
  readonly next?: number;
}

/** How many attempts of one step are shown. */
export const attemptsShown = 20;

export interface ScheduleFilter extends Paging {
  readonly project?: string | undefined;
  readonly name?: string | undefined;
  /** Without one: all that are not removed. */
  readonly state?: ScheduleState | undefined;
  readonly origin?: ScheduleOrigin | undefined;
  readonly label?: string | undefined;
}

export interface OccurrenceFilter extends Paging {
  readonly scheduleId: ScheduleId;
  readonly state?: OccurrenceState | undefined;
}

export interface NotificationFilter extends Paging {
  readonly transition?: Transition | undefined;
  readonly project?: string | undefined;
  /** Only those of which a dispatch is in this state. */
  readonly state?: DispatchState | undefined;
}

/** A notification with what becomes of it. */
export interface NotificationView {
  readonly notification: Notification;
  readonly dispatches: readonly Dispatch[];
}

type NotificationPlace = Pick<Notification, 'at' | 'id'>;

/** The cursor behind a notification: their ids do not sort by time. */
export function notificationCursor({ at, id }: NotificationPlace): string {
  return `${at}_${id}`;
}

/** Whether a text can be such a cursor. */
export function isNotificationCursor(text: string): boolean {
  return /^\d{1,16}_[\w:-]+$/.test(text);
}

/** The place that a cursor names; without one, before everything. */
export function notificationPlace(cursor: string | undefined): NotificationPlace {
  if (cursor === undefined) return { at: Number.MAX_SAFE_INTEGER, id: '' };
  const underscore = cursor.indexOf('_');
  return { at: Number(cursor.slice(0, underscore)), id: cursor.slice(underscore + 1) };
}

/** A tree in one consistent read. */
export interface Tree {
  /** Depth first, children by age: each parent before what is below it. */
  readonly executions: Execution[];
  readonly notices: Notice[];
  /** Hold edges that begin or end in this tree. */
  readonly holds: { readonly executionId: ExecutionId; readonly holderId: ExecutionId }[];
  /** Executions of other trees that this one holds, and that are not closed or whose notice is owed or claimed. */
  readonly held: Execution[];
  /** Turns that have not ended, by an owner in this tree. */
  readonly turns: { readonly executionId: ExecutionId; readonly turn: Turn }[];
  /** Steers with an open fate that carry a message or a notice of this tree. */
  readonly steers: Steer[];
  /** There are more executions than were asked for; the oldest are here. */
  readonly isCut: boolean;
}

/** How a text went to its session: what waits, the turns that its execution owned, and the steers that carried it, by id. */
export interface Delivery {
  readonly executionId: ExecutionId;
  readonly input: Input | undefined;
  readonly turns: readonly { readonly turn: Turn; readonly position: number }[];
  readonly steers: readonly Steer[];
}

/** A root that is not closed, with what is open below it: itself not counted, bounded at ten thousand. */
export interface LiveRoot {
  readonly root: Execution;
  readonly openExecutions: number;
  readonly openNotices: number;
}

/** Which places of a run: so many from this index on; without one, those about the place at which it stands. */
export interface RunPlaces {
  readonly from?: number | undefined;
  readonly limit: number;
}

/** A run with some of its places: a sequence may have many thousands. */
export interface RunWithMessages {
  readonly run: Run;
  /** The index of the first place that was looked at, and how many were. */
  readonly from: number;
  readonly count: number;
  /** What was sent there, by index and attempt. */
  readonly messages: Execution[];
  /** That at which it stands, wherever its place is. */
  readonly current: Execution | undefined;
  /** What all that it has sent has used; null where nobody counted. */
  readonly spent: ExecutionUsage | null;
}

/** The places of a run that are meant. */
export function placesOf(
  run: Run,
  { from, limit }: RunPlaces,
): { readonly from: number; readonly count: number } {
  const length = lengthOf(run);
  const about = Math.max(0, Math.min(run.cursor - Math.floor(limit / 2), length - limit));
  const first = Math.min(from ?? about, length);
  return { from: first, count: Math.min(limit, length - first) };
}

export interface EventFilter {
  readonly rootId?: ExecutionId | undefined;
  readonly sessionId?: SessionId | undefined;
}

/** Events after a place. `through`: everything up to there was looked at; go on from it. `isEnd`: nothing came after it. */
export interface EventPage {
  readonly events: StoredEvent[];
  readonly through: number;
  readonly isEnd: boolean;
}

/** What a prefix can name. */
export interface IdOf {
  execution: ExecutionId;
  session: SessionId;
  notice: NoticeId;
  run: RunId;
  turn: TurnId;
  steer: SteerId;
  schedule: ScheduleId;
  occurrence: OccurrenceId;
}

/** Most rows that one call of a filtered list looks at. */
export const examinedRows = 20_000;
/** Most events that one call of a filtered replay looks at. */
export const examinedEvents = 20_000;
/** Most open executions that are counted below one root. */
export const countedBelow = 10_000;
