import { relative, sep } from 'node:path';

/**
 * From where the relative directories of a workflow are meant that an agent launches: where the agent works, so that both
 * see the same files, in a checkout of a run above all. An agent somewhere below the workflows' own directory has the same
 * files; then it is that directory (undefined), as for everybody else.
 */
export function baseDirectory(
  cwd: string,
  { configDirectory, dataDir }: { readonly configDirectory: string; readonly dataDir: string },
): string | undefined {
  // What was made for a run lies in the data directory, which may lie below that of the project.
  return isBelow(cwd, configDirectory) && !isBelow(cwd, dataDir) ? undefined : cwd;
}

function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`));
}
