import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import { type ConfigFile, configFile } from '../contract/config-file.ts';
import { readProblem, readTextFile } from './text-file.ts';
import { describeProblems, invalidConfig, parseYaml, placedError } from './yaml-file.ts';

/** The name of the configuration file that is looked for where the command is given. */
const configFileName = 'stemma.yaml';

/** The configuration file to use: the one named, relative to `cwd`; else `stemma.yaml` in `cwd` if there is one. */
export function findConfigFile(cwd: string, named?: string): string | undefined {
  if (named) return resolve(cwd, named);
  const usual = resolve(cwd, configFileName);
  return existsSync(usual) ? usual : undefined;
}

/**
 * Reads `stemma.yaml`; an empty file is an empty configuration. Throws `INVALID_CONFIG` when the file cannot be read, or
 * with the line, column, key and nearest valid key of each mistake. Environment and flags are laid over it by the caller.
 */
export async function loadConfigFile(file: string): Promise<ConfigFile> {
  const parsed = parseConfig(await readText(file), file);
  if (!parsed.ok) throw invalidConfig(parsed.problems);
  return parsed.value;
}

/**
 * Does what is done with a configuration file's content, or a run file's. A mistake of it that is found only then is
 * told with its place in the file, as those of the parser are. `shown`: what to call the file.
 */
export async function withPlaces<T>(
  file: string | undefined,
  work: () => Promise<T>,
  shown = file ?? '',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw file === undefined ? error : placedError(error, await readTextFile(file).catch(() => ''), shown);
  }
}

/** The mistakes in the text of a configuration file, for a person; undefined when there are none. */
export function configMistakes(text: string, file: string): string | undefined {
  const parsed = parseConfig(text, file);
  return parsed.ok ? undefined : describeProblems(parsed.problems);
}

function parseConfig(text: string, file: string): ReturnType<typeof parseYaml<typeof configFile>> {
  return parseYaml(text, file, configFile, {});
}

async function readText(file: string): Promise<string> {
  try {
    return await readTextFile(file);
  } catch (thrown) {
    const text = `The configuration ${file} cannot be read: ${readProblem(thrown)}.`;
    throw new StemmaError('INVALID_CONFIG', text, { file }, thrown);
  }
}
