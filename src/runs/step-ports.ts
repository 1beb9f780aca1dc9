import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { RunRow } from '../ledger/plan.ts';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { RowsPlan } from '../ledger/step-plan.ts';

/** Reads what steps take in and leave behind. */
export interface StepData {
  /** Looks at every output, so that all that is wrong is told at once. Never rejects. */
  outputs(left: LeftBehind): Promise<OutputValues>;
  /**
   * The rows of a `foreach`; `printed` is what its command printed, whole. A list of anything but objects gives rows with one
   * column, `value`. Never rejects.
   */
  rows(from: RowsPlan, cwd: string, printed: string): Promise<RowsRead>;
}

/** A file that is there: its true path and its size in bytes. */
export interface FoundFile {
  readonly path: string;
  readonly bytes: number;
}

/** A file of a record. `path`: within the directory of its attempt. */
export interface KeptFile {
  readonly path: string;
  readonly bytes: number;
}

/** What is known of a step that may have left its outputs behind. */
export interface LeftBehind {
  readonly outputs: Readonly<Record<string, OutputPlan>>;
  /** Where it worked; absolute. */
  readonly cwd: string;
  /** What an agent answered last, or what a script printed. */
  readonly answer: string | null;
  /** What the commands of outputs came to, by the name of the output: what they printed, or why that is a no. */
  readonly printed: Readonly<Record<string, { readonly isYes: boolean; readonly text: string }>>;
  /** Keeps a copy of a file, and answers its path; where that cannot be done, the path that it was given. */
  readonly keep: (name: string, file: FoundFile) => Promise<string>;
}

/** The values of the outputs by name, or all that is wrong, a line each. */
export type OutputValues =
  | { readonly ok: true; readonly values: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly mistakes: readonly string[] };

/** The rows, or why there are none, in a sentence. */
export type RowsRead =
  | { readonly ok: true; readonly rows: readonly RunRow[] }
  | { readonly ok: false; readonly message: string };

/** Which attempt of which step of which workflow. */
export interface AttemptPlace {
  /** The execution of the workflow. */
  readonly workflowId: ExecutionId;
  readonly step: string;
  readonly attempt: number;
}

/** What is kept of one attempt. */
export interface AttemptRecord {
  /** What went to the agent, or the command of a script. */
  readonly prompt: string | null;
  /** What the agent answered last, or what a script printed. */
  readonly answer: { readonly by: 'agent' | 'script'; readonly text: string } | null;
  /** The conversation; null: there was none. */
  readonly sessionId: SessionId | null;
  readonly outputs: Readonly<Record<string, Json>>;
  /** State, code, instants, usage, execution: what the ledger says. */
  readonly result: Json;
}

/**
 * The record of workflows on disk, for people and for whoever scores them. What is written is never written again: a second
 * call finds it there. Nothing here rejects: where the disk fails it is reported, and work goes on without a record.
 */
export interface RunRecords {
  /** Where the record of a workflow is, whether it is there or not; absolute. */
  directory(workflowId: ExecutionId): string;
  /** Where that of an attempt is. */
  attemptDirectory(place: AttemptPlace): string;
  /** What is kept of an attempt now, by path within its directory; of very many the first ones. */
  files(place: AttemptPlace): Promise<KeptFile[]>;
  /** What it was asked to do, as it was then. */
  begin(workflowId: ExecutionId, what: { readonly workflow: Json; readonly inputs: Json }): Promise<void>;
  /** Copies a file that a step left behind, and answers where the copy is; without one, where the file is. */
  keepFile(place: AttemptPlace, name: string, file: FoundFile): Promise<string>;
  writeAttempt(place: AttemptPlace, record: AttemptRecord): Promise<void>;
  /** What the whole came to. */
  end(workflowId: ExecutionId, result: Json): Promise<void>;
}
