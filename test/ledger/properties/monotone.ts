import type { Execution } from '../../../src/ledger/execution.ts';
import { executionTransitions, isSettled } from '../../../src/ledger/execution.ts';
import type { Turn } from '../../../src/ledger/turn.ts';
import { turnTransitions } from '../../../src/ledger/turn.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, firstOf } from '../moment.ts';
import { listed } from '../state.ts';

const fixedAtBirth = [
  'rootId',
  'parentId',
  'parentSource',
  'depth',
  'kind',
  'key',
  'attempt',
  'runsIn',
  'reportsTo',
  'mode',
  'cancelledBy',
  'runId',
  'runIndex',
  'join',
  'check',
  'createdAt',
] as const satisfies readonly (keyof Execution)[];

const fixedAtEnd = ['state', 'endedAt', 'error', 'result'] as const satisfies readonly (keyof Execution)[];

const fixedWhenClosed = [
  'open',
  'closed',
  'closedAt',
  'outcome',
  'outcomeCode',
  'verdict',
] as const satisfies readonly (keyof Execution)[];

function differs<Row>(was: Row, row: Row, fields: readonly (keyof Row)[]): string | undefined {
  const field = fields.find((name) => was[name] !== row[name]);
  return field && `${String(field)} went from ${short(was[field])} to ${short(row[field])}`;
}

function checkExecutions({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (!was) return undefined;
    const why =
      differs(was, row, fixedAtBirth) ??
      (isSettled(was.state) ? differs(was, row, fixedAtEnd) : undefined) ??
      (was.closed ? differs(was, row, fixedWhenClosed) : undefined) ??
      (was.detachedAt === null ? undefined : differs(was, row, ['detachedAt'])) ??
      (was.cancelRequested === null ? undefined : differs(was, row, ['cancelRequested']));
    return why && `${row.kind} ${short(row.id)}: ${why}`;
  });
}

function checkTransitions({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.executions, after.executions), ({ was, row }) => {
    if (!was || was.state === row.state) return undefined;
    const next = Object.values(executionTransitions[was.state]);
    return next.includes(row.state) ? undefined : `${short(row.id)} went from ${was.state} to ${row.state}`;
  });
}

function checkTurns({ before, after }: Moment): string | undefined {
  return firstOf(changed(before.turns, after.turns), ({ was, row }) => {
    if (!was || was.state === row.state) {
      const fixed: readonly (keyof Turn)[] = [
        'state',
        'status',
        'endedAt',
        'sessionId',
        'text',
        'nativeTurnId',
      ];
      return was?.state === 'ended' ? differs(was, row, fixed) : undefined;
    }
    const next: readonly string[] = Object.values(turnTransitions[was.state]);
    const isUnseenEnd = was.state === 'starting' && (row.status === 'refused' || row.status === 'joined');
    return isUnseenEnd || next.includes(row.state)
      ? undefined
      : `${short(row.id)} went from ${was.state} to ${row.state}`;
  });
}

function checkNothingVanishes({ before, after }: Moment): string | undefined {
  for (const table of ['executions', 'notices', 'sessions', 'turns', 'steers', 'runs'] as const) {
    const later: ReadonlyMap<string, unknown> = after[table];
    for (const id of before[table].keys()) if (!later.has(id)) return `${table}: ${short(id)} vanished`;
  }
  if (after.snapshot.holds.length < before.snapshot.holds.length) return 'a hold edge vanished';
  return firstOf(before.owners.keys(), (turnId) => {
    const ids = listed(after.owners, turnId).map((row) => row.id);
    return listed(before.owners, turnId).every((row, i) => ids[i] === row.id)
      ? undefined
      : `the owners of ${short(turnId)} are no continuation of what they were`;
  });
}

function checkNumbers({ before, after }: Moment): string | undefined {
  const sessions = firstOf(changed(before.sessions, after.sessions), ({ was, row }) =>
    was && (row.epoch < was.epoch || row.position < was.position)
      ? `${short(row.id)}: epoch ${was.epoch} to ${row.epoch}, position ${was.position} to ${row.position}`
      : undefined,
  );
  const notices = firstOf(changed(before.notices, after.notices), ({ was, row }) =>
    was && (row.epoch < was.epoch || row.attempt < was.attempt)
      ? `${short(row.id)}: epoch ${was.epoch} to ${row.epoch}, attempt ${was.attempt} to ${row.attempt}`
      : undefined,
  );
  return sessions ?? notices;
}

/** What never changes, and what only goes one way (invariants 1 and 3). */
export const monotoneProperties: readonly Property[] = [
  { name: 'terminal states, closings and what is fixed at birth never change', check: checkExecutions },
  { name: 'executions go through their lifecycle', check: checkTransitions },
  { name: 'turns go through their lifecycle and end once', check: checkTurns },
  { name: 'history is never overwritten', check: checkNothingVanishes },
  { name: 'epochs, attempts and positions never fall', check: checkNumbers },
];
