import type { RunId } from '../base/ids.ts';
import type { WorkspaceMode } from './schedule-definition.ts';

/** A checkout that was made for one run, with `git worktree add`. */
export interface Checkout {
  /** Its top level, inside the data directory. */
  readonly path: string;
  /** The top level of the repository that it is of. */
  readonly repository: string;
  /** The commit that it began at. */
  readonly commit: string;
  /** Its branch, `stemma/NAME/ID`. */
  readonly branch: string;
}

/** What became of what was made for a run. `kept`: somebody's work is in it, and `why` says which. */
export interface WorkspaceLeft {
  readonly what: 'removed' | 'kept';
  readonly why: string | null;
}

/**
 * Where a run works: the directory that was found or made for it (`PreparedWorkspace`), and its place in the line for what
 * it must have alone. At most one a run; a run without one works where its session does, and locks nothing.
 */
export interface Workspace extends PreparedWorkspace {
  readonly runId: RunId;
  /** Its place in the line of those that want the same lock, from when it first asked until its run has ended. */
  readonly place: number | null;
  /** Whether it holds its lock: from the lane of its first message until its run has ended. Of one lock, one holder. */
  readonly isHeld: boolean;
  /** Once the run has ended, and what was made for it was looked at. */
  readonly left: WorkspaceLeft | null;
}

/** A directory for a run, before the run exists. */
export interface PreparedWorkspace {
  readonly how: WorkspaceMode;
  /** The directory that was asked for; absolute. */
  readonly from: string;
  /** The directory in which the session of the run works; absolute, and it exists. */
  readonly path: string;
  /** What the run must have alone, for `exclusive`: a real path. Two runs with the same lock never run at once. */
  readonly lock: string | null;
  /** Of a `worktree`. */
  readonly checkout: Checkout | null;
}
