import type { Execution } from '../../src/ledger/execution.ts';
import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';
import type { Activity, Work } from './truth.ts';

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
  // Background work that lives already is counted and ended; everything else is not begun.
  const isEnding = row.kind === 'task' && row.cancelRequested !== null;
  if (parent && wasCancelled && !isEnding)
    world.violations.report(
      'ZOMBIE',
      `${describe(row)} was registered below ${parent.name}, which was cancelled`,
    );
  const work = world.truth.works.get(row.name);
  if (!work) return;
  const holders = after.holds.filter((edge) => edge.executionId === row.id).map((edge) => edge.holderId);
  for (const id of [...(row.parentId === null ? [] : [row.parentId]), ...holders]) {
    const counted = after.executions.find((other) => other.id === id);
    if (counted && !mayCount(context, work, counted) && !isAboveSharer(context, work, counted))
      world.violations.report(
        'FOREIGN',
        `${work.label} is counted on ${describe(counted)}, who never shared its turn`,
      );
  }
}

/** In a controller's session messages hold what is shared with the handling of results below them. */
function isAboveSharer(context: CommitContext, work: Work, counted: Execution): boolean {
  if (!context.world.isGiving && !context.world.isWorking) return false;
  return context.after.executions.some(
    (row) =>
      row.parentId === counted.id &&
      row.runsIn === counted.runsIn &&
      (mayCount(context, work, row) || isAboveSharer(context, work, row)),
  );
}

/** Whether this execution shared the activity from which the work came. */
function mayCount(context: CommitContext, work: Work, counted: Execution): boolean {
  const { after, continuations } = context;
  if (work.cause !== null && work.tells === null) return counted.name === work.cause;
  const tasks = after.executions.filter((row) => row.kind === 'task' && row.runsIn === work.tells);
  if (tasks.some((task) => task.parentId === counted.id)) return true;
  const taskIds = new Set<string>(tasks.map((task) => task.id));
  if (after.holds.some((edge) => edge.holderId === counted.id && taskIds.has(edge.executionId))) return true;
  const { activity } = work;
  // The call of a background task may be counted on whatever turn runs then.
  if (!activity) return work.tells !== null && counted.runsIn === work.tells;
  if (counted.kind === 'late') return activity.isLate || isAboutDropped(context, activity);
  const labels = new Set([...activity.carried.map((one) => one.label), ...activity.wokenBy]);
  if (counted.kind === 'message') return labels.has(counted.name);
  const results = continuations.get(counted.id) ?? new Set();
  return [...results].some((label) => labels.has(label));
}

/** What an agent does about a result that somebody has dropped meanwhile is late activity. */
function isAboutDropped({ world }: CommitContext, activity: Activity): boolean {
  const labels = [...activity.carried.map((one) => one.label), ...activity.wokenBy];
  return labels.some((label) => {
    const work = world.truth.works.get(label);
    return work !== undefined && (work.excuse !== undefined || work.isDetached);
  });
}
