import type { ErrorCode } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import type { WorkspaceMode } from '../ledger/schedule-definition.ts';
import type { PreparedWorkspace, Workspace, WorkspaceLeft } from '../ledger/workspace.ts';

/** Whose workspace, of which kind, from which directory. */
export interface WantedWorkspace {
  /** Made before the run is: it names what is made on disk, so that a repetition finds the same. */
  readonly runId: RunId;
  /** Of the schedule or the run; part of a branch's name. */
  readonly name: string;
  readonly how: WorkspaceMode;
  /** Absolute. */
  readonly cwd: string;
}

/** A workspace, or why there can be none: what is wrong with the directory, and what to do. */
export type PreparedOrNot =
  | { readonly ok: true; readonly workspace: PreparedWorkspace }
  | {
      readonly ok: false;
      readonly code: ErrorCode;
      readonly message: string;
      readonly data: Readonly<Record<string, unknown>>;
    };

/**
 * The directories of runs. Nothing here decides who may work where: `exclusive` only says which path is to be locked, and
 * the ledger locks it, when the first message of the run takes the lane (`ledger/admission.ts`).
 *
 * How it is called, in this order:
 *
 * 1. Whoever begins a run has made its id. `prepare` with it, before the session is written: `workspace.path` is the `cwd`
 *    of a new session. `ok: false` begins no run; its code and message are for the person (`skipped`, or the answer of
 *    `POST /runs`). A repetition after a crash answers the same.
 * 2. In the transaction that begins the run: `beginRun({ …, workspace })`, or `addWorkspace(draft, runId, workspace)` of
 *    `ledger/workspace-lock.ts` behind `insertRun`. From then on the ledger does the rest.
 * 3. The run ends. That transaction gives the lock up, wakes whoever waits for it, and owes the wake-up `workspace` of the
 *    run where something was made on disk; its handler (`runs/workspaces.ts`) calls `release`, and writes what is left.
 * 4. A run that goes on after its end (`rerun`, `resume`): `prepareAgain` of `runs/workspaces.ts` before that is decided. A
 *    checkout that was removed is made again under the same path; one that was kept is the one that it gets.
 *
 * A conversation that is kept (`session: keep`) has one directory for good: `worktree` and `scratch` are of a run, and are
 * refused with it where the definition is accepted; `exclusive` and `shared` go with it.
 */
export interface Workspaces {
  /**
   * Finds or makes the directory. Idempotent: the same run gets the same one. Never rejects but for a bug. Its codes are
   * `INVALID_WORKSPACE` for a directory or repository that does not do, `GIT_FAILED` for a git that is missing, fails or
   * does not come to an end, and `STOPPING` after an abort.
   */
  prepare(wanted: WantedWorkspace, signal?: AbortSignal): Promise<PreparedOrNot>;
  /**
   * The run has ended: a checkout in which nothing is left goes, one with somebody's work stays. Idempotent, also when
   * everything is gone already. `kept` with the reason where anything is in doubt: nothing is ever removed on a guess.
   */
  release(workspace: Workspace): Promise<WorkspaceLeft>;
  /**
   * Removes what was made for runs that never began: whoever made it died before the run was written. For the start of a
   * server, before anything is prepared. Answers what it kept since somebody's work is in it.
   */
  reconcile(isKnown: (runId: RunId) => Promise<boolean>): Promise<readonly KeptDirectory[]>;
}

/** A directory that belongs to no run, and why it was kept. */
export interface KeptDirectory {
  readonly path: string;
  readonly why: string;
}
