/** An error as opencode tells it. */
export interface OpencodeError {
  readonly name: string;
  readonly message: string;
  readonly status?: number;
  /** UTC milliseconds at which the provider says that it may be asked again. */
  readonly resetsAt?: number;
}

/** What one request of the agent to its model came to, so far. */
export interface AssistantSignal {
  readonly type: 'assistant';
  readonly sessionId: string;
  readonly messageId: string;
  /** The newest message of a user when the request was made: it, and whatever came before it, is in the request. */
  readonly parentId: string;
  /** UTC milliseconds; of a message that is not over, missing. */
  readonly completedAt?: number;
  readonly finish?: string;
  readonly error?: OpencodeError;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly usd: number;
  /** The agent summed up what was said, to make room. */
  readonly isSummary: boolean;
}

/** A tool call as it stands. Long texts are cut. */
export interface ToolSignal {
  readonly type: 'tool';
  readonly sessionId: string;
  readonly messageId: string;
  readonly partId: string;
  readonly tool: string;
  readonly status: 'pending' | 'running' | 'completed' | 'error';
  readonly input: string;
  readonly output: string;
  /** The session of the sub-agent that it started. */
  readonly childId?: string;
  /** It goes on without that sub-agent. */
  readonly isBackground: boolean;
}

/** A question as it is shown to a person. */
export interface AskedSignal {
  readonly type: 'asked';
  readonly sessionId: string;
  readonly questionId: string;
  readonly text: string;
  readonly choices: readonly string[];
}

/**
 * What opencode tells of sessions, and what we did ourselves, in one order. This is what is kept in the journal, so all of it
 * is plain data; times are UTC milliseconds.
 */
export type Signal =
  | {
      readonly type: 'user';
      readonly sessionId: string;
      readonly messageId: string;
      readonly createdAt: number;
    }
  /** A part of a user's message. `isSynthetic`: written by the agent in the user's name. */
  | {
      readonly type: 'userText';
      readonly sessionId: string;
      readonly messageId: string;
      readonly partId: string;
      readonly text: string;
      readonly isSynthetic: boolean;
    }
  | AssistantSignal
  /** Text or reasoning of the agent, when it is complete. */
  | {
      readonly type: 'text' | 'reasoning';
      readonly sessionId: string;
      readonly messageId: string;
      readonly partId: string;
      readonly text: string;
    }
  | ToolSignal
  | { readonly type: 'busy'; readonly sessionId: string }
  | { readonly type: 'retry'; readonly sessionId: string; readonly message: string; readonly next?: number }
  | { readonly type: 'idle'; readonly sessionId: string }
  | { readonly type: 'error'; readonly sessionId: string; readonly error: OpencodeError }
  | AskedSignal
  | { readonly type: 'settled'; readonly sessionId: string; readonly questionId: string }
  | { readonly type: 'removed'; readonly sessionId: string; readonly messageId: string }
  | {
      readonly type: 'child';
      readonly sessionId: string;
      readonly parentId: string;
      readonly title: string;
    }
  /** A text of ours is about to be handed over. */
  | { readonly type: 'sending'; readonly deliveryId: string; readonly messageId: string }
  /** It provably never arrived. */
  | { readonly type: 'notSent'; readonly deliveryId: string }
  /** These messages were there before anything was ours to report. */
  | { readonly type: 'known'; readonly messageIds: readonly string[] }
  /** The turn whose newest message this is was the last thing that went on. `isBroken`: the message will never be finished. */
  | { readonly type: 'closed'; readonly messageId: string; readonly isBroken: boolean }
  /** The process that was at work is dead, and another one reads its record: what it was at is over, and nobody can say how. */
  | { readonly type: 'died' }
  | { readonly type: 'exited'; readonly reason: string }
  | { readonly type: 'noise'; readonly what: string };
