import { isSettled } from '../../../src/ledger/execution.ts';
import { openBelow } from '../batches.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, firstOf } from '../moment.ts';
import { existing, listed } from '../state.ts';

/** When a result that comes with others is handed over, everything is: its parent has ended, and nothing below is open. */
function checkWhole({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.notices, after.notices), ({ was, row }) => {
    if (row.mode !== 'batch' || row.state !== 'handed' || was?.state === 'handed') return undefined;
    const parent = existing(before.executions, row.countedOn);
    if (!isSettled(parent.state)) return `${short(row.id)} was handed over while ${short(parent.id)} ran`;
    const [open] = openBelow(before, parent);
    if (open) return `${short(row.id)} was handed over while ${short(open.id)} was open`;
    const others = listed(after.noticesOn, parent.id).filter(({ state }) => state === 'owed');
    return others.length === 0
      ? undefined
      : `${short(row.id)} was handed over without ${short(others.map(({ id }) => id))}`;
  });
}

/** One continuation has them all; another begins only when that one is over. */
function checkOne({ after }: Moment): string | undefined {
  return firstOf(after.noticesOn, ([on, notices]) => {
    const handed = notices.filter(({ mode, state }) => mode === 'batch' && state === 'handed');
    const by = new Set(handed.map(({ continuationId }) => continuationId));
    return by.size > 1 ? `results below ${short(on)} are with ${short([...by])} at once` : undefined;
  });
}

function checkUnsteered({ after }: Moment): string | undefined {
  return firstOf(after.notices.values(), ({ id, mode, steerId, countedOn, executionId }) => {
    if (mode !== 'batch') return undefined;
    if (countedOn === executionId) return `${short(id)} waits below nothing`;
    return steerId === null ? undefined : `${short(id)} was put into a running turn`;
  });
}

function checkMode({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (was || row.mode !== 'batch' || row.reportsTo === null) return undefined;
    return after.sessions.get(row.reportsTo)?.delivery === 'controller'
      ? undefined
      : `${short(row.id)} reports to ${short(row.reportsTo)}, which is no controller`;
  });
}

/** No hand-over is one too many: then the message has failed, and says why. */
function checkRounds({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (was || row.kind !== 'continuation' || row.runsIn === null) return undefined;
    const host = after.sessions.get(row.runsIn)?.hostedBy ?? null;
    const run = [...after.runs.values()].find(({ ownerId }) => host !== null && ownerId === host);
    if (!run?.todo) return undefined;
    let rounds = 0;
    for (let each: typeof row | undefined = row; each?.kind === 'continuation'; ) {
      const handled = listed(after.noticesOn, each.parentId!).find(
        (notice) => notice.continuationId === each?.id,
      );
      if (handled?.mode === 'batch') rounds++;
      each = each.parentId === null ? undefined : after.executions.get(each.parentId);
    }
    return rounds <= run.todo.maxRounds
      ? undefined
      : `${short(row.id)} is round ${rounds} of ${run.todo.maxRounds}`;
  });
}

/** What a controller's agent gave out comes back at once, and only then. */
export const batchProperties: readonly Property[] = [
  { name: 'a batch is handed over whole, when everything below its parent is closed', check: checkWhole },
  { name: 'one continuation at a time has the batch of a parent', check: checkOne },
  { name: 'a batch result is never put into a running turn', check: checkUnsteered },
  { name: 'only controllers are told in batches', check: checkMode },
  { name: 'no agent is given results in more rounds than it may have', check: checkRounds },
];
