import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import type { PreparedWorkspace, Workspace, WorkspaceLeft } from '../ledger/workspace.ts';
import { Checkouts } from './checkouts.ts';
import { lockPathOf } from './lock-path.ts';
import type { KeptDirectory, PreparedOrNot, WantedWorkspace, Workspaces } from './port.ts';
import { Serials } from './serials.ts';

/** Longest name that becomes part of a branch's. */
const longestName = 60;

/** Directories of runs on this machine: those that were asked for, and what is made below the data directory. */
export class LocalWorkspaces implements Workspaces {
  /** What is made for runs, each in a directory of the run's id. */
  readonly #root: string;
  readonly #checkouts: Checkouts;
  /** By run: it is not released while it is prepared. */
  readonly #serials = new Serials();

  constructor({ clock, dataDir }: { readonly clock: Clock; readonly dataDir: string }) {
    this.#root = join(dataDir, 'workspaces');
    this.#checkouts = new Checkouts(clock);
  }

  prepare(wanted: WantedWorkspace, signal?: AbortSignal): Promise<PreparedOrNot> {
    return this.#serials.run(wanted.runId, () => this.#prepare(wanted, signal));
  }

  release({ runId, checkout }: Workspace): Promise<WorkspaceLeft> {
    if (checkout === null) return Promise.resolve({ what: 'kept', why: null });
    return this.#serials.run(runId, () => this.#checkouts.remove(this.#directory(runId)));
  }

  async reconcile(isKnown: (runId: RunId) => Promise<boolean>): Promise<readonly KeptDirectory[]> {
    const kept: KeptDirectory[] = [];
    for (const name of await namesIn(this.#root)) {
      if (!isId('run', name) || (await isKnown(name))) continue;
      const why = await this.#serials.run(name, () => this.#discard(name));
      if (why !== undefined) kept.push({ path: this.#directory(name), why });
    }
    return kept;
  }

  async #prepare(wanted: WantedWorkspace, signal: AbortSignal | undefined): Promise<PreparedOrNot> {
    const { cwd, how, runId } = wanted;
    const base = { how, from: cwd, path: cwd, lock: null, checkout: null };
    if (how === 'scratch') {
      const path = join(this.#directory(runId), 'scratch');
      await mkdir(path, { recursive: true, mode: 0o700 });
      return ready({ ...base, path });
    }
    const missing = await whyNoDirectory(cwd);
    if (missing !== undefined) return refused(cwd, missing);
    if (how === 'shared') return ready(base);
    if (how === 'exclusive') return ready({ ...base, lock: await lockPathOf(cwd) });
    const branch = branchOf(wanted);
    const made = await this.#checkouts.make({ directory: this.#directory(runId), cwd, branch, signal });
    if (!made.ok) return { ...made, data: { path: cwd } };
    const { path, repository, commit, cwd: inside } = made.record;
    return ready({ ...base, path: inside, checkout: { path, repository, commit, branch } });
  }

  /** Of a run that never began: why it is kept, if so. */
  async #discard(runId: RunId): Promise<string | undefined> {
    const directory = this.#directory(runId);
    const scratch = join(directory, 'scratch');
    const names = await namesIn(scratch);
    if (names.length > 0) return `${names.length} files are in ${scratch}`;
    await rmdir(scratch).catch(() => undefined);
    const left = await this.#checkouts.remove(directory);
    if (left.what === 'removed') await rm(directory, { recursive: true, force: true });
    return left.what === 'kept' ? (left.why ?? 'it is in use') : undefined;
  }

  #directory(runId: RunId): string {
    return join(this.#root, runId);
  }
}

/** `stemma/nightly/01J…`: by what runs, and by the id of the run, so that no two are the same. */
function branchOf({ name, runId }: WantedWorkspace): string {
  const words = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const short = words.slice(0, longestName).replaceAll(/^-+|-+$/g, '');
  return `stemma/${short || 'run'}/${runId.slice('run_'.length).toLowerCase()}`;
}

function ready(workspace: PreparedWorkspace): PreparedOrNot {
  return { ok: true, workspace };
}

function refused(path: string, message: string): PreparedOrNot {
  return { ok: false, code: 'INVALID_WORKSPACE', message, data: { path } };
}

async function whyNoDirectory(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : `the directory ${path} is none; name a directory`;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return `the directory ${path} ${isMissing ? 'does not exist' : 'cannot be used'}; name one that can`;
  }
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch {
    return [];
  }
}
