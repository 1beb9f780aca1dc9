import type { AgentProfile } from '../port.ts';

/** Profiles of one driver that each have one fault. */
export interface FaultyProfiles {
  readonly diesAtStart?: AgentProfile;
  readonly hangsAtStart?: AgentProfile;
  readonly garbageAtStart?: AgentProfile;
}

/**
 * What an agent can be told to do, for a check. A scripted agent has a prompt for each; an arbitrary one understands only
 * `plainPrompts`, and the cases that need more are skipped.
 */
export interface Prompts {
  /** Answers with some text, at once. */
  readonly simple?: string;
  /** Calls the tool `echo` with any text, then answers. */
  readonly toolCall?: string;
  /** Works for at least two seconds, and shows it from the beginning; stops when it is interrupted. */
  readonly slow?: string;
  /** Works for about a second, and shows it from the beginning; answers then. */
  readonly brief?: string;
  /** Calls the tool `slow` for two seconds, then answers. */
  readonly slowTool?: string;
  /** Calls the tool `echo` once, also when it arrives within a running turn. */
  readonly steered?: string;
  /** Starts some work that goes on for about two seconds by itself, and answers at once. */
  readonly background?: string;
  /** Fails because the sign-in has expired. */
  readonly signIn?: string;
  /** Fails. */
  readonly error?: string;
  /** Fails because of a usage limit. */
  readonly usageLimit?: string;
  /** Answers, and some hundred milliseconds later goes on by itself. */
  readonly late?: string;
  /** Says something, works with a tool for half a second, and then answers with another text. */
  readonly pendingTool?: string;
  /** Ends its turn twice. */
  readonly twoEnds?: string;
  /** Ends its turn without any sign of work before. */
  readonly silent?: string;
  /** Says that a turn ended that nobody started, before it answers. */
  readonly endBeforeStart?: string;
  /** Writes what is no protocol, then answers. */
  readonly garbage?: string;
  /** Answers with a line of more than a megabyte. */
  readonly bigLine?: string;
  /** Asks for a permission, and answers when it has one, or has none. */
  readonly question?: string;
  /** Dies before any sign of work. */
  readonly diesSilently?: string;
  /** Dies after the first sign of work. */
  readonly diesInTurn?: string;
  /** Answers, and dies at once. */
  readonly diesAfterTurn?: string;
  /** Never answers, whatever it is told. */
  readonly hangs?: string;
  /** Works on for a second, whatever it is told, and answers then. */
  readonly ignoresCancel?: string;
  /** Answers, and reads nothing any more. */
  readonly stopsReading?: string;
}

/** One thing that an agent can be told to do. */
export type Behaviour = keyof Prompts;

/** For an agent that nobody scripted. They cost three short turns of a model. */
export const plainPrompts: Prompts = {
  simple: 'Answer with the single word: ready. Use no tools.',
  toolCall:
    'Call the tool "echo" of the MCP server "stemma" once, with the text "check". Then answer with the single word: done.',
  slow: 'Count from 1 to 400, each number in words on a line of its own. Use no tools.',
  brief: 'Count from 1 to 20, each number in words on a line of its own. Use no tools.',
};
