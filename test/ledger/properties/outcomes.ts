import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { existing, listed } from '../state.ts';

const uncounted = new Set(['continuation', 'late', 'message', 'service']);

/** Whether everything between an execution and a message above it asked for all below it. */
function isJoinedTo(state: State, row: Execution, message: Execution): boolean {
  if (row.join !== 'all' || row.parentId === null) return false;
  const parent = existing(state.executions, row.parentId);
  return parent.id === message.id ? message.join === 'all' : isJoinedTo(state, parent, message);
}

/** Failed last attempts of each thing below a message that asked for all of them. */
function failuresBelow(state: State, message: Execution): number {
  const below = [...state.executions.values()].filter((row) => row.rootId === message.rootId);
  const latest = new Map<string, Execution>();
  for (const row of [...below].sort((a, b) => (a.id < b.id ? -1 : 1)))
    if (row.key !== null) latest.set(row.key, row);
  const counts = below.filter((row) => !uncounted.has(row.kind) && isJoinedTo(state, row, message));
  const last = counts.filter((row) => row.key === null || latest.get(row.key)?.id === row.id);
  return last.filter((row) => row.state === 'failed' || row.state === 'lost').length;
}

/** What a root must come to, from what was asked of it and how it ended. */
function outcomeOf({ after, facts }: Moment, root: Execution): string {
  const verdict = facts.verdicts.get(root.id);
  if (verdict === 'CANCELLED') return 'cancelled CANCELLED';
  if (verdict !== undefined) return `failed ${verdict}`;
  if (root.state === 'cancelled') return 'cancelled CANCELLED';
  if (root.state === 'lost') return 'failed LOST';
  if (root.state === 'failed') return `failed ${root.error?.code ?? 'AGENT_FAILED'}`;
  if (root.join === 'all' && failuresBelow(after, root) > 0) return 'failed DESCENDANT_FAILED';
  return 'succeeded null';
}

function checkOutcome(moment: Moment): string | undefined {
  const { before, after } = moment;
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (row.closed && !was?.closed && row.kind === 'message' && row.failures !== failuresBelow(after, row))
      return `${row.failures} failures are counted below ${short(row.id)}`;
    if (row.parentId !== null)
      return row.outcome === null ? undefined : `${short(row.id)} is no root and has an outcome`;
    if (!row.closed || was?.closed) return undefined;
    const wanted = outcomeOf(moment, row);
    const is = `${row.outcome} ${row.outcomeCode}`;
    return is === wanted ? undefined : `${row.kind} ${short(row.id)} came to ${is} instead of ${wanted}`;
  });
}

/** A background agent settles when its program has ended and nothing below it is open. */
function checkComposite({ before, after }: Moment): string | undefined {
  return firstOf(after.runs.values(), (run) => {
    if (run.ownerId === null) return undefined;
    const owner = existing(after.executions, run.ownerId);
    const was = before.executions.get(owner.id);
    if (!isSettled(owner.state) || !was || isSettled(was.state)) return undefined;
    if (run.state !== 'ended') return `${short(owner.id)} settled while its program ran`;
    const open = listed(after.children, owner.id).find((child) => !child.closed && child.detachedAt === null);
    return open && `${short(owner.id)} settled while ${open.kind} ${short(open.id)} was open`;
  });
}

/** A check starts when it alone keeps its message open. */
function checkCheck(moment: Moment): string | undefined {
  const command = commandIf(moment, 'startCheck');
  const ready =
    moment.came.as === 'decided' ? (moment.came.value as { check: Execution } | undefined) : undefined;
  if (!command) return undefined;
  const message = moment.before.executions.get(command.messageId);
  const below = listed(moment.before.children, command.messageId).filter(
    (row) => !row.closed && row.detachedAt === null,
  );
  const check = below.find((row) => row.name === 'check' && row.parentSource === 'explicit');
  const isDue = message && isSettled(message.state) && message.open === 1 && check && !check.cancelRequested;
  if (!ready) return isDue ? `the check of ${short(message.id)} is due and does not start` : undefined;
  return isDue && ready.check.id === check.id ? undefined : `${short(ready.check.id)} starts as a check`;
}

/** What trees and sequences come to (invariants 3, 10 and 12, and the never-early promise of runs). */
export const outcomeProperties: readonly Property[] = [
  { name: 'a root comes to what was asked of it and how it ended', check: checkOutcome },
  {
    name: 'a composite settles when its program has ended and nothing below it is open',
    check: checkComposite,
  },
  { name: 'a check starts exactly when all else below its message is closed', check: checkCheck },
];
