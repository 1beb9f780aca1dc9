import { readFile, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * What a run locks that must have a directory alone: its real path, so that a symbolic link or a slash at the end makes no
 * second one; below a git repository the top level of that, since a commit takes everything below it; of a submodule, that
 * of the repository around it. A checkout made by `git worktree add` is one of its own. Found without git, which need not
 * be there and whose configuration says nothing here. Rejects when the directory does not exist.
 */
export async function lockPathOf(directory: string): Promise<string> {
  const real = await realpath(directory);
  let top = real;
  for (let at = real; ; at = dirname(at)) {
    const kind = await kindOf(join(at, '.git'));
    if (kind === 'repository') return at;
    // What is around a submodule goes before it.
    if (kind === 'submodule') top = at;
    if (dirname(at) === at) return top;
  }
}

async function kindOf(path: string): Promise<'repository' | 'submodule' | undefined> {
  try {
    if ((await stat(path)).isDirectory()) return 'repository';
    const text = await readFile(path, 'utf8');
    if (!text.startsWith('gitdir:')) return undefined;
    return /\/modules\//.test(text) && !/\/worktrees\//.test(text) ? 'submodule' : 'repository';
  } catch {
    return undefined;
  }
}
