import { access, mkdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { WorkspaceLeft } from '../ledger/workspace.ts';
import type { CheckoutRecord } from './checkout-record.ts';
import { readRecord, writeRecord } from './checkout-record.ts';
import type { GitAnswer } from './git.ts';
import { git } from './git.ts';
import { Serials } from './serials.ts';

/** How long a checkout may take to be made, in milliseconds. */
const makeMs = 5 * 60_000;

/** For which run a checkout is made, and from where. */
export interface CheckoutWanted {
  /** Belongs to the run: the checkout is made in it. */
  readonly directory: string;
  readonly cwd: string;
  readonly branch: string;
  readonly signal?: AbortSignal | undefined;
}

/** A checkout that is there, or why not. */
export type CheckoutMade =
  | { readonly ok: true; readonly record: CheckoutRecord }
  | { readonly ok: false; readonly code: ErrorCode; readonly message: string };

/** Makes checkouts of repositories for runs with `git worktree add`, and removes those in which nothing is left. */
export class Checkouts {
  readonly #clock: Clock;
  /** By repository: git locks its own files, and does not wait for them. */
  readonly #serials = new Serials();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The one that was made before, or a new one. What an earlier server began and did not finish is made anew. */
  async make(wanted: CheckoutWanted): Promise<CheckoutMade> {
    const known = await readRecord(wanted.directory);
    if (known?.isReady && (await exists(known.path))) {
      await mkdir(known.cwd, { recursive: true });
      return { ok: true, record: known };
    }
    if (known) await this.#serials.run(known.repository, () => this.#discard(known));
    const found = await this.#look(wanted);
    if (!found.ok) return found;
    return this.#serials.run(found.record.repository, () => this.#add(wanted, found.record));
  }

  /** Removes it, unless somebody's work is in it, or may be. */
  async remove(directory: string): Promise<WorkspaceLeft> {
    const record = await readRecord(directory);
    if (record) {
      const why = await this.#serials.run(record.repository, () => this.#removeRecorded(record));
      if (why !== undefined) return { what: 'kept', why };
    }
    await rm(directory, { recursive: true, force: true });
    return { what: 'removed', why: null };
  }

  #git(directory: string, args: readonly string[], options: object = {}): Promise<GitAnswer> {
    return git(directory, args, { clock: this.#clock, ...options });
  }

  async #look({ directory, cwd, branch, signal }: CheckoutWanted): Promise<CheckoutMade> {
    const asked = ['rev-parse', '--is-bare-repository', '--is-inside-work-tree'];
    const kind = await this.#git(cwd, asked, { signal });
    if (!kind.ok) {
      const isNone = kind.message.includes('not a git repository');
      return refused(kind, isNone ? `${cwd} is in no git repository` : `${cwd}: ${kind.message}`);
    }
    if (!kind.text.includes('true'))
      return refused(kind, `${cwd} is not in the working tree of a repository`);
    if (kind.text.startsWith('true')) return refused(kind, `${cwd} is a bare git repository`);
    const place = await this.#git(cwd, ['rev-parse', '--show-toplevel', '--show-prefix'], { signal });
    if (!place.ok) return refused(place, `the working tree of ${cwd} cannot be found`);
    const [repository = '', prefix = ''] = place.text.split('\n');
    const head = await this.#git(cwd, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'], { signal });
    if (!head.ok) return refused(head, `the repository ${repository} has no commit yet`);
    const path = join(directory, 'tree');
    const commit = head.text.trim();
    return {
      ok: true,
      record: { path, repository, commit, branch, cwd: resolve(path, prefix), isReady: false },
    };
  }

  async #add({ directory, signal }: CheckoutWanted, record: CheckoutRecord): Promise<CheckoutMade> {
    await writeRecord(directory, record);
    const { path, repository, branch, commit, cwd } = record;
    // Where an earlier checkout of the run was taken away by hand, what was done in it is on its branch.
    const kept = await this.#git(repository, ['rev-parse', '--verify', '--quiet', `refs/heads/${branch}`]);
    const what = kept.ok ? [path, branch] : ['-b', branch, path, commit];
    const args = ['worktree', 'add', '--quiet', ...what];
    const added = await this.#git(repository, args, { signal, timeoutMs: makeMs });
    if (!added.ok) {
      await this.#discard(record);
      await rm(directory, { recursive: true, force: true });
      return refused(added, added.message, 'GIT_FAILED');
    }
    // What the directory holds may not be in the repository.
    await mkdir(cwd, { recursive: true });
    const ready = { ...record, isReady: true };
    await writeRecord(directory, ready);
    return { ok: true, record: ready };
  }

  /** Takes back what was begun and never used, so that it can be made anew. */
  async #discard({ path, repository, branch, commit, isReady }: CheckoutRecord): Promise<void> {
    // One that was ready and is gone: its branch may have what somebody did.
    await this.#git(repository, ['worktree', 'remove', ...(isReady ? [] : ['--force']), path]);
    if (!isReady) await rm(path, { recursive: true, force: true });
    await this.#git(repository, ['worktree', 'prune']);
    // Only if it is where it was made.
    await this.#git(repository, ['update-ref', '-d', `refs/heads/${branch}`, commit]);
  }

  async #removeRecorded(record: CheckoutRecord): Promise<string | undefined> {
    const { path, repository, branch } = record;
    if (!record.isReady) {
      await this.#discard(record);
      return undefined;
    }
    if (!(await exists(path))) {
      await this.#git(repository, ['worktree', 'prune']);
      return this.#dropBranch(record);
    }
    const why = (await this.#whyDirty(record)) ?? (await this.#whyAhead(record, path, ['HEAD']));
    if (why !== undefined) return why;
    // Without force: git looks once more, and refuses what it would lose.
    const removed = await this.#git(repository, ['worktree', 'remove', path]);
    if (!removed.ok) return removed.message;
    const kept = await this.#dropBranch(record);
    return kept === undefined ? undefined : `the branch ${branch} in ${repository}: ${kept}`;
  }

  /** Removes the branch that was made, if all that is on it is on another one too. */
  async #dropBranch(record: CheckoutRecord): Promise<string | undefined> {
    const { repository, branch } = record;
    if (!(await exists(repository))) return undefined;
    const ref = `refs/heads/${branch}`;
    const tip = await this.#git(repository, ['rev-parse', '--verify', '--quiet', ref]);
    if (!tip.ok) return tip.why === 'failed' ? undefined : tip.message;
    const why = await this.#whyAhead(record, repository, [ref]);
    if (why !== undefined) return why;
    const dropped = await this.#git(repository, ['branch', '--quiet', '-D', branch]);
    return dropped.ok ? undefined : dropped.message;
  }

  async #whyDirty({ path }: CheckoutRecord): Promise<string | undefined> {
    const status = await this.#git(path, ['status', '--porcelain', '-z']);
    if (!status.ok) return status.message;
    const changes = status.text.split('\0').filter((entry) => entry !== '').length;
    if (changes > 0) return `${changes} ${changes === 1 ? 'file is' : 'files are'} changed or new`;
    const places = await this.#git(path, ['rev-parse', '--absolute-git-dir']);
    if (!places.ok) return places.message;
    const under = [
      'rebase-merge',
      'rebase-apply',
      'MERGE_HEAD',
      'CHERRY_PICK_HEAD',
      'REVERT_HEAD',
      'BISECT_LOG',
    ];
    for (const name of under)
      if (await exists(join(places.text.trim(), name))) return `${basename(name)} shows that git is at work`;
    return undefined;
  }

  /** Commits that would be on no branch any more. */
  async #whyAhead(
    record: CheckoutRecord,
    directory: string,
    of: readonly string[],
  ): Promise<string | undefined> {
    const others = [`--exclude=${record.branch}`, '--branches', '--remotes', '--tags', record.commit];
    const ahead = await this.#git(directory, ['rev-list', '--count', ...of, '--not', ...others]);
    if (!ahead.ok) return ahead.message;
    const count = Number(ahead.text.trim());
    return count === 0
      ? undefined
      : `${count} ${count === 1 ? 'commit is' : 'commits are'} on no other branch`;
  }
}

function refused(answer: GitAnswer, what: string, code: ErrorCode = 'INVALID_WORKSPACE'): CheckoutMade {
  if (answer.ok || answer.why === 'failed') {
    const advice = 'use workspace: exclusive, or a directory in a repository with a commit';
    return { ok: false, code, message: code === 'GIT_FAILED' ? what : `${what}; ${advice}` };
  }
  return { ok: false, code: answer.why === 'stopped' ? 'STOPPING' : 'GIT_FAILED', message: answer.message };
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}
