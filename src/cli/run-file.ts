import { dirname, resolve } from 'node:path';
import { type RunFile, runFile } from '../contract/run-file.ts';
import { textOf } from '../contract/text.ts';
import { readRunnable } from './runnable-file.ts';
import { invalidConfig, parseYaml } from './yaml-file.ts';

/** The wire wants an absolute directory; in a file a relative one is what people write. */
const runFileOnDisk = runFile.extend({ cwd: textOf(4_096, 1).optional() });

/**
 * Reads the file of `stemma run FILE` into the body of `POST /runs`. A relative `cwd` is taken from the directory of the
 * file, and so are the paths of its profiles; without one the run works in `cwd`, where the command was given. Throws `NOT_FOUND` when there is no such file
 * and `INVALID_CONFIG`, with the place of each mistake, when it cannot be read or is no run file.
 */
export async function loadRunFile(file: string, cwd: string): Promise<RunFile> {
  const path = resolve(cwd, file);
  const text = await readRunnable(path, file);
  const parsed = parseYaml(text, file, runFileOnDisk);
  if (!parsed.ok) throw invalidConfig(parsed.problems);
  const beside = dirname(path);
  const { cwd: named, agents } = parsed.value;
  const directory = named === undefined ? cwd : resolve(beside, named);
  return { ...parsed.value, cwd: directory, ...(agents ? { agents: fromBeside(agents, beside) } : {}) };
}

/** Profiles whose relative paths are those from the file's directory, which the server does not know. */
function fromBeside(agents: NonNullable<RunFile['agents']>, beside: string): NonNullable<RunFile['agents']> {
  const absolute = (path: string): string => (path.startsWith('~/') ? path : resolve(beside, path));
  const reference = (text: string): string =>
    text.startsWith('file:') ? `file:${absolute(text.slice('file:'.length).trim())}` : text;
  const entries = Object.entries(agents).map(([name, { home, secrets, ...rest }]) => {
    const references = Object.entries(secrets ?? {}).map(([variable, text]) => [variable, reference(text)]);
    const paths = {
      ...(home === undefined ? {} : { home: absolute(home) }),
      ...(secrets === undefined ? {} : { secrets: Object.fromEntries(references) as typeof secrets }),
    };
    return [name, { ...rest, ...paths }] as const;
  });
  return Object.fromEntries(entries);
}
