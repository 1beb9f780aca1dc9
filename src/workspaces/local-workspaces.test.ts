import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import type { RunId } from '../base/ids.ts';
import { Ids } from '../base/ids.ts';
import type { WorkspaceMode } from '../ledger/schedule-definition.ts';
import type { PreparedWorkspace, Workspace } from '../ledger/workspace.ts';
import { LocalWorkspaces } from './local-workspaces.ts';
import type { PreparedOrNot } from './port.ts';

const ids = new Ids(systemClock.now, Math.random);
let root: string;
let repository: string;
let workspaces: LocalWorkspaces;

function run(directory: string, ...args: string[]): string {
  const who = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.test', '-c', 'init.defaultBranch=main'];
  return execFileSync('git', [...who, ...args], { cwd: directory, encoding: 'utf8', stdio: 'pipe' }).trim();
}

function commit(directory: string, name: string): void {
  writeFileSync(join(directory, name), name);
  run(directory, 'add', '-A');
  run(directory, 'commit', '-qm', name);
}

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'stemma-workspaces-')));
  repository = join(root, 'repository');
  mkdirSync(join(repository, 'app'), { recursive: true });
  run(repository, 'init', '-q');
  writeFileSync(join(repository, '.gitignore'), 'built\n');
  commit(join(repository, 'app'), 'first.txt');
  workspaces = new LocalWorkspaces({ clock: systemClock, dataDir: join(root, 'data') });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function prepare(how: WorkspaceMode, cwd = repository, runId = ids.make('run')): Promise<PreparedOrNot> {
  return workspaces.prepare({ runId, name: 'Nightly build', how, cwd });
}

/** A workspace that must be had, as the row of its run. */
async function had(how: WorkspaceMode, cwd = repository, runId = ids.make('run')): Promise<Workspace> {
  const prepared = await prepare(how, cwd, runId);
  if (!prepared.ok) throw new Error(prepared.message);
  return rowOf(runId, prepared.workspace);
}

function rowOf(runId: RunId, workspace: PreparedWorkspace): Workspace {
  return { ...workspace, runId, place: null, isHeld: false, left: null };
}

describe('what a run locks that must have a directory alone', () => {
  const lockOf = async (cwd: string): Promise<string | null> => (await had('exclusive', cwd)).lock;

  it('is the top level of the repository, by whatever path it is reached', async () => {
    symlinkSync(join(repository, 'app'), join(root, 'link'));
    for (const cwd of [repository, `${repository}/`, join(repository, 'app'), join(root, 'link')])
      expect(await lockOf(cwd)).toBe(repository);
  });

  it('is the directory itself where there is no repository', async () => {
    mkdirSync(join(root, 'plain', 'below'), { recursive: true });
    expect(await lockOf(join(root, 'plain', 'below'))).toBe(join(root, 'plain', 'below'));
  });

  it('of a checkout by git worktree is that checkout, of a submodule the repository around it', async () => {
    run(repository, 'worktree', 'add', '-q', '--detach', join(root, 'other'));
    expect(await lockOf(join(root, 'other', 'app'))).toBe(join(root, 'other'));
    mkdirSync(join(repository, 'module'));
    writeFileSync(join(repository, 'module', '.git'), 'gitdir: ../.git/modules/module\n');
    expect(await lockOf(join(repository, 'module'))).toBe(repository);
  });

  it('is nothing for what is shared, and the session works where it was asked to', async () => {
    expect(await had('shared', join(repository, 'app'))).toMatchObject({
      lock: null,
      path: join(repository, 'app'),
      checkout: null,
    });
  });
});

describe('a directory that does not do', () => {
  it.each(['exclusive', 'worktree', 'shared'] as const)('is refused for %s', async (how) => {
    writeFileSync(join(root, 'file'), '');
    for (const cwd of [join(root, 'missing'), join(root, 'file')])
      expect(await prepare(how, cwd)).toMatchObject({
        ok: false,
        code: 'INVALID_WORKSPACE',
        data: { path: cwd },
      });
  });

  it('is refused as a worktree when there is no repository, no commit, or no working tree', async () => {
    const [plain, empty, bare] = ['plain', 'empty', 'bare'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    mkdirSync(plain);
    run(root, 'init', '-q', empty);
    run(root, 'init', '-q', '--bare', bare);
    const places = [
      [plain, /is in no git repository; use workspace: exclusive/],
      [empty, /has no commit yet/],
      [bare, /is a bare git repository/],
      [join(repository, '.git'), /is not in the working tree of a repository/],
    ] as const;
    for (const [cwd, message] of places)
      expect(await prepare('worktree', cwd)).toMatchObject({
        ok: false,
        code: 'INVALID_WORKSPACE',
        message: expect.stringMatching(message) as string,
      });
    expect(existsSync(join(root, 'data', 'workspaces'))).toBe(false);
  });
});

describe('a scratch directory', () => {
  it('is empty, the run’s own, the same when asked for again, and kept', async () => {
    const runId = ids.make('run');
    const scratch = await had('scratch', repository, runId);
    expect(readdirSync(scratch.path)).toEqual([]);
    writeFileSync(join(scratch.path, 'result'), '');
    expect((await had('scratch', repository, runId)).path).toBe(scratch.path);
    expect(await workspaces.release(scratch)).toMatchObject({ what: 'kept' });
    expect(readdirSync(scratch.path)).toEqual(['result']);
  });
});

describe('a worktree', () => {
  it('is a checkout of the same commit on a branch of its own, at the same place in the repository', async () => {
    const made = await had('worktree', join(repository, 'app'));
    const { checkout, path } = made;
    expect(path).toBe(join(checkout!.path, 'app'));
    expect(readdirSync(path)).toEqual(['first.txt']);
    const id = made.runId.slice(4).toLowerCase();
    expect(checkout).toMatchObject({ repository, branch: `stemma/nightly-build/${id}` });
    expect(run(path, 'rev-parse', 'HEAD')).toBe(run(repository, 'rev-parse', 'HEAD'));
    expect(made.lock).toBeNull();
  });

  it('is removed at the end with its branch, when nothing was done in it but what git ignores', async () => {
    const made = await had('worktree');
    writeFileSync(join(made.path, 'built'), '');
    expect(await workspaces.release(made)).toEqual({ what: 'removed', why: null });
    expect(existsSync(made.path)).toBe(false);
    expect(run(repository, 'branch', '--list', 'stemma/*')).toBe('');
    expect(run(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
    expect(await workspaces.release(made)).toEqual({ what: 'removed', why: null });
  });

  it('is removed when its commits are on another branch', async () => {
    const made = await had('worktree');
    commit(made.path, 'second.txt');
    run(repository, 'merge', '-q', '--ff-only', made.checkout!.branch);
    expect(await workspaces.release(made)).toEqual({ what: 'removed', why: null });
    expect(existsSync(join(repository, 'second.txt'))).toBe(true);
  });

  const works: readonly (readonly [what: string, work: (path: string) => void, why: RegExp])[] = [
    ['a file that is new', (path) => writeFileSync(join(path, 'new'), ''), /^1 file is changed or new$/],
    ['a file that is changed', (path) => writeFileSync(join(path, 'app', 'first.txt'), '2'), /^1 file is/],
    ['a commit', (path) => commit(path, 'more'), /^1 commit is on no other branch$/],
    [
      'a commit on no branch at all',
      (path) => {
        run(path, 'checkout', '-q', '--detach');
        commit(path, 'more');
      },
      /^1 commit is on no other branch$/,
    ],
  ];
  it.each(works)('is kept with %s, and says so', async (_, work, why) => {
    const made = await had('worktree');
    work(made.path);
    const left = await workspaces.release(made);
    expect(left.what).toBe('kept');
    expect(left.why).toMatch(why);
    expect(existsSync(made.path)).toBe(true);
  });

  it('is the same when it is asked for again, also when it was kept; a removed one is made again', async () => {
    const made = await had('worktree');
    writeFileSync(join(made.path, 'new'), '');
    await workspaces.release(made);
    expect(await had('worktree', repository, made.runId)).toEqual(made);
    expect(readdirSync(made.path)).toContain('new');
    rmSync(join(made.path, 'new'));
    await workspaces.release(made);
    const again = await had('worktree', repository, made.runId);
    expect(again).toEqual(made);
    expect(existsSync(made.path)).toBe(true);
  });

  it('is had again from its branch when somebody took the directory away', async () => {
    const made = await had('worktree');
    commit(made.path, 'second.txt');
    rmSync(made.path, { recursive: true });
    expect(await had('worktree', repository, made.runId)).toEqual(made);
    expect(existsSync(join(made.path, 'second.txt'))).toBe(true);
  });

  it('is made for several runs of one repository at once', async () => {
    const made = await Promise.all([1, 2, 3, 4].map(() => had('worktree')));
    expect(new Set(made.map((each) => each.path)).size).toBe(4);
    for (const { path } of made) expect(existsSync(join(path, 'app', 'first.txt'))).toBe(true);
    const left = await Promise.all(made.map((each) => workspaces.release(each)));
    expect(left.map((each) => each.what)).toEqual(Array.from({ length: 4 }, () => 'removed'));
  });

  it('runs nothing that the repository has configured', async () => {
    const hook = join(repository, '.git', 'hooks', 'post-checkout');
    mkdirSync(join(repository, '.git', 'hooks'), { recursive: true });
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(root, 'ran')}\n`, { mode: 0o755 });
    run(repository, 'config', 'core.fsmonitor', `touch ${join(root, 'ran')}; false`);
    const made = await had('worktree');
    await workspaces.release(made);
    expect(existsSync(join(root, 'ran'))).toBe(false);
  });

  it('is refused with what git said when git fails', async () => {
    run(repository, 'branch', 'stemma');
    const prepared = await prepare('worktree');
    expect(prepared).toMatchObject({ ok: false, code: 'GIT_FAILED' });
    expect(readdirSync(join(root, 'data', 'workspaces'))).toEqual([]);
  });

  it('is not made while the server stops', async () => {
    const wanted = { runId: ids.make('run'), name: 'x', how: 'worktree', cwd: repository } as const;
    expect(await workspaces.prepare(wanted, AbortSignal.abort())).toMatchObject({
      ok: false,
      code: 'STOPPING',
    });
  });
});

describe('what was made for a run that never began', () => {
  it('is removed at the start, unless somebody worked in it; what runs have is left alone', async () => {
    const [known, unused, used] = [await had('worktree'), await had('worktree'), await had('worktree')];
    const empty = await had('scratch');
    writeFileSync(join(used.path, 'new'), '');
    const kept = await workspaces.reconcile(async (id) => id === known.runId);
    expect(kept).toEqual([
      { path: join(root, 'data', 'workspaces', used.runId), why: '1 file is changed or new' },
    ]);
    expect([known, unused, used, empty].map((each) => existsSync(each.path))).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it('is removed when git was killed in the middle of making it', async () => {
    const made = await had('worktree');
    const record = join(root, 'data', 'workspaces', made.runId, 'checkout.json');
    const { checkout, path } = made;
    writeFileSync(record, JSON.stringify({ ...checkout, cwd: path, isReady: false }));
    rmSync(join(path, 'app'), { recursive: true });
    expect(await workspaces.reconcile(async () => false)).toEqual([]);
    expect(existsSync(path)).toBe(false);
    expect(run(repository, 'branch', '--list', 'stemma/*')).toBe('');
    expect(run(repository, 'worktree', 'list').split('\n')).toHaveLength(1);
  });

  it('is made anew when it is asked for again after such a death', async () => {
    const made = await had('worktree');
    const record = join(root, 'data', 'workspaces', made.runId, 'checkout.json');
    const { checkout, path } = made;
    writeFileSync(record, JSON.stringify({ ...checkout, cwd: path, isReady: false }));
    rmSync(join(path, 'app'), { recursive: true });
    expect(await had('worktree', repository, made.runId)).toEqual(made);
    expect(existsSync(join(path, 'app', 'first.txt'))).toBe(true);
  });
});
