import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Whether the process exists and is not merely waiting to be collected by its parent. */
export function isAlive(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2, stat.lastIndexOf(')') + 3) !== 'Z';
  } catch {
    return false;
  }
}

/** The living processes that have this text in their environment: what was started with it, and all its descendants. */
export function processesWithEnvironment(text: string): number[] {
  return allProcesses().filter((pid) => read(`/proc/${pid}/environ`).includes(text));
}

/** The living processes that work in this directory or below it. */
export function processesIn(directory: string): number[] {
  return allProcesses().filter((pid) => {
    const cwd = directoryOf(pid);
    return cwd === directory || cwd.startsWith(`${directory}/`);
  });
}

/** How a process was started, for the message of a failing test. */
export function commandOf(pid: number): string {
  return `${pid}: ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`;
}

function allProcesses(): number[] {
  const pids = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  return pids.filter((pid) => pid !== process.pid && isAlive(pid));
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function directoryOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
