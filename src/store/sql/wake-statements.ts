import type { Wake } from '../../ledger/effects.ts';
import type { FinishedWake, WakeRow } from '../../wakeups/rows.ts';
import type { Connection } from './connection.ts';

/** The statements of the wake-up rows. */
export interface WakeStatements {
  /** Owes a wake-up: a new row, or the earlier instant and the next revision. `at` stays what was asked for. */
  owe(wake: Wake): WakeRow;
  due(after: number, until: number): WakeRow[];
  next(after: number): number | undefined;
  remove(wake: FinishedWake): boolean;
  postpone(wake: FinishedWake, due: number): boolean;
}

/** Both databases have a function for it, of another name each. */
const earlier = 'CASE WHEN excluded.due < wakeups.due THEN excluded.due ELSE wakeups.due END';

/** Prepares them. */
export function wakeStatements(db: Connection): WakeStatements {
  const owe = db.prepare(`
    INSERT INTO wakeups (kind, target, due, revision) VALUES (?, ?, ?, 1)
    ON CONFLICT (kind, target) DO UPDATE SET due = ${earlier}, revision = wakeups.revision + 1
    RETURNING revision`);
  const due = db.prepare(
    'SELECT kind, target, due, revision FROM wakeups WHERE due > ? AND due <= ? ORDER BY due',
  );
  const next = db.prepare('SELECT min(due) FROM wakeups WHERE due > ?');
  const remove = db.prepare('DELETE FROM wakeups WHERE kind = ? AND target = ? AND revision = ?');
  const postpone = db.prepare('UPDATE wakeups SET due = ? WHERE kind = ? AND target = ? AND revision = ?');
  return {
    owe: (wake) => ({ ...wake, revision: Number(owe.row([wake.kind, wake.target, wake.at])?.[0]) }),
    due: (after, until) => due.rows([after, until]).map(wakeOf),
    next: (after) => (next.row([after])?.[0] as number | undefined) ?? undefined,
    remove: ({ kind, target, revision }) => remove.run([kind, target, revision]).changes === 1,
    postpone: ({ kind, target, revision }, at) => postpone.run([at, kind, target, revision]).changes === 1,
  };
}

function wakeOf([kind, target, due, revision]: readonly unknown[]): WakeRow {
  return { kind: kind as Wake['kind'], target: String(target), at: Number(due), revision: Number(revision) };
}
