import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { exitOfProgram } from './exit.ts';
import type { CliDeps, CliSignal } from './ports.ts';
import { plainLine } from '../words/text.ts';

/** How a program ended. */
export interface ProgramEnd {
  /** As a shell tells it: 128 and the signal's number when a signal ended it, 127 and 126 when it could not start. */
  readonly exitCode: number;
  readonly signal?: string;
  /** Whether this process passed a signal on to it. */
  readonly wasSignalled: boolean;
  /** Why it could not start. */
  readonly startError?: string;
}

/** A program in the foreground, on this process's own streams. */
export interface RunningProgram {
  /** Never rejects. */
  readonly ended: Promise<ProgramEnd>;
  /** Asks it to end, and ends it if it does not within the grace. */
  terminate(): void;
}

/** Between SIGTERM and SIGKILL, in milliseconds. */
const graceMs = 10_000;

const passedOn: readonly CliSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * Starts a program and passes signals on to it. On a terminal it stays in this process's group, since another group could
 * not read the terminal; there, Ctrl-C reaches it by itself. Otherwise it leads its own group and is ended as one.
 */
export function startProgram(
  deps: CliDeps,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): RunningProgram {
  const leadsGroup = !deps.isStdinTty;
  const child = spawn(program, args, { stdio: 'inherit', env: { ...env }, detached: leadsGroup });
  let wasSignalled = false;
  const offs = passedOn.map((signal) =>
    deps.onSignal(signal, () => {
      wasSignalled = true;
      const isReachedByTerminal = signal === 'SIGINT' && !leadsGroup;
      if (!isReachedByTerminal) pass(child, leadsGroup, signal);
    }),
  );
  let cancelKill = (): void => {};
  const ended = endOf(child, program).then((end) => {
    cancelKill();
    for (const off of offs) off();
    return { ...end, wasSignalled };
  });
  return {
    ended,
    terminate() {
      pass(child, leadsGroup, 'SIGTERM');
      cancelKill = deps.clock.after(graceMs, () => pass(child, leadsGroup, 'SIGKILL'));
    },
  };
}

function pass(child: ChildProcess, leadsGroup: boolean, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(leadsGroup ? -child.pid : child.pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

function endOf(child: ChildProcess, program: string): Promise<Omit<ProgramEnd, 'wasSignalled'>> {
  return new Promise((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      resolve({ exitCode: error.code === 'ENOENT' ? 127 : 126, startError: startError(program, error) });
    });
    child.on('exit', (code, signal) => {
      const number = signal === null ? undefined : constants.signals[signal];
      resolve({ exitCode: exitOfProgram(code, number), ...(signal === null ? {} : { signal }) });
    });
  });
}

function startError(program: string, { code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return `There is no program "${plainLine(program)}".`;
  if (code === 'EACCES') return `"${plainLine(program)}" may not be run.`;
  return message;
}
