import { readlinkSync } from 'node:fs';
import { sep } from 'node:path';
import { readProcessTable } from '../../processes/process-table.ts';

/** Living processes that work in this directory or below it: pid and start mark. Empty where the machine does not tell. */
export function processesIn(directory: string): string[] {
  return readProcessTable().flatMap(({ pid, isZombie, startedAt }) => {
    if (isZombie || pid === process.pid) return [];
    const cwd = workingDirectoryOf(pid);
    const isIn = cwd === directory || cwd?.startsWith(directory + sep);
    return isIn ? [`${pid} (started ${startedAt})`] : [];
  });
}

function workingDirectoryOf(pid: number): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    // It is gone, or not ours, or this machine has no /proc.
    return undefined;
  }
}
