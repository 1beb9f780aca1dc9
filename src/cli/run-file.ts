import { dirname, resolve } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import { type RunFile, runFile } from '../contract/run-file.ts';
import { textOf } from '../contract/text.ts';
import { readProblem, readTextFile } from './text-file.ts';
import { invalidConfig, parseYaml } from './yaml-file.ts';

/** The wire wants an absolute directory; in a file a relative one is what people write. */
const runFileOnDisk = runFile.extend({ cwd: textOf(4_096, 1).optional() });

/**
 * Reads the file of `stemma run FILE` into the body of `POST /runs`. A relative `cwd` is taken from the directory of the
 * file; without one the run works in `cwd`, where the command was given. Throws `NOT_FOUND` when there is no such file
 * and `INVALID_CONFIG`, with the place of each mistake, when it cannot be read or is no run file.
 */
export async function loadRunFile(file: string, cwd: string): Promise<RunFile> {
  const path = resolve(cwd, file);
  const text = await readText(path, file);
  const parsed = parseYaml(text, file, runFileOnDisk);
  if (!parsed.ok) throw invalidConfig(parsed.problems);
  const directory = parsed.value.cwd === undefined ? cwd : resolve(dirname(path), parsed.value.cwd);
  return { ...parsed.value, cwd: directory };
}

async function readText(path: string, shown: string): Promise<string> {
  try {
    return await readTextFile(path);
  } catch (thrown) {
    const isMissing = ['ENOENT', 'EISDIR'].includes((thrown as NodeJS.ErrnoException).code ?? '');
    const text = `The run file "${shown}" cannot be read: ${readProblem(thrown)}.`;
    throw new StemmaError(isMissing ? 'NOT_FOUND' : 'INVALID_CONFIG', text, { file: path }, thrown);
  }
}
