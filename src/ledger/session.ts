import type {
  ExecutionId,
  OccurrenceId,
  RunId,
  ScheduleId,
  SessionId,
  SteerId,
  TurnId,
} from '../base/ids.ts';
import type { Budget, Outcome } from './execution.ts';
import type { DoneAgain, WorkflowCall } from './graph.ts';
import type { TextMessage } from './planned-message.ts';
import type { Orchestration } from './step-plan.ts';

/** `cold`: no process. `live`: a conversation is open. `stopped`: stays so until a person sends a message. */
export type SessionState = 'cold' | 'live' | 'stopped';

/** What stands between a session and its agent: a usage limit, or an expired sign-in. Instants are UTC milliseconds. */
export interface Limit {
  readonly for: 'capacity' | 'login';
  readonly since: number;
  /** When it is over, as the provider said; null: nobody knows, and nothing wakes by itself. */
  readonly until: number | null;
  /** In the agent's own words, for a person. */
  readonly text: string;
}

/** One durable conversation with one agent, in one working directory. */
export interface Session {
  readonly id: SessionId;
  readonly project: string;
  /** Name of the agent profile. */
  readonly agent: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly state: SessionState;
  /** The execution that hosts it (kind `agent`), or null for a person's or a run's. */
  readonly hostedBy: ExecutionId | null;
  /**
   * How the results of what it launches come back: each when it is there, or, in a session whose agent gives out work, all of one
   * turn at once.
   */
  readonly delivery: 'auto' | 'controller';
  /** The turn that holds the lane, or null: *the* answer to "is this session busy". */
  readonly laneTurn: TurnId | null;
  /** What the agent does by itself while the lane's turn has not begun: it goes before that turn. */
  readonly wakeTurn: TurnId | null;
  /** The turn before the current ones: late activity belongs to its root. */
  readonly lastTurn: TurnId | null;
  /** How many of its turns have ended: the order of what it answered. */
  readonly endedTurns: number;
  /** Bumped when its process is fenced: writes of an older epoch are refused. */
  readonly epoch: number;
  readonly node: string;
  readonly nativeId: string | null;
  /** How far the driver's stream was processed durably. It goes on over the processes of a session. */
  readonly position: number;
  /** While it stands nothing is sent to the agent. */
  readonly limit: Limit | null;
  readonly createdAt: number;
  readonly lastActivityAt: number;
}

/** A message waiting for the lane, durable, first in first out by `position`. */
export interface Input {
  readonly executionId: ExecutionId;
  readonly sessionId: SessionId;
  /** Order in the queue; a message whose send failed goes back to the head with a smaller one. */
  readonly position: number;
  readonly text: string;
  /** Its sender asked to put it into the running turn. Cleared when that was refused. */
  readonly wantsSteer: boolean;
  /** Set while the text is on its way into the running turn. */
  readonly steerId: SteerId | null;
}

/** One message of a run: a text, or a workflow, of which the text is what people read. */
export interface PlannedMessage extends TextMessage {
  /** Its program, as its file said it when the run was made: the root that is sent is a workflow, and no session is needed. */
  readonly workflow?: WorkflowCall;
  /** The run that it is about: `{{of.…}}` in its text stands for what that came to. */
  readonly of?: ExecutionId;
}

/** One execution of a plan with one sequence step: a message goes out when the one before it is closed. */
export interface Run {
  readonly id: RunId;
  readonly project: string;
  readonly name: string;
  /** The conversation that its messages go to; null: what it sends are workflows. */
  readonly sessionId: SessionId | null;
  /** The execution it is the program of (a background agent), or null when its messages are roots. */
  readonly ownerId: ExecutionId | null;
  readonly plan: readonly PlannedMessage[];
  /** What the agent of its session may give out, and how: that session is a controller. Null: it is none. */
  readonly todo: Orchestration | null;
  /** For how many rows the plan is gone through, strictly one row after the other; null: once, without rows. */
  readonly rowCount: number | null;
  /** What all its messages together may use: each gets what is left. */
  readonly budget: Budget | null;
  /** Places that it has come to, from the first on: the index of the next. `plannedAt` says what is there. */
  readonly cursor: number;
  /** The message sent last; null before the first, and where it begins again. */
  readonly currentId: ExecutionId | null;
  /** How often that message was sent since the run came to it: counts for `retry`. Beginning again counts anew. */
  readonly tries: number;
  /** How many of those tries mended what the gate of the message refused: these do not count for `retry`. */
  readonly repairs: number;
  /** When that message is sent again (UTC milliseconds): it has failed, and the run waits. */
  readonly retryAt: number | null;
  /** What of the workflow that is sent next is done again; null: what had not succeeded. Cleared when it is sent. */
  readonly again: DoneAgain | null;
  /** The request that let it begin again last, as its caller names it: repeated, it lets nothing begin. */
  readonly begunBy: string | null;
  /** Grows with each message, back-off and new beginning; the compare-and-set of `advance`. */
  readonly moves: number;
  readonly state: 'running' | 'ended';
  readonly outcome: Outcome | null;
  readonly outcomeCode: string | null;
  readonly cancelRequested: boolean;
  /** The schedule that it is a run of, with the occurrence and its instant; or null, all three. */
  readonly scheduleId: ScheduleId | null;
  readonly occurrenceId: OccurrenceId | null;
  readonly instant: number | null;
  readonly createdAt: number;
  readonly endedAt: number | null;
}

/** What a schedule gives its run. */
export type RunOrigin = Pick<Run, 'scheduleId' | 'occurrenceId' | 'instant' | 'budget'>;

/** A session without a process, a turn or a history. */
export function newSession(
  given: Pick<Session, 'id' | 'project' | 'agent' | 'cwd' | 'title' | 'node' | 'createdAt'>,
): Session {
  return {
    ...given,
    state: 'cold',
    hostedBy: null,
    delivery: 'auto',
    laneTurn: null,
    wakeTurn: null,
    lastTurn: null,
    endedTurns: 0,
    epoch: 0,
    nativeId: null,
    position: 0,
    limit: null,
    lastActivityAt: given.createdAt,
  };
}

/** A run of which nothing was sent yet. With a `cursor` it begins there. */
export function newRun(
  given: Pick<Run, 'id' | 'project' | 'name' | 'sessionId' | 'ownerId' | 'plan' | 'createdAt'> & Partial<Run>,
): Run {
  return {
    scheduleId: null,
    occurrenceId: null,
    instant: null,
    budget: null,
    todo: null,
    rowCount: null,
    cursor: 0,
    ...given,
    currentId: null,
    tries: 0,
    repairs: 0,
    retryAt: null,
    again: null,
    begunBy: null,
    moves: 0,
    state: 'running',
    outcome: null,
    outcomeCode: null,
    cancelRequested: false,
    endedAt: null,
  };
}
