import type { ErrorCode } from '../base/errors.ts';
import type { ExecutionId, NoticeId, RunId, ScheduleId, SessionId } from '../base/ids.ts';
import type { Event } from '../contract/events.ts';
import type { Execution, MonitorRow, Notice, TreeView, WaitAnswer } from '../contract/execution.ts';
import type { Notification, TargetTest } from '../contract/notification.ts';
import type { ListQuery, Page } from '../contract/page.ts';
import type {
  AnswerBody,
  CancelBody,
  HeartbeatAnswer,
  QueryAnswer,
  QueryBody,
  RegisterBody,
  SessionBody,
  SettleBody,
} from '../contract/requests.ts';
import type { Scope } from '../contract/route-spec.ts';
import type { Run, RunQuery } from '../contract/run.ts';
import type { StepAttemptQuery, StepAttemptView } from '../contract/step-attempt.ts';
import type { RunFile } from '../contract/run-file.ts';
import type {
  ApplyAnswer,
  ApplyBody,
  BackfillAnswer,
  BackfillBody,
  NextAnswer,
  Occurrence,
  PreviewAnswer,
  OccurrencesQuery,
  RerunBody,
  RunsQuery,
  Schedule,
  StopAnswer,
  TriggerAnswer,
} from '../contract/schedule.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import type { Settings } from '../contract/settings.ts';
import type { AgentCheck, AgentView, Session, SessionMessage, TranscriptItem } from '../contract/session.ts';
import type { NewToken, Token, TokenBody } from '../contract/token.ts';
import type {
  Workflow,
  WorkflowRunBody,
  WorkflowRunsQuery,
  WorkflowsQuery,
  WorkflowView,
  WorkflowViewQuery,
} from '../contract/workflow.ts';

/**
 * What the HTTP edge needs. Expected refusals come back as values; a thrown `StemmaError` is shown with its own code,
 * anything else thrown is a bug and is shown as INTERNAL.
 */
export interface ApiPorts {
  readonly queries: Queries;
  readonly ids: IdResolution;
  readonly executions: ExecutionCommands;
  readonly notices: NoticeCommands;
  readonly sessions: SessionCommands;
  readonly runs: RunCommands;
  readonly standingRuns: StandingRunCommands;
  readonly schedules: ScheduleCommands;
  readonly scheduleQueries: ScheduleQueries;
  readonly workflows: WorkflowCommands;
  readonly workflowQueries: WorkflowQueries;
  readonly waiting: Waiting;
  readonly feed: Feed;
  readonly access: Access;
  readonly tokens: Tokens;
  readonly idempotency: Idempotency;
  readonly notifications: Notifications;
  readonly agents: Agents;
  readonly health: Health;
  readonly settings: SettingsFacts;
  readonly mcp: McpEndpoint;
  readonly terminals: Terminals;
}

/** What a command answers: the value, or why not, in the words that the caller shall read. */
export type Answer<T> = { readonly ok: true; readonly value: T } | Refusal;

/** An expected refusal. */
export interface Refusal {
  readonly ok: false;
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Who calls, as proven by a token or a cookie. */
export type Principal =
  | { readonly kind: 'api'; readonly scope: Scope; readonly name: string }
  | { readonly kind: 'session'; readonly sessionId: SessionId }
  | { readonly kind: 'execution'; readonly executionId: ExecutionId };

/** What travels with every command. */
export interface Call {
  readonly caller: Principal;
  /**
   * The caller's idempotency key, for commands that begin something: an implementation that stores it in the same
   * transaction as the registration survives a crash between the commit and the answer.
   */
  readonly idempotency?: IdempotencyRef;
}

/** An idempotency key with its scope: token and route. */
export interface IdempotencyRef {
  readonly tokenName: string;
  readonly route: string;
  readonly key: string;
  /** SHA-256 of the canonical body, in hex. */
  readonly bodyHash: string;
}

/** The read side. Every answer is one consistent read of committed state; absent things are `undefined`. */
export interface Queries {
  executions(filter: ListQuery): Promise<Page<Execution>>;
  execution(id: ExecutionId): Promise<Execution | undefined>;
  /** The whole tree to which the execution belongs; `brief`: of results and errors only their beginnings. */
  tree(id: ExecutionId, options?: { readonly brief: boolean }): Promise<TreeView | undefined>;
  /** Live roots; those that wait for input first, then the oldest. */
  monitor(filter: ListQuery): Promise<Page<MonitorRow>>;
  notices(filter: ListQuery): Promise<Page<Notice>>;
  notice(id: NoticeId): Promise<Notice | undefined>;
  sessions(filter: ListQuery): Promise<Page<Session>>;
  session(id: SessionId): Promise<Session | undefined>;
  runs(filter: ListQuery): Promise<Page<Run>>;
  /** With some of its messages: those about the one at which it stands, if nothing is said. */
  run(id: RunId, query?: RunQuery): Promise<Run | undefined>;
}

/** The kinds of things that are found by id, each with its type of id. */
export interface IdKinds {
  execution: ExecutionId;
  session: SessionId;
  notice: NoticeId;
  run: RunId;
}

/** Which things the API finds by id. */
export type ResolvableKind = keyof IdKinds;

/** Finds what a whole id, or the beginning of one, names. */
export interface IdResolution {
  /** `matches`: at most ten, for the message. The prefix has the form of an id (`exe_` and upper-case characters). */
  resolve<K extends ResolvableKind>(kind: K, prefix: string): Promise<Resolution<IdKinds[K]>>;
}

export type Resolution<Id> =
  | { readonly found: 'one'; readonly id: Id }
  | { readonly found: 'none' }
  | { readonly found: 'several'; readonly matches: readonly Id[] };

/** The body of a message, with the session resolved. */
export type QueryRequest = Omit<QueryBody, 'sessionId'> & { readonly sessionId?: SessionId };

/** Each resolves after the commit; what it began outlives the call, whatever becomes of the connection. */
export interface ExecutionCommands {
  query(request: QueryRequest, call: Call): Promise<Answer<QueryAnswer>>;
  /** With an execution token: a child of that execution. With an API token: a root. `token` names what was registered. */
  register(
    request: RegisterBody,
    call: Call,
  ): Promise<Answer<{ readonly executionId: ExecutionId; readonly token?: string }>>;
  /** Settling again with the same state changes nothing and succeeds; with another it is `ILLEGAL_STATE`. */
  settle(id: ExecutionId, request: SettleBody, call: Call): Promise<Answer<void>>;
  heartbeat(id: ExecutionId, call: Call): Promise<Answer<HeartbeatAnswer>>;
  /** Resolves when all is joined, or when what survives is held as `unkillable`. */
  cancel(id: ExecutionId, request: CancelBody, call: Call): Promise<Answer<void>>;
  /** A person's answer to what it, or the only thing below it, waits for. Answers which of them it was. */
  answer(id: ExecutionId, body: AnswerBody, call: Call): Promise<Answer<ExecutionId>>;
  detach(id: ExecutionId, reason: string | undefined, call: Call): Promise<Answer<void>>;
}

export interface NoticeCommands {
  waive(id: NoticeId, reason: string, call: Call): Promise<Answer<void>>;
  redeliver(id: NoticeId, reason: string | undefined, call: Call): Promise<Answer<void>>;
}

export interface SessionCommands {
  create(request: SessionBody, call: Call): Promise<Answer<{ readonly sessionId: SessionId }>>;
  interrupt(id: SessionId, reason: string | undefined, call: Call): Promise<Answer<void>>;
  stop(id: SessionId, reason: string | undefined, call: Call): Promise<Answer<void>>;
  decideCapacity(id: SessionId, action: 'resume' | 'giveUp', call: Call): Promise<Answer<void>>;
  /**
   * Oldest first, behind `after`; `nextCursor` is given as long as there is more. With `before`: the last ones before it
   * (`end`: of all), and `nextCursor` is the next `before`.
   */
  transcript(
    id: SessionId,
    options: { readonly after?: string; readonly before?: string; readonly limit: number },
  ): Promise<Page<TranscriptItem>>;
  /** What it was told, or will be, newest first. */
  messages(
    id: SessionId,
    options: { readonly cursor?: string; readonly limit: number },
  ): Promise<Page<SessionMessage>>;
}

export interface RunCommands {
  create(request: RunFile, call: Call): Promise<Answer<{ readonly runId: RunId }>>;
  cancel(id: RunId, reason: string | undefined, call: Call): Promise<Answer<void>>;
}

/** Where a run begins again. */
export type RerunPlace = Pick<RerunBody, 'from' | 'only'>;

/** What can be done with a run that stands still. */
export interface StandingRunCommands {
  /** From the message that failed on, or goes on with what waits for a limit. `ILLEGAL_STATE` when it is at work. */
  resume(id: RunId, call: Call): Promise<Answer<void>>;
  /**
   * The same run once more: from the message of this index on, or, of a run of a workflow, from the step of this name on.
   * `only`: that step alone. `ILLEGAL_STATE` unless it has ended.
   */
  rerun(id: RunId, place: RerunPlace, call: Call): Promise<Answer<void>>;
}

/** How a schedule is called: by its name alone, where it is the only one of it, or with its project. */
export interface ScheduleRef {
  readonly project?: string;
  readonly name: string;
}

/** What a name fits. `matches`: `project/name` each. */
export type FoundSchedule =
  | { readonly found: 'one'; readonly id: ScheduleId }
  | { readonly found: 'none' }
  | { readonly found: 'several'; readonly matches: readonly string[] };

/** The read side of schedules. Every answer is one consistent read of committed state. */
export interface ScheduleQueries {
  /** Among those that are not removed. */
  find(ref: ScheduleRef): Promise<FoundSchedule>;
  /** Removed ones only with `state: removed`. By project and name. */
  list(filter: ListQuery): Promise<Page<Schedule>>;
  get(id: ScheduleId): Promise<Schedule | undefined>;
  /** Its next `count` instants from now on. None, with a note, for one that follows another, or that has none left. */
  next(id: ScheduleId, count: number): Promise<NextAnswer | undefined>;
  /** Newest instant first. */
  occurrences(id: ScheduleId, filter: OccurrencesQuery): Promise<Page<Occurrence>>;
  /** Newest first. */
  runs(id: ScheduleId, filter: RunsQuery): Promise<Page<Run>>;
}

/** What can be done with schedules. Each resolves after the commit. */
export interface ScheduleCommands {
  /**
   * Makes a schedule, or replaces the whole of one: what the body leaves out has its default again. With only a name it is
   * the one schedule of that name, else a new one of the project `default`; `AMBIGUOUS_ID` when several have the name.
   * `INVALID_INPUT` with `issues` when it makes no sense; `ILLEGAL_STATE` for one that a file holds, which the next
   * apply of that file would undo. The same again changes nothing, also not its revision.
   */
  put(ref: ScheduleRef, said: ScheduleInput, call: Call): Promise<Answer<ScheduleId>>;
  /** What `put` would do: the same checks and refusals, and nothing is written. */
  preview(ref: ScheduleRef, said: ScheduleInput, call: Call): Promise<Answer<PreviewAnswer>>;
  /** What is due or waits is skipped; a run that is at work goes on. */
  remove(id: ScheduleId, call: Call): Promise<Answer<void>>;
  /** Works while it is paused. `OVERLAP` when a run is at work and the policy is to skip. */
  trigger(id: ScheduleId, call: Call): Promise<Answer<TriggerAnswer>>;
  /** Pausing a paused one, or resuming one that goes, changes nothing and succeeds. */
  pause(id: ScheduleId, reason: string | undefined, call: Call): Promise<Answer<void>>;
  resume(id: ScheduleId, call: Call): Promise<Answer<void>>;
  /** Makes the instants of `[from, to)` due that have not run. `ILLEGAL_STATE` when the range reaches into the future. */
  backfill(id: ScheduleId, body: BackfillBody, call: Call): Promise<Answer<BackfillAnswer>>;
  /** Cancels its runs, and gives up what waits or is due; it goes on with its next instant. */
  stop(id: ScheduleId, reason: string | undefined, call: Call): Promise<Answer<StopAnswer>>;
  /**
   * Makes the schedules of a project that come from a file be those of this one: all of it, or nothing and the mistakes.
   * `INVALID_INPUT` with `issues`, whose paths are those of the file (`schedules.nightly.cron`); `ILLEGAL_STATE` for a
   * name that the API or an agent holds. With `dryRun` it only says what it would do.
   */
  apply(body: ApplyBody, call: Call): Promise<Answer<ApplyAnswer>>;
}

/** The read side of workflows. */
export interface WorkflowQueries {
  /** The files as they are now, by project and name; also those that cannot be run, with their mistakes. */
  list(filter: WorkflowsQuery): Promise<Page<Workflow>>;
  /** The workflow that is the program of this execution, with a page of its steps; undefined when it is none. */
  of(id: ExecutionId, query: WorkflowViewQuery): Promise<WorkflowView | undefined>;
  /** The attempt of a step that this execution is; undefined when it is none. */
  attempt(id: ExecutionId, query: StepAttemptQuery): Promise<StepAttemptView | undefined>;
  /** Newest first; of the workflow that a name, or `project/name`, means. `NOT_FOUND` is thrown when there never was one. */
  runs(name: string, filter: WorkflowRunsQuery): Promise<Page<Run>>;
}

/** What can be done with workflows. */
export interface WorkflowCommands {
  /**
   * Begins a run by what the file says now. `NOT_FOUND` with the nearest name, `AMBIGUOUS_ID` when several projects have
   * one of this name, `INVALID_CONFIG` with the mistakes of the file, `INVALID_INPUT` for a group or an input that it does
   * not have. Resolves after the commit.
   */
  run(name: string, body: WorkflowRunBody, call: Call): Promise<Answer<{ readonly runId: RunId }>>;
}

export interface Waiting {
  /**
   * Resolves in the moment in which the commit that closes it is published, or after `timeoutMs` with what holds it.
   * An abort of `signal` ends the wait early, by any answer. `WAIT_ON_SELF` when its closing needs the caller's lane.
   */
  waitClosed(
    id: ExecutionId,
    options: { readonly timeoutMs: number; readonly caller: Principal; readonly signal: AbortSignal },
  ): Promise<Answer<WaitAnswer>>;
}

/** Which events a client wants. An event belongs to at most one session and one root. */
export interface FeedFilter {
  readonly root?: ExecutionId;
  readonly session?: SessionId;
}

/** Committed events in order. Cursors are opaque and name the database that they are from. */
export interface Feed {
  /** The place behind the newest event. */
  currentCursor(): string;
  /**
   * At most `limit` events behind `cursor`, oldest first; fewer only when there are no more. `next` is where to read
   * on: it moves on also past events filtered out.
   */
  since(cursor: string, filter: FeedFilter, limit: number): Promise<FeedPage>;
  /**
   * Calls `onEvent` for every event behind `after`, in order, none twice, none missed, from now on or even before this
   * returns. `onEvent` never throws. When what was missed cannot be read, `onBroken` is called, and nothing after it.
   * Unsubscribing twice is harmless.
   */
  subscribe(
    filter: FeedFilter & { readonly after?: string },
    onEvent: (event: Event) => void,
    onBroken: (error: unknown) => void,
  ): () => void;
}

/** `foreign`: the cursor is of another database, or older than what is kept. */
export type FeedPage =
  | { readonly state: 'events'; readonly events: readonly Event[]; readonly next: string }
  | { readonly state: 'foreign' };

/** Tokens, cookies and sign-in links. */
export interface Access {
  /** `undefined`: nobody issued it, or it was revoked. */
  verify(token: string): Promise<Principal | undefined>;
  /** A code that `redeem` takes once, within minutes, for a browser with this scope. */
  createSignInCode(scope: Scope): Promise<{ readonly code: string; readonly expiresAtMs: number }>;
  /** The value of a cookie for a code; `undefined` when it is unknown, used or expired. */
  redeem(code: string): Promise<{ readonly cookie: string; readonly maxAgeSeconds: number } | undefined>;
  verifyCookie(value: string): Promise<Principal | undefined>;
}

/** Who may call. Each change is in the log with who made it. */
export interface Tokens {
  /** Revoked ones included; browsers that would have to sign in again anyway are left out. */
  list(): Promise<readonly Token[]>;
  /** `ILLEGAL_STATE` when a token of this name is valid. */
  create(body: TokenBody, call: Call): Promise<Answer<NewToken>>;
  /** `NOT_FOUND` when there never was one of this name; one that is revoked already stays as it is. */
  revoke(name: string, call: Call): Promise<Answer<Token>>;
}

/** An answer as it is stored under an idempotency key. */
export interface StoredAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface Idempotency {
  /**
   * Runs `run` at most once for a key and answers what it answered the first time. Two calls at once: the second waits
   * for the first. What `run` throws is not stored. `mismatch`: the key was used with another body.
   */
  once(
    tokenName: string,
    route: string,
    key: string,
    bodyHash: string,
    run: () => Promise<StoredAnswer>,
  ): Promise<{ readonly state: 'answered'; readonly answer: StoredAnswer } | { readonly state: 'mismatch' }>;
}

/** What people are told of, and whether they can be. */
export interface Notifications {
  /** Newest first. */
  list(filter: ListQuery): Promise<Page<Notification>>;
  /** Sends at once and resolves when the target has answered or its time is over. `NOT_FOUND` when there is no such target. */
  test(target: string): Promise<Answer<TargetTest>>;
}

export interface Agents {
  list(): readonly AgentView[];
  /** The same, each with what a look at its program found; bounded, and side by side. */
  listChecked(): Promise<readonly AgentView[]>;
  /** `NOT_FOUND` when there is no such profile; that the program is missing is a good answer. */
  check(name: string): Promise<Answer<AgentCheck>>;
}

/** One number for `/metrics`. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge';
  readonly value: number;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface SettingsFacts {
  /** Counts what is stored; bounded, and shared by those who ask at once. */
  read(): Promise<Settings>;
}

export interface Health {
  state(): 'recovering' | 'ready' | 'stopping';
  /** Throws or answers false when the store cannot be read. */
  isStoreUsable(): Promise<boolean>;
  version(): string;
  /** The configuration that the server was started with; absent: none. */
  readonly configFile?: string;
  metrics(): readonly Metric[];
}

/** The endpoint of the agents' tools. */
export interface McpEndpoint {
  /** Serves one POST of an agent whose session the bearer named. Never throws: errors are JSON-RPC. */
  serve(exchange: {
    readonly sessionId: SessionId;
    readonly request: Request;
    readonly body: string;
  }): Promise<Response>;
}

/** The terminals in which persons see and use agents at their own screens. */
export interface Terminals {
  /** A view of the session's terminal, which is opened if there is none. The caller ends it. */
  attach(id: SessionId, viewer: TerminalViewer): Promise<Answer<TerminalView>>;
  /** A view of the terminal that the session has now: none is opened, and nothing is typed. The caller ends it. */
  watch(id: SessionId, viewer: TerminalViewer): Promise<Answer<TerminalView>>;
}

/** Columns and rows, in cells. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Who looks. Neither callback throws; `onEnd` says why in a sentence for a person, and nothing comes after it. */
export interface TerminalViewer {
  readonly size: TerminalSize;
  /** It keeps what scrolls away: it gets what has scrolled away before, first, and the screen is drawn below that. */
  readonly keepsHistory?: boolean;
  readonly onOutput: (bytes: Uint8Array) => void;
  readonly onEnd: (reason: string) => void;
}

/** One view. `pause`: nothing more is told until `resume`. After its end every method does nothing. */
export interface TerminalView {
  write(bytes: Uint8Array): void;
  resize(size: TerminalSize): void;
  pause(): void;
  resume(): void;
  /** The terminal lives on. */
  end(): void;
}
