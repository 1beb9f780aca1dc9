import { homedir } from 'node:os';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { systemClock } from '../base/clock.ts';
import type { CliDeps } from './ports.ts';
import { outputOf } from './process-output.ts';
import { ttyOf } from './tty.ts';

/** What the command line needs of the process itself: the streams, the surroundings, the signals. Call it once. */
export type ProcessDeps = Pick<
  CliDeps,
  | 'clock'
  | 'stdout'
  | 'stderr'
  | 'readStdin'
  | 'isStdinTty'
  | 'openTty'
  | 'env'
  | 'cwd'
  | 'homeDirectory'
  | 'self'
  | 'newKey'
  | 'onSignal'
>;

/** The dependencies that come from `process`; `script` is the file that this program was started with. */
export function processDeps(script: string): ProcessDeps {
  return {
    clock: systemClock,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    readStdin: () => text(process.stdin),
    isStdinTty: process.stdin.isTTY === true,
    openTty: () => ttyOf(process.stdin, process.stdout),
    env: process.env,
    cwd: process.cwd(),
    homeDirectory: homedir(),
    self: [process.execPath, ...process.execArgv, script],
    newKey: () => randomBytes(16).toString('hex'),
    onSignal(signal, listener) {
      process.on(signal, listener);
      return () => process.off(signal, listener);
    },
  };
}
