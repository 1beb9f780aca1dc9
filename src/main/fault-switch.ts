import type { FaultPoint } from '../base/faults.ts';
import { onFaultPoint } from '../base/faults.ts';

/**
 * For tests of survival only: with `STEMMA_FAULT=POINT:N` the server kills itself, as by `kill -9`, when it reaches that fault
 * point for the N-th time.
 */
export function armFaultSwitch(setting: string | undefined): void {
  const match = /^([a-z.]+):(\d+)$/.exec(setting ?? '');
  if (!match) return;
  const point = match[1] as FaultPoint;
  let left = Number(match[2]);
  onFaultPoint((reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  });
}
