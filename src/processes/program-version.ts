import { execFile } from 'node:child_process';
import { resolveProgram } from './command.ts';

/** Within the ten seconds that a look at an agent may take. */
const printMs = 9000;

/** A program and the version that it prints, or a sentence for a person that says why there is none. */
export type FoundProgram =
  | { readonly found: true; readonly path: string; readonly version?: string }
  | { readonly found: false; readonly message: string };

/**
 * Finds a program and asks it for its version by `--version`, behind its own arguments. One that does not answer within
 * nine seconds, or fails, counts as not there. Never throws.
 */
export async function findProgramVersion(
  [program = '', ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<FoundProgram> {
  const resolved = await resolveProgram(program, env, process.cwd());
  if (!resolved.ok) return { found: false, message: resolved.message };
  const { path } = resolved;
  const printed = await print(path, [...args, '--version'], env);
  if (printed === undefined)
    return { found: false, message: `${path} --version did not work within nine seconds` };
  const version = versionIn(printed);
  return { found: true, path, ...(version === undefined ? {} : { version }) };
}

/** The first thing in a text that looks like a version: `1.2.3`, `0.9.0-rc.1`. */
function versionIn(text: string): string | undefined {
  return /\d+\.\d+\.\d+\S*/.exec(text)?.[0];
}

function print(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = {
      env: { ...env },
      timeout: printMs,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    } as const;
    const child = execFile(program, args, options, (error, stdout) => resolve(error ? undefined : stdout));
    // What it started may hold its output open for longer.
    child.once('exit', (code) => {
      if (code === null) resolve(undefined);
    });
  });
}
