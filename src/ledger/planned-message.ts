import type { Json } from '../base/json.ts';
import type { Budget } from './execution.ts';

/** One text of a sequence, and what was asked of it. */
export interface TextMessage {
  readonly text: string;
  readonly timeoutMs: number;
  readonly onFailure: 'stop' | 'continue';
  readonly join: 'own' | 'all';
  readonly check: string | null;
  readonly background: 'wait' | 'cancel' | 'detach';
  readonly budget?: Budget;
  /** How often it is sent again when it failed; absent: never. */
  readonly retry?: Retry;
  /** Its templates are filled in when it is sent; absent, this is so in runs of schedules only. */
  readonly templates?: true;
  /** What must hold when it is closed; absent: nothing more. */
  readonly gate?: Gate;
}

/** Another attempt is a new root, sent `backoffMs` after the failed one is closed; twice as long each time. */
export interface Retry {
  /** Attempts beside the first one. */
  readonly max: number;
  readonly backoffMs: number;
}

/** What must hold behind a message. What does not goes back into the same conversation as another attempt, at once. */
export interface Gate {
  /** A shell command that must exit with 0; null: none. */
  readonly command: string | null;
  /** What must have been left behind, by name; null: nothing. */
  readonly outputs: Readonly<Record<string, OutputPlan>> | null;
  /** How many such attempts there may be; then the message has failed. */
  readonly repairs: number;
  /** Said before what was wrong; null: our own words. */
  readonly repairText: string | null;
}

/** What a step must leave behind. The value of each is what templates of later steps stand for. */
export type OutputPlan =
  /** A file that must be there, relative to the working directory; a copy is kept. Its value is the path of the copy. */
  | { readonly from: 'file'; readonly path: string }
  /** A file of JSON. Its value is what it says. `schema`: a JSON Schema that it must fit. */
  | { readonly from: 'json'; readonly path: string; readonly schema: Json | null }
  /** What an agent answered last, or what a script printed; with a schema it must be JSON that fits. */
  | { readonly from: 'answer'; readonly schema: Json | null }
  /** A shell command that must exit with 0. Its value is what it prints, without the last line break. */
  | { readonly from: 'command'; readonly command: string };
