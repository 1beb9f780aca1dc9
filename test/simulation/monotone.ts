import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { TurnOwner } from '../../src/ledger/turn.ts';
import type { CommitContext } from './checks-context.ts';

const fixedAtBirth = [
  'parentId',
  'rootId',
  'parentSource',
  'depth',
  'kind',
  'name',
  'attempt',
  'runId',
] as const;

/** Terminal states never change, closed never reopens, what is fixed at birth stays, and a turn ends once with its owners. */
export function checkMonotone(context: CommitContext): void {
  const { world, before, after } = context;
  const rows = new Map(after.executions.map((row) => [row.id, row]));
  for (const old of before.executions) {
    const row = rows.get(old.id);
    const why = row ? changeOf(old, row) : 'vanished';
    if (why) world.violations.report('CHANGED', `${old.kind} ${old.name} ${why}`);
  }
  checkNotices(context);
  checkTurns(context);
  checkRuns(context);
}

function changeOf(old: Execution, row: Execution): string | undefined {
  if (isSettled(old.state) && row.state !== old.state) return `went from ${old.state} to ${row.state}`;
  if (old.closed && !row.closed) return 'was reopened';
  if (old.outcome !== null && row.outcome !== old.outcome) return `changed its outcome to ${row.outcome}`;
  return fixedAtBirth.find((field) => old[field] !== row[field]);
}

function checkNotices({ world, before, after }: CommitContext): void {
  const old = new Map(before.notices.map((notice) => [notice.id, notice]));
  for (const notice of after.notices) {
    const was = old.get(notice.id);
    if (was && (was.state === 'handled' || was.state === 'waived') && was.state !== notice.state)
      world.violations.report('CHANGED', `a notice went from ${was.state} to ${notice.state}`);
    if (notice.state !== 'handled' || was?.state === 'handled') continue;
    const name = after.executions.find((row) => row.id === notice.executionId)?.name ?? '';
    if (!world.truth.works.get(name)?.isHandled)
      world.violations.report(
        'NOT_HANDLED',
        `the result of ${name} counts as handled, and no agent has handled it`,
      );
  }
}

function checkTurns({ world, before, after }: CommitContext): void {
  const old = new Map(before.turns.map((turn) => [turn.id, turn]));
  const rows = new Map(after.executions.map((row) => [row.id, row]));
  for (const turn of after.turns) {
    const was = old.get(turn.id);
    if (was?.state === 'ended' && turn.state !== 'ended')
      world.violations.report('TURN', `turn ${turn.id} goes on after its end`);
    if (turn.state !== 'ended' || was?.state === 'ended' || turn.status === 'refused') continue;
    for (const owner of after.owners.filter((one) => one.turnId === turn.id)) {
      if (turn.status === 'joined' && ownsAnother(after, owner)) continue;
      const row = rows.get(owner.executionId);
      // A message whose turn met a limit is queued again, and its session knows of the limit.
      const isDeferred = turn.status === 'failed' && after.inputs.some((one) => one.executionId === row?.id);
      const isLimited = after.sessions.some((one) => one.id === turn.sessionId && one.limit !== null);
      if (isDeferred && isLimited) continue;
      if (row && !isSettled(row.state))
        world.violations.report('TURN', `a turn ended, and its owner ${row.kind} ${row.name} did not settle`);
    }
  }
}

/** Whether it joined a turn that goes on. */
function ownsAnother({ owners, turns }: CommitContext['after'], { turnId, executionId }: TurnOwner): boolean {
  const others = owners.filter((one) => one.executionId === executionId && one.turnId !== turnId);
  return others.some((one) => turns.find((turn) => turn.id === one.turnId)?.state !== 'ended');
}

function checkRuns({ world, after }: CommitContext): void {
  const seen = new Set<string>();
  for (const row of after.executions) {
    if (row.runId === null) continue;
    const key = `${row.runId}:${row.runIndex}:${row.attempt}`;
    if (seen.has(key)) world.violations.report('SENT_TWICE', `${row.name} exists twice`);
    seen.add(key);
  }
}
