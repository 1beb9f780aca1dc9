import type { Execution } from '../../src/ledger/execution.ts';
import { plannedAt } from '../../src/ledger/plan.ts';
import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';

const hourMs = 60 * 60_000;
/** Failures that another attempt would not mend. */
const final: readonly (string | null)[] = ['BUDGET', 'CAPACITY', 'SIGNED_OUT'];

/**
 * A message of a run is sent when the one that was sent before is closed; the same one again only when it has failed, when the
 * plan allows one more attempt, and when the back-off is over. Unless a person made the run go on.
 */
export function checkAttempts({ world, before, after }: CommitContext): void {
  const known = new Set(before.executions.map((row) => row.id));
  for (const row of after.executions) {
    if (row.runId === null || known.has(row.id)) continue;
    const why =
      wrongAttempt(after.executions, row) ?? (world.asked.reruns > 0 ? undefined : tooSoon(after, row));
    if (why) world.violations.report('ATTEMPT', `${describe(row)}, attempt ${row.attempt}, ${why}`);
  }
}

/** The attempts of a message are numbered without gap, and nothing of its run is open when it is sent. */
function wrongAttempt(all: readonly Execution[], row: Execution): string | undefined {
  const others = all.filter((other) => other.runId === row.runId && other.id !== row.id);
  const open = others.find((other) => !other.closed);
  if (open) return `is sent while ${open.name} is open`;
  const same = others.filter((other) => other.runIndex === row.runIndex);
  return row.attempt === same.length + 1 ? undefined : `is sent after ${same.length} attempts`;
}

function tooSoon({ executions, runs }: CommitContext['after'], row: Execution): string | undefined {
  const run = runs.find((other) => other.id === row.runId);
  const last = executions.findLast((other) => other.runId === row.runId && other.id < row.id);
  const { max = 0, backoffMs = 0 } = (run && plannedAt(run, last?.runIndex ?? 0))?.retry ?? {};
  const mayRepeat = last?.outcome === 'failed' && last.attempt <= max && !final.includes(last.outcomeCode);
  if (!last) return undefined;
  if (last.runIndex !== row.runIndex)
    return mayRepeat ? `goes before another attempt of ${last.name}` : undefined;
  // The outcome of what is no root is not kept.
  if (!mayRepeat && last.parentId === null) return `is sent again after ${last.outcome} ${last.outcomeCode}`;
  const due = (last.closedAt ?? Infinity) + Math.min(hourMs, backoffMs * 2 ** (last.attempt - 1));
  return row.createdAt < due ? `is sent ${due - row.createdAt} ms before its back-off is over` : undefined;
}
