import { basename, dirname, resolve } from 'node:path';
import { StemmaError } from '../base/errors.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import { type ScheduleInput, scheduleName } from '../contract/schedule-input.ts';
import { findConfigFile, loadConfigFile } from './config-file.ts';

/** What a configuration file says of schedules. */
export interface FileSchedules {
  readonly project: string;
  /** Absent: it says nothing of schedules. Empty: there are none. */
  readonly schedules?: Readonly<Record<string, ScheduleInput>>;
}

/** A configuration file that was read. */
export interface ScheduleFile extends FileSchedules {
  /** Absolute. */
  readonly file: string;
  readonly config: ConfigFile;
}

/** The schedules of a configuration, with absolute directories. `file`: where it stands; absolute. */
export function schedulesOf(config: ConfigFile, file: string): FileSchedules {
  const directory = dirname(file);
  const project = config.project ?? projectNamed(basename(directory));
  if (config.schedules === undefined) return { project };
  const entries = Object.entries(config.schedules).map(([name, said]) => {
    const cwd = resolve(directory, said.cwd ?? '.');
    return [name, { ...said, cwd }] as const;
  });
  return { project, schedules: Object.fromEntries(entries) };
}

/**
 * Reads the schedules of the file that is named, else of the `stemma.yaml` where the command was given. Throws `NOT_FOUND`
 * when there is none, and `INVALID_CONFIG` with the place of each mistake.
 */
export async function loadScheduleFile(cwd: string, named?: string): Promise<ScheduleFile> {
  const file = findConfigFile(cwd, named);
  if (file !== undefined) {
    const config = await loadConfigFile(file);
    return { file, config, ...schedulesOf(config, file) };
  }
  const message = 'There is no stemma.yaml here. Name a file, or write one: "stemma init" begins it.';
  throw new StemmaError('NOT_FOUND', message, { id: 'stemma.yaml' });
}

// A directory may be called anything; a project stands in addresses.
function projectNamed(directory: string): string {
  const name = directory
    .replace(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[._-]+/, '')
    .slice(0, 100);
  return scheduleName.safeParse(name).success ? name : 'default';
}
