import type { StopReason } from '@agentclientprotocol/sdk';

/*
 * What a demo script may say. Each action is an object with exactly one verb; the verbs are told in README.md.
 * This file has the shapes after reading; `read-script.ts` turns a JSON file into them.
 */

/** One step of what the agent does. `afterMs` delays it. */
export type Action =
  | { readonly verb: 'say'; readonly text: string; readonly afterMs: number }
  | { readonly verb: 'think'; readonly text: string }
  | { readonly verb: 'wait'; readonly ms: number }
  /** Waits for a file, relative to the working directory, to exist: whoever makes it says when the agent goes on. */
  | { readonly verb: 'until'; readonly file: string }
  /** Calls a tool of the MCP servers. `silent`: without telling the client; `saveAs`: the result is `{{name}}` from then on. */
  | {
      readonly verb: 'call';
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly saveAs: string | undefined;
      readonly silent: boolean;
      readonly afterMs: number;
    }
  | { readonly verb: 'parallel'; readonly actions: readonly Action[] }
  /** A tool of the agent's own: announced as pending, then completed after `ms`. */
  | { readonly verb: 'work'; readonly title: string; readonly ms: number; readonly output: string }
  | {
      readonly verb: 'ask';
      readonly question: string;
      readonly allowed: readonly Action[];
      readonly denied: readonly Action[];
    }
  | { readonly verb: 'end'; readonly reason: StopReason }
  | { readonly verb: 'fail'; readonly message: string; readonly code: number; readonly data: unknown }
  | { readonly verb: 'limit'; readonly message: string; readonly resetsInMs: number | undefined }
  | { readonly verb: 'login'; readonly message: string }
  | Misbehaviour;

/** What no agent should do, and every client must survive. */
export type Misbehaviour =
  /** Goes on by itself, `afterMs` after the answer has been sent. */
  | { readonly verb: 'later'; readonly actions: readonly Action[]; readonly afterMs: number }
  | { readonly verb: 'ignoreCancel' }
  /** Writes a response at once: to this prompt (the regular one is then the second), or to another id. */
  | { readonly verb: 'respond'; readonly reason: StopReason; readonly id: string | undefined }
  | { readonly verb: 'garbage'; readonly line: string }
  | { readonly verb: 'bigLine'; readonly bytes: number }
  /** Any session/update, well-formed or not; `session` names another conversation than this one. */
  | {
      readonly verb: 'update';
      readonly update: Readonly<Record<string, unknown>>;
      readonly session: string | undefined;
    }
  | { readonly verb: 'hang' }
  | { readonly verb: 'exit'; readonly code: number }
  | { readonly verb: 'kill' }
  | { readonly verb: 'stopReading' };

/** What the agent does for prompts that `when` matches; of several rules the first one that is not used up. */
export interface Rule {
  readonly when: RegExp;
  /** How often in one conversation; Infinity when the script does not say. */
  readonly times: number;
  readonly actions: readonly Action[];
}

/** A whole script. */
export interface DemoScript {
  readonly name: string;
  /** What the agent declares: that it can load conversations, and that it takes HTTP tools. */
  readonly offers: { readonly load: boolean; readonly tools: boolean };
  /** Played before the request of that name is answered. */
  readonly onInitialize: readonly Action[];
  readonly onSession: readonly Action[];
  readonly onLoad: readonly Action[];
  readonly rules: readonly Rule[];
  /** For a prompt that no rule matches. */
  readonly otherwise: readonly Action[];
}
