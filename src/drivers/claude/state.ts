import type { AgentError, LiveTask, Usage } from '../port.ts';

/** What is known of one conversation from its output so far. Plain data: it is kept on disk between turns. */
export interface ClaudeState {
  /** Whether the program tells what becomes of each text; older ones only repeat a text when it is taken up. */
  readonly hasLifecycle: boolean;
  /** Whether the program lists its live background tasks; older ones only tell starts and ends. */
  readonly hasTaskList: boolean;
  readonly turn: RunningTurn | undefined;
  /** Our texts, by the UUID under which the agent has them. */
  readonly texts: ReadonlyMap<string, KnownText>;
  /** Background work that lives, and calls that may turn out to be such. */
  readonly tasks: ReadonlyMap<string, KnownTask>;
  /** Tasks that ended and of which the agent was not told yet, in the order in which it will be. */
  readonly untold: readonly EndedTask[];
  /** Questions of the agent that wait for an answer, by request id, oldest first. */
  readonly questions: ReadonlyMap<string, Question>;
  /** In which turn each tool call was made; the newest few hundred. */
  readonly calls: ReadonlyMap<string, string>;
  /** Those of them that a sub-agent made, for the turn that called it. */
  readonly agentCalls: ReadonlySet<string>;
  /** Turns whose end was told; the newest few dozen. */
  readonly ended: readonly string[];
  /** What the conversation has cost, US dollars. */
  readonly usd: number | undefined;
  /** When an exhausted limit ends, UTC milliseconds. */
  readonly resetsAt: number | undefined;
}

/** A stretch of the agent's work, from its begin to what closes it. */
export interface RunningTurn {
  readonly id: string;
  /** Whether its start was told. Older programs do not say at once whose text began it. */
  readonly isAnnounced: boolean;
  readonly deliveryId?: string;
  readonly taskId?: string;
  /** Texts that were taken up in it and are not closed yet, by UUID. */
  readonly open: readonly string[];
  /** Whether any text of ours was taken up in it. */
  readonly hasTexts: boolean;
  /** Whether its last text was closed as cancelled. */
  readonly wasCancelled: boolean;
  /** What the agent said last, after whatever it did last. */
  readonly answer: string;
  /** The kind of error that the agent spoke of last. */
  readonly error?: string;
  /** It stands still because the provider refuses for now. */
  readonly isLimited: boolean;
  /** Ends of tasks that it was told of before its start was told. */
  readonly told: readonly string[];
  /** Set once it is over: how. Its end is told when it is known what follows. */
  readonly verdict?: Verdict;
}

/** How a turn ended. */
export interface Verdict {
  readonly status: 'succeeded' | 'failed' | 'interrupted';
  readonly answer: string;
  readonly error?: AgentError;
  readonly usage?: Usage;
}

/** A text of ours. `sent`: on its way. `withdrawn`: it never will be taken up. */
export type KnownText =
  | { readonly id: string; readonly state: 'sent' | 'queued' | 'withdrawn' }
  | { readonly id: string; readonly state: 'taken'; readonly turnId: string };

/** Work that the agent has started. `isTold`: it is background work, and was told as such. */
export interface KnownTask extends LiveTask {
  readonly type: string;
  readonly runId?: string;
  readonly toolUseId?: string;
  readonly isTold: boolean;
  /** It ended, in the agent's words, and the notice of its end has not come. */
  readonly status?: 'completed' | 'failed' | 'stopped' | 'killed';
  /** It was on the list of live tasks and is not any more. */
  readonly hasLeft?: boolean;
}

/** Background work that has ended. `wakes`: the agent will begin a turn to be told of it. */
export interface EndedTask {
  readonly taskId: string;
  readonly runId?: string;
  readonly wakes: boolean;
}

/** What the agent wants to know before it goes on. `isOrphan`: no turn of ours waits for it. */
export interface Question {
  readonly text: string;
  readonly choices: readonly string[];
  readonly isOrphan: boolean;
  /** The request as it came, for the answer. */
  readonly request: Readonly<Record<string, unknown>>;
}

/** A conversation of which nothing was heard. */
export function newState(usd?: number): ClaudeState {
  return {
    hasLifecycle: false,
    hasTaskList: false,
    turn: undefined,
    texts: new Map(),
    tasks: new Map(),
    untold: [],
    questions: new Map(),
    calls: new Map(),
    agentCalls: new Set(),
    ended: [],
    usd,
    resetsAt: undefined,
  };
}

/** The state once a text is on its way, so that it is recognised. One that is known stays as it is. */
export function withText(state: ClaudeState, uuid: string, id: string): ClaudeState {
  if (state.texts.has(uuid)) return state;
  return { ...state, texts: new Map(state.texts).set(uuid, { id, state: 'sent' }) };
}

/** The text of that delivery, if it is known: that of the last attempt. */
export function textOf(state: ClaudeState, deliveryId: string): KnownText | undefined {
  return [...state.texts.values()].findLast(({ id }) => id === deliveryId);
}

/** Whether a text of ours is with the agent and not taken up. */
export function hasQueued(state: ClaudeState): boolean {
  for (const { state: fate } of state.texts.values()) if (fate === 'sent' || fate === 'queued') return true;
  return false;
}

/** Background work that lives, as it is told. */
export function liveTasks(state: ClaudeState): LiveTask[] {
  return [...state.tasks.values()].flatMap(({ taskId, name, isTold, hasLeft }) =>
    isTold && !hasLeft ? [{ taskId, name }] : [],
  );
}
