import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';

/** A node of the tree. The kinds are those of docs/glossary.md. */
export type ExecutionKind =
  | 'message'
  | 'continuation'
  | 'workflow'
  | 'evaluation'
  | 'step'
  | 'agent'
  | 'review'
  | 'task'
  | 'service'
  | 'late'
  | 'outside';

/** `queued → running → succeeded | failed | cancelled | lost`; the last four are settled and never change. */
export type ExecutionState = 'queued' | 'running' | SettledState;
/** The terminal states. `lost`: the evidence vanished, after a fence. */
export type SettledState = 'succeeded' | 'failed' | 'cancelled' | 'lost';

/** How the parent was found (invariant 8); `none` is a visible root. */
export type ParentSource = 'explicit' | 'turn' | 'task' | 'none';

/** Who hears of the end: a notice of its own, a share in a controller's batch, or nobody but its program. */
export type ReportMode = 'each' | 'batch' | 'none';

/** What an execution may wait for; `stopsClock` says which of them stop the clock of a message. */
export type WaitsFor = 'input' | 'capacity' | 'login' | 'lane' | 'slot' | 'workspace' | 'dependency';

/** The one field that says what an execution waits for. Instants are UTC milliseconds. */
export interface Waiting {
  readonly for: WaitsFor;
  readonly since: number;
  readonly until?: number;
  readonly questionId?: string;
  readonly text?: string;
  readonly choices?: readonly string[];
  /** The execution that must be closed first, for `dependency`. */
  readonly on?: ExecutionId;
  /** Which of the choices says no, for when nobody answers in time. */
  readonly declines?: string;
}

/** Whether the clock of a message stands still. A question does not stop it: nobody may ever answer. */
export function stopsClock(waiting: Pick<Waiting, 'for'>): boolean {
  return waiting.for !== 'input' && waiting.for !== 'dependency';
}

/** Whether it waits for a usage limit or a sign-in: these hold a whole session. */
export function waitsForLimit(waiting: Pick<Waiting, 'for'>): boolean {
  return waiting.for === 'capacity' || waiting.for === 'login';
}

/** Whether it waits to be let to its lane: for a turn slot, or for the workspace of its run. */
export function waitsForAdmission(waiting: Pick<Waiting, 'for'>): boolean {
  return waiting.for === 'slot' || waiting.for === 'workspace';
}

/** Who asked, for latches, waivers and the audit. */
export interface Actor {
  readonly kind: 'person' | 'agent' | 'parent' | 'deadline' | 'budget' | 'system';
  readonly name?: string;
}

/** The latch: who asked for the end of an execution, and when first (UTC milliseconds). Never taken back. */
export interface CancelRequest {
  readonly actor: Actor;
  readonly at: number;
  readonly reason?: string;
}

/** Why something failed: a code of `base/errors.ts` and a text for people. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** What it used of a model, as far as its driver was told. */
export interface ExecutionUsage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly usd?: number;
}

/** What a message and all that comes of it may use. At least one of the two is said. */
export interface Budget {
  readonly usd?: number;
  /** What goes in and what comes out, together. */
  readonly tokens?: number;
}

/** One execution as stored. Everything fixed at registration is readonly in spirit and in every store. */
export interface Execution {
  readonly id: ExecutionId;
  readonly rootId: ExecutionId;
  readonly parentId: ExecutionId | null;
  readonly parentSource: ParentSource;
  /** 0 for a root. Bounded for launches (`DEPTH_EXCEEDED`), never for continuations. */
  readonly depth: number;
  readonly kind: ExecutionKind;
  readonly name: string;
  /** What makes two attempts attempts of one thing: unique with `attempt` under the parent. */
  readonly key: string | null;
  readonly attempt: number;
  readonly project: string;
  /** The session whose turns it runs in, or which it hosts (kind `agent`). */
  readonly runsIn: SessionId | null;
  readonly reportsTo: SessionId | null;
  readonly mode: ReportMode;
  /** The session whose stop ends it. */
  readonly cancelledBy: SessionId | null;
  readonly runId: RunId | null;
  readonly runIndex: number | null;
  readonly correlationId: string | null;
  readonly join: 'own' | 'all';
  /** A command whose exit code 0 makes a message succeed; run when all else below it is closed. */
  readonly check: string | null;
  readonly background: 'wait' | 'cancel' | 'detach';
  readonly timeoutMs: number | null;
  /** Of a message: when more is used at and below it, its tree is ended. */
  readonly budget: Budget | null;
  /** `kind:target` of the wake-ups that its closing owes, if any; a space between two. */
  readonly wakeOnClose: string | null;
  readonly createdAt: number;

  readonly state: ExecutionState;
  readonly waiting: Waiting | null;
  /** The deficit: unclosed children, notices owed or claimed, hold edges. */
  readonly open: number;
  readonly closed: boolean;
  /**
   * The deficit from which on its program is called (`drained`): 0 for a composite that has ended, 1 while a check is pending,
   * `atEveryFall` once results were owed that are handed over together.
   */
  readonly drain: number | null;
  /** `CANCELLED`, or the code of the failure that its root must report whatever its own state is. */
  readonly verdict: string | null;
  /** Failed last attempts below a message with `join: 'all'`. */
  readonly failures: number;
  readonly outcome: Outcome | null;
  readonly outcomeCode: string | null;
  readonly cancelRequested: CancelRequest | null;
  /** Since when it is no longer counted. */
  readonly detachedAt: number | null;
  readonly deadlineAt: number | null;
  /**
   * Up to when it is settled how long its clock stood still for slots that are waited for below it: a turn below it ended then, or its
   * deadline was moved. UTC milliseconds; null as long as nothing of it worked while something of it waited.
   */
  readonly clockedUntil: number | null;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly closedAt: number | null;
  readonly error: Failure | null;
  readonly result: string | null;
  /**
   * Of a message or a handling of results that has a result: how many turns of its session had ended when it came. Of two answers of
   * one conversation the later has the greater, whatever the clock says; those that share a turn share the place and the answer.
   */
  readonly answerPlace: number | null;
  /** Its own: of its turn, of which it is the primary owner. It grows while the turn runs. */
  readonly usage: ExecutionUsage | null;
  /** At and below it; counted at a root, a workflow and a step, and where there is a budget. It grows after the end too: detached work goes on. */
  readonly spent: ExecutionUsage | null;
  /** How the agent or the operating system names it: a task's id, a process, a text typed at the agent's screen. */
  readonly nativeId: string | null;
}

/** The `drain` of what is looked at whenever its deficit falls. */
export const atEveryFall = Number.MAX_SAFE_INTEGER;

/** What a root, or a message of a run, came to. */
export type Outcome = 'succeeded' | 'failed' | 'cancelled';

type ExecutionInput = 'start' | 'requeue' | SettledState;

/** The lifecycle. An input that is missing for a state is illegal there. */
export const executionTransitions: Readonly<
  Record<ExecutionState, Partial<Readonly<Record<ExecutionInput, ExecutionState>>>>
> = {
  queued: {
    start: 'running',
    cancelled: 'cancelled',
    failed: 'failed',
    lost: 'lost',
    succeeded: 'succeeded',
  },
  // A message whose text the agent provably never got goes back to the queue under the same id.
  running: {
    requeue: 'queued',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    lost: 'lost',
  },
  succeeded: {},
  failed: {},
  cancelled: {},
  lost: {},
};

/** Terminal states never change. */
export function isSettled(state: ExecutionState): state is SettledState {
  return state !== 'queued' && state !== 'running';
}

/** The one rule that stores repeat (Dijkstra and Scholten, 1980): closed when settled and nothing below is open. */
export function isClosed(state: ExecutionState, open: number): boolean {
  return isSettled(state) && open === 0;
}

/** The outcome of a root, decided once, in the transaction that closes it. */
export function outcomeOf(root: Pick<Execution, 'state' | 'verdict' | 'failures' | 'join' | 'error'>): {
  outcome: Outcome;
  code: string | null;
} {
  if (root.verdict === 'CANCELLED') return { outcome: 'cancelled', code: 'CANCELLED' };
  if (root.verdict !== null) return { outcome: 'failed', code: root.verdict };
  if (root.state === 'cancelled') return { outcome: 'cancelled', code: 'CANCELLED' };
  if (root.state === 'lost') return { outcome: 'failed', code: 'LOST' };
  if (root.state !== 'succeeded') return { outcome: 'failed', code: root.error?.code ?? 'AGENT_FAILED' };
  if (root.join === 'all' && root.failures > 0) return { outcome: 'failed', code: 'DESCENDANT_FAILED' };
  return { outcome: 'succeeded', code: null };
}

/** Whether it is the check that decides the outcome of its parent. */
export function isCheckOf(row: Pick<Execution, 'kind' | 'name'>, parent: Pick<Execution, 'check'>): boolean {
  return row.kind === 'step' && row.name === 'check' && parent.check !== null;
}

/** Whether it is an attempt of a step of a workflow: its program, not whoever has its token, says how it ends. */
export function isAttempt({ wakeOnClose }: Pick<Execution, 'wakeOnClose'>): boolean {
  return wakeOnClose?.split(' ').some((wake) => wake.startsWith('step:')) ?? false;
}

/** Whether it is the question of a step to a person: nothing works on it, and no session asks. */
export function isQuestion(row: Pick<Execution, 'id' | 'wakeOnClose' | 'waiting'>): boolean {
  return isAttempt(row) && row.waiting?.for === 'input' && row.waiting.questionId === row.id;
}

/** Whether it is counted in the deficit of its parent and holders. */
export function isCounted(execution: Pick<Execution, 'closed' | 'detachedAt'>): boolean {
  return !execution.closed && execution.detachedAt === null;
}
