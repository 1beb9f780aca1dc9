import { describeError, toStemmaError } from '../base/errors.ts';
import type { Holding, WaitAnswer } from '../contract/execution.ts';
import { heldBy } from '../words/held-by.ts';

/** The exit codes of the command line. They are relied on from outside: add, never change. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  notFound: 3,
  conflict: 4,
  configuration: 5,
  unreachable: 6,
  waitsForCapacityOrLogin: 7,
  waitsForInput: 8,
  timedOut: 124,
  interrupted: 130,
  terminated: 143,
} as const;

/** The user ended the command by a signal, not the work that it watched. */
export class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`ended by ${signal}`);
    this.exitCode = signal === 'SIGINT' ? exitCodes.interrupted : exitCodes.terminated;
  }
}

/** The exit code for anything thrown: by the error's code, or 1 for what nobody expected. */
export function exitOfError(thrown: unknown): number {
  if (thrown instanceof Interrupted) return thrown.exitCode;
  return describeError(toStemmaError(thrown).code).exit;
}

/**
 * The exit code for how a root or a run ended: a cancelled one is 1, one that ran out of time 124, and one whose agent
 * cannot be started 5, as for `agent check`.
 */
export function exitOfOutcome(end: Pick<WaitAnswer, 'outcome' | 'outcomeCode'>): number {
  if (end.outcome === 'succeeded') return exitCodes.ok;
  if (end.outcome !== 'failed') return exitCodes.failed;
  if (end.outcomeCode === 'AGENT_UNAVAILABLE') return exitCodes.configuration;
  return end.outcomeCode === 'TIMED_OUT' ? exitCodes.timedOut : exitCodes.failed;
}

/**
 * The exit code when the caller's own time was up first: 124, unless what holds the root will not end by waiting alone.
 * A person's answer comes before capacity and login, since only a person can give it.
 */
export function exitOfStillOpen(holding: readonly Holding[] = []): number {
  const reasons = new Set(holding.map(heldBy));
  if (reasons.has('waiting_input')) return exitCodes.waitsForInput;
  const isBlocked = reasons.has('waiting_capacity') || reasons.has('waiting_login');
  return isBlocked ? exitCodes.waitsForCapacityOrLogin : exitCodes.timedOut;
}

/** The exit code of a program, as a shell tells it: 128 and the number of the signal that ended it. */
export function exitOfProgram(code: number | null, signalNumber: number | undefined): number {
  return code ?? 128 + (signalNumber ?? 0);
}
