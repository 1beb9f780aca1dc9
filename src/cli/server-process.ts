import { readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { pause } from '../base/pause.ts';

/** Whether a process with this id lives. A zombie does not: in a container nobody may ever reap it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === 'EPERM';
  }
  return !isZombie(pid);
}

/** Waits until `condition` holds; false when `withinMs` passed first. For what no event tells: another process's end. */
export async function waitFor(
  clock: Clock,
  condition: () => boolean | Promise<boolean>,
  withinMs: number,
): Promise<boolean> {
  const deadline = clock.monotonic() + withinMs;
  for (let stepMs = 5; ; stepMs = Math.min(100, stepMs * 2)) {
    if (await condition()) return true;
    if (clock.monotonic() >= deadline) return false;
    await pause(clock, stepMs);
  }
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name in parentheses may hold anything, also parentheses.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
  } catch {
    return false;
  }
}
