import type { Execution } from '../../src/ledger/execution.ts';
import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';
import type { Work } from './truth.ts';

/**
 * Work is counted on those who shared the turn in which it was launched, and on nobody else; a result goes to the session
 * that launched; nothing is registered below a cancelled execution.
 */
export function checkParentage(context: CommitContext): void {
  const { world, before, after } = context;
  if (before.executions.length !== after.executions.length) {
    const known = new Set(before.executions.map((row) => row.id));
    for (const row of after.executions) if (!known.has(row.id)) checkBirth(context, row);
  }
  for (const notice of after.notices) {
    const row = after.executions.find((other) => other.id === notice.executionId);
    const work = row && world.truth.works.get(row.name);
    if (work && work.tells !== notice.sessionId)
      world.violations.report('CROSS', `the result of ${work.label} is owed to another session`);
  }
}

function checkBirth(context: CommitContext, row: Execution): void {
  const { world, before, after } = context;
  const parent = after.executions.find((other) => other.id === row.parentId);
  const wasCancelled = before.executions.find((other) => other.id === row.parentId)?.cancelRequested;
  if (parent && wasCancelled)
    world.violations.report('ZOMBIE', `${describe(row)} was registered below ${parent.name}, which was cancelled`);
  const work = world.truth.works.get(row.name);
  if (!work) return;
  const holders = after.holds.filter((edge) => edge.executionId === row.id).map((edge) => edge.holderId);
  for (const id of [...(row.parentId === null ? [] : [row.parentId]), ...holders]) {
    const counted = after.executions.find((other) => other.id === id);
    if (counted && !mayCount(context, work, counted))
      world.violations.report('FOREIGN', `${work.label} is counted on ${describe(counted)}, who never shared its turn`);
  }
}

/** Whether this execution shared the activity from which the work came. */
function mayCount(context: CommitContext, work: Work, counted: Execution): boolean {
  const { world, after, continuations } = context;
  if (work.cause !== null && work.tells === null) return counted.name === work.cause;
  const tasks = after.executions.filter((row) => row.kind === 'task' && row.runsIn === work.tells);
  if (tasks.some((task) => task.parentId === counted.id)) return true;
  const { activity } = work;
  if (!activity) return false;
  if (counted.kind === 'late') return activity.isLate;
  const labels = new Set([...activity.carried.map((one) => one.label), ...activity.wokenBy]);
  if (counted.kind === 'message') return labels.has(counted.name);
  const results = continuations.get(counted.id) ?? new Set();
  void world;
  return [...results].some((label) => labels.has(label));
}
