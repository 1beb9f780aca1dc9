import type { Execution } from '../ledger/execution.ts';
import { isClosed, outcomeOf } from '../ledger/execution.ts';
import type { SettleEffect } from './apply.ts';

/** What a count can change of a row. */
export type Closing = Pick<Execution, 'open' | 'closed' | 'closedAt' | 'outcome' | 'outcomeCode'>;

/**
 * The row with another deficit: closed if the one rule says so, and if it is a root, with its outcome, decided once.
 * Throws for a row that is closed (it never reopens) and for a deficit below zero.
 */
export function withDeficit(row: Execution, open: number, now: number): Execution {
  if (row.closed) throw new Error(`${row.id} is closed: its deficit cannot change`);
  if (open < 0) throw new Error(`the deficit of ${row.id} would be ${open}`);
  if (!isClosed(row.state, open)) return { ...row, open };
  const { outcome, code } = row.parentId === null ? outcomeOf(row) : { outcome: null, code: null };
  return { ...row, open, closed: true, closedAt: now, outcome, outcomeCode: code };
}

/**
 * The row settled by the effect, and closed if nothing below it is open. What it waited for is over. Throws for a row
 * that is settled already: terminal states never change.
 */
export function settled(row: Execution, effect: SettleEffect, now: number): Execution {
  if (row.endedAt !== null) throw new Error(`${row.id} is ${row.state} already`);
  const { state, at, error, result, usage } = effect;
  const ended: Execution = { ...row, state, endedAt: at, error, result, usage, waiting: null };
  return withDeficit(ended, row.open + effect.openBy, now);
}
