import { readdir } from 'node:fs/promises';
import { isId } from '../base/ids.ts';
import { isAttempt, isCheckOf, isSettled } from '../ledger/execution.ts';
import { isOpen } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { LedgerStore } from '../ledger/store.ts';
import type { CommandRunner } from '../runs/ports.ts';

/** What the sweep needs. */
export interface LeftCommandsOptions {
  readonly store: Pick<LedgerStore, 'read'>;
  readonly commands: Pick<CommandRunner, 'clear'>;
  /** Where what is kept of commands lies, each in a directory of its subject's id. */
  readonly directory: string;
  /** Aborted when the server stops: what is left then is for the next one. */
  readonly signal: AbortSignal;
}

/**
 * Clears away the checks and preconditions whose answer is committed: a server that died between that and the cleaning up
 * left what they printed, and perhaps something that runs. What is not known here stays. Answers how many there were.
 */
export async function clearLeftCommands(options: LeftCommandsOptions): Promise<number> {
  let cleared = 0;
  for (const name of await namesIn(options.directory)) {
    if (options.signal.aborted) break;
    if (!(await options.store.read(() => isAnswered(name)))) continue;
    if (isId('execution', name) || isId('occurrence', name)) await options.commands.clear(name);
    cleared++;
  }
  return cleared;
}

function* isAnswered(name: string): Asking<boolean> {
  if (isId('occurrence', name)) {
    const occurrence = yield* ask('occurrence', name);
    return occurrence !== undefined && !isOpen(occurrence.state);
  }
  if (!isId('execution', name)) return false;
  const row = yield* ask('execution', name);
  // A script of a workflow is ended with its step.
  if (row && isAttempt(row)) return isSettled(row.state);
  // Commands of rows are run for their workflow.
  if (row && (yield* ask('graph', row.id))) return isSettled(row.state);
  const parent = row && row.parentId !== null ? yield* ask('execution', row.parentId) : undefined;
  return row !== undefined && parent !== undefined && isCheckOf(row, parent) && isSettled(row.state);
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
