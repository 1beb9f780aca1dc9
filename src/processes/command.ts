import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join, resolve } from 'node:path';

const passedOn = ['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR', 'USER', 'SHELL'] as const;

/**
 * The environment of a program that we start: only what every program needs, then `extra`, which wins. Nothing else of
 * our own environment leaks, least of all a token.
 */
export function minimalEnvironment(
  extra: Readonly<Record<string, string>> = {},
  ours: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of passedOn) {
    const value = ours[name];
    if (value !== undefined) env[name] = value;
  }
  return { ...env, ...extra };
}

/** Where a program is, or why it cannot be started. `message` is for a person and says what to do. */
export type Resolved =
  | { readonly ok: true; readonly path: string }
  | {
      readonly ok: false;
      readonly reason: 'missing' | 'notExecutable' | 'noDirectory';
      readonly message: string;
    };

/**
 * Finds a program as a shell would: a name in `PATH` of `env`, anything with a slash relative to `cwd`. Never throws.
 * A file of that name that may not be executed is reported only when no directory of the path has a better one. Nothing
 * can be started in a working directory that is none, whatever the program.
 */
export async function resolveProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): Promise<Resolved> {
  const notDirectory = await whyNoDirectory(cwd);
  if (notDirectory !== undefined) return { ok: false, reason: 'noDirectory', message: notDirectory };
  let blocked: string | undefined;
  for (const path of candidates(name, env['PATH'] ?? '', cwd)) {
    const found = await kindOf(path);
    if (found === 'program') return { ok: true, path };
    if (found === 'blocked') blocked ??= path;
  }
  if (blocked !== undefined) {
    const message = `${blocked} is not an executable file; make it one, or correct the command`;
    return { ok: false, reason: 'notExecutable', message };
  }
  const where = name.includes('/') ? `at ${resolve(cwd, name)}` : 'in any directory of PATH';
  return {
    ok: false,
    reason: 'missing',
    message: `the program ${name} does not exist ${where}; install it or correct the command`,
  };
}

async function whyNoDirectory(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).isDirectory() ? undefined : `the working directory ${path} is not a directory`;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    return `the working directory ${path} ${isMissing ? 'does not exist' : 'cannot be used'}`;
  }
}

function candidates(name: string, path: string, cwd: string): string[] {
  if (name === '') return [];
  if (name.includes('/')) return [resolve(cwd, name)];
  const directories = path.split(delimiter);
  // An empty entry of PATH means the current directory.
  return directories.map((directory) =>
    isAbsolute(directory) ? join(directory, name) : resolve(cwd, directory, name),
  );
}

async function kindOf(path: string): Promise<'program' | 'blocked' | 'nothing'> {
  try {
    const isFile = (await stat(path)).isFile();
    if (!isFile) return 'blocked';
  } catch {
    return 'nothing';
  }
  try {
    await access(path, constants.X_OK);
    return 'program';
  } catch {
    return 'blocked';
  }
}
