import type { ModelRequest } from './model-request.ts';

/** What the scripted model does with one request. */
export type Step =
  /** Answers with a text. `overMs`: streamed word by word over that time. `holdMs`: the response stays open after it. */
  | { readonly do: 'say'; readonly text: string; readonly overMs?: number; readonly holdMs?: number }
  /** Calls an offered tool: by its name, else by an ending of it, else by a part of it. */
  | { readonly do: 'call'; readonly tool: string; readonly args: Readonly<Record<string, unknown>> }
  /** Runs a command with the agent's own tool: waits for it, leaves it running, or asks to run it outside the sandbox. */
  | { readonly do: 'shell'; readonly command: string; readonly how: 'wait' | 'background' | 'escalate' }
  /** An HTTP error, after `afterMs` of silence. `resetsInSeconds` goes with 429. */
  | {
      readonly do: 'fail';
      readonly status: number;
      readonly afterMs?: number;
      readonly resetsInSeconds?: number;
    }
  /** Says nothing at all, not even headers, for `ms`, then answers. */
  | { readonly do: 'hang'; readonly ms: number }
  /** Streams for `afterMs`, then cuts the connection without an end. */
  | { readonly do: 'drop'; readonly afterMs: number };

/** Decides what the model does. Called once for each request, in the order of arrival. */
export type Script = (request: ModelRequest) => Step;
