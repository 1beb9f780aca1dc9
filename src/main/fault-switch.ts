import { appendFileSync, readFileSync } from 'node:fs';
import type { FaultPoint } from '../base/faults.ts';
import { onFaultPoint } from '../base/faults.ts';

/**
 * For tests of survival only: with `STEMMA_FAULT=POINT:N` the server kills itself, as by `kill -9`, when it reaches that fault
 * point for the N-th time. With `STEMMA_FAULT=@FILE` the file says POINT:N, as soon as it is there, and counting begins then;
 * each point that is reached from then on is written into `FILE.reached`, a line each.
 */
export function armFaultSwitch(setting: string | undefined): void {
  if (setting?.startsWith('@')) return followFile(setting.slice(1));
  const fault = faultOf(setting ?? '');
  if (fault) onFaultPoint(killing(fault));
}

interface Fault {
  readonly point: FaultPoint;
  readonly times: number;
}

function faultOf(text: string): Fault | undefined {
  const match = /^([a-z.]+):(\d+)$/.exec(text.trim());
  return match ? { point: match[1] as FaultPoint, times: Number(match[2]) } : undefined;
}

function killing({ point, times }: Fault): (reached: FaultPoint) => void {
  let left = times;
  return (reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

function followFile(file: string): void {
  let said = '';
  let kill: ((reached: FaultPoint) => void) | undefined;
  onFaultPoint((reached) => {
    const text = textOf(file);
    if (text !== said) {
      const fault = faultOf(text);
      kill = fault && killing(fault);
      said = text;
    }
    if (text === '') return;
    appendFileSync(`${file}.reached`, `${reached}\n`);
    kill?.(reached);
  });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
