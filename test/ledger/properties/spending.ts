import type { Execution, ExecutionUsage } from '../../../src/ledger/execution.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { listed } from '../state.ts';

const fields = ['inputTokens', 'outputTokens', 'usd'] as const;

/** They count what is used at and below them, whatever they may use. */
const ofWorkflows: readonly string[] = ['workflow', 'evaluation', 'step'];

/** What is used at and below an execution, by looking at each. */
function usedBelow(state: State, row: Execution, field: keyof ExecutionUsage): number {
  const below = listed(state.children, row.id).map((child) => usedBelow(state, child, field));
  return below.reduce((sum, used) => sum + used, row.usage?.[field] ?? 0);
}

function checkSpent({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    const counts = row.parentId === null || row.budget !== null || ofWorkflows.includes(row.kind);
    if (!counts) return row.spent === null ? undefined : `${short(row.id)} counts for nobody`;
    const wrong = fields.find(
      (field) => Math.abs(usedBelow(after, row, field) - (row.spent?.[field] ?? 0)) > 1e-6,
    );
    return wrong && `${short(row.id)} has spent ${short(row.spent)}, and ${wrong} below it is something else`;
  });
}

/** Each turn is counted once, whoever shares it: all that turns used is all that executions used. */
function checkOnce({ after }: Moment): string | undefined {
  const sum = (
    rows: Iterable<{ readonly usage: ExecutionUsage | null }>,
    field: keyof ExecutionUsage,
  ): number => [...rows].reduce((total, row) => total + (row.usage?.[field] ?? 0), 0);
  const wrong = fields.find(
    (field) => Math.abs(sum(after.turns.values(), field) - sum(after.executions.values(), field)) > 1e-6,
  );
  return wrong && `turns used another ${wrong} than executions`;
}

function checkNeverFalls({ before, after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    const was = before.executions.get(row.id);
    const fallen = fields.find((field) => (row.spent?.[field] ?? 0) < (was?.spent?.[field] ?? 0));
    return fallen && `${fallen} of ${short(row.id)} has fallen`;
  });
}

function isBeyond({ budget, spent }: Execution): boolean {
  const tokens = (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0);
  return (spent?.usd ?? 0) > (budget?.usd ?? Infinity) || tokens > (budget?.tokens ?? Infinity);
}

/** What has used more than it was given is being ended, or somebody is woken to end it. */
function checkEnded({ after, now }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (row.closed || row.cancelRequested || !isBeyond(row)) return undefined;
    if (row.verdict === null) return `${short(row.id)} has used too much, and comes to nothing by it`;
    const wake = after.wakes.get(`deadline:${row.id}`);
    return wake && wake.at <= now ? undefined : `${short(row.id)} has used too much, and nothing ends it`;
  });
}

/** Usage, and what it may be. */
export const spendingProperties: readonly Property[] = [
  { name: 'what is spent is what is used at and below', check: checkSpent },
  { name: 'each turn is counted once', check: checkOnce },
  { name: 'what is spent never falls', check: checkNeverFalls },
  { name: 'what has used more than it was given is ended', check: checkEnded },
];
