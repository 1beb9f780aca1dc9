import type { Execution } from '../ledger/execution.ts';
import { isClosed, outcomeOf } from '../ledger/execution.ts';
import type { SettleEffect } from './apply.ts';
import type { ChangingExecution } from './copy-execution.ts';
import { copyExecution } from './copy-execution.ts';

/**
 * The row with another deficit: closed if the one rule says so, and if it is a root, with its outcome, decided once.
 * Throws for a row that is closed (it never reopens) and for a deficit below zero.
 */
export function withDeficit(row: Execution, open: number, now: number): Execution {
  return deficit(copyExecution(row), open, now);
}

/** Changes a row that nobody else has seen yet. */
function deficit(row: ChangingExecution, open: number, now: number): Execution {
  if (row.closed) throw new Error(`${row.id} is closed: its deficit cannot change`);
  if (open < 0) throw new Error(`the deficit of ${row.id} would be ${open}`);
  row.open = open;
  if (!isClosed(row.state, open)) return row;
  row.closed = true;
  row.closedAt = now;
  if (row.parentId !== null) return row;
  const { outcome, code } = outcomeOf(row);
  row.outcome = outcome;
  row.outcomeCode = code;
  return row;
}

/**
 * The row settled by the effect, and closed if nothing below it is open. What it waited for is over. Throws for a row
 * that is settled already: terminal states never change.
 */
export function settled(row: Execution, effect: SettleEffect, now: number): Execution {
  if (row.endedAt !== null) throw new Error(`${row.id} is ${row.state} already`);
  const ended = copyExecution(row);
  ended.state = effect.state;
  ended.endedAt = effect.at;
  ended.error = effect.error;
  ended.result = effect.result;
  ended.answerPlace = effect.answerPlace;
  ended.usage = effect.usage;
  ended.waiting = null;
  return deficit(ended, row.open + effect.openBy, now);
}
