import { codeOfRefusal } from '../../src/ledger/gate.ts';
import type { ExecutionId } from '../../src/base/ids.ts';
import type { CancelledRun, StoppedSession } from '../../src/ledger/cancel.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { Moment } from './moment.ts';
import { changed, commandIf } from './moment.ts';

const codeOf: Readonly<Record<string, string>> = {
  undeliverable: 'NOTICE_UNDELIVERABLE',
  session_gone: 'SESSION_GONE',
  capacity: 'NOTICE_UNDELIVERABLE',
  login: 'NOTICE_UNDELIVERABLE',
};

/** Writes down what this decision makes true for good, before its properties are checked. */
export function remember(moment: Moment, step: number): void {
  const { before, after, events, facts } = moment;
  for (const id of after.executions.keys()) if (!before.executions.has(id)) facts.bornAt.set(id, step);
  for (const event of events) {
    if (event.type !== 'execution.closed') continue;
    const id = String(event.data['executionId']);
    facts.closedTold.set(id, (facts.closedTold.get(id) ?? 0) + 1);
  }
  if (moment.came.as !== 'decided') return;
  for (const [id, code] of decidedBy(moment)) {
    if (before.executions.get(id)?.closed !== false) continue;
    // A person's word goes before everything; else the first one stands.
    if (code === 'CANCELLED' || !facts.verdicts.has(id)) facts.verdicts.set(id, code);
  }
}

/** What this decision says about the outcome of executions. */
function decidedBy(moment: Moment): (readonly [ExecutionId, string])[] {
  const { before, after, came } = moment;
  const found: (readonly [ExecutionId, string])[] = [];
  const cancelled = commandIf(moment, 'cancel');
  if (
    cancelled &&
    (cancelled.verdict === 'CANCELLED' || !before.executions.get(cancelled.id)?.cancelRequested)
  )
    found.push([cancelled.id, cancelled.verdict]);
  if (came.as === 'decided' && commandIf(moment, 'stopSession'))
    for (const id of (came.value as StoppedSession).roots) found.push([id, 'CANCELLED']);
  if (came.as === 'decided' && commandIf(moment, 'cancelRun')) {
    const { openId } = came.value as CancelledRun;
    if (openId !== null) found.push([openId, 'CANCELLED']);
  }
  for (const { was, row } of changed(before.executions, after.executions)) {
    const isCheck = row.kind === 'step' && row.name === 'check' && row.parentId !== null;
    if (!isCheck || was?.endedAt !== null || row.endedAt === null || row.state === 'succeeded') continue;
    // Cancelled with its message it says nothing.
    if (row.cancelRequested?.actor.kind !== 'parent') found.push([row.parentId, codeOfRefusal(row.error)]);
  }
  for (const { was, row } of changed(before.notices, after.notices)) {
    const code = row.state === 'waived' && was?.state !== 'waived' ? codeOf[row.reason ?? ''] : undefined;
    if (code !== undefined) found.push([row.rootId, code]);
  }
  for (const { was, row } of changed(before.executions, after.executions)) {
    if (!was || was.cancelRequested || !isBeyond(row) || isBeyond(was)) continue;
    found.push([row.id, 'BUDGET']);
  }
  return found;
}

/** Whether more was used than was given. */
function isBeyond({ budget, spent }: Execution): boolean {
  const tokens = (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0);
  return (spent?.usd ?? 0) > (budget?.usd ?? Infinity) || tokens > (budget?.tokens ?? Infinity);
}
