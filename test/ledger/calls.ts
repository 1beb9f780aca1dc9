import { callNext } from '../../src/ledger/admission.ts';
import {
  agentExited,
  agentWaits,
  markPosition,
  overdueQuestion,
  processGone,
  sessionOpened,
  wakeLater,
} from '../../src/ledger/agent-process.ts';
import { advance } from '../../src/ledger/advance.ts';
import { cancel, cancelRun, stopSession } from '../../src/ledger/cancel.ts';
import { goOn } from '../../src/ledger/dependency.ts';
import { startCheck } from '../../src/ledger/check.ts';
import { beatOrLose, heartbeat, nextDeadline } from '../../src/ledger/deadline.ts';
import type { Rule } from '../../src/ledger/decision.ts';
import { address, groupFailed, groupSent, takeGroup } from '../../src/ledger/dispatching.ts';
import { beginStep } from '../../src/ledger/graph-attempt.ts';
import { drainGraph, settleGraph } from '../../src/ledger/graph-settle.ts';
import { answerStep, endProgram, stepEnded } from '../../src/ledger/graph-walk.ts';
import { enqueue, enqueueBelow } from '../../src/ledger/enqueue.ts';
import { decideLimit } from '../../src/ledger/limit.ts';
import { markWritten, moveTurn, takeLane } from '../../src/ledger/lane.ts';
import { launch } from '../../src/ledger/launch.ts';
import { isIdle } from '../../src/ledger/idle.ts';
import { detach, redeliver, waiveNotice } from '../../src/ledger/notice-actions.ts';
import { openSession } from '../../src/ledger/open-session.ts';
import { sendFailed } from '../../src/ledger/send-failed.ts';
import { rerun, resumeRun } from '../../src/ledger/rerun.ts';
import { drained } from '../../src/ledger/run-end.ts';
import { beginRun } from '../../src/ledger/sequence.ts';
import { settle } from '../../src/ledger/settle.ts';
import { claimSteer, resolveSteer } from '../../src/ledger/steer.ts';
import { taskEnded, taskStarted } from '../../src/ledger/tasks.ts';
import { agentUsed } from '../../src/ledger/spending.ts';
import { agentEnded } from '../../src/ledger/turn-end.ts';
import { workspaceLeft } from '../../src/ledger/workspace-lock.ts';
import { agentStarted, agentToldOfTask, agentTook, agentTyped } from '../../src/ledger/turn-start.ts';

/** Every rule of the ledger that something outside calls. */
export const ledgerRules = {
  address,
  advance,
  agentEnded,
  agentExited,
  agentStarted,
  agentToldOfTask,
  agentTook,
  agentTyped,
  agentUsed,
  agentWaits,
  answerStep,
  beatOrLose,
  beginRun,
  beginStep,
  callNext,
  cancel,
  cancelRun,
  claimSteer,
  decideLimit,
  detach,
  drainGraph,
  drained,
  endProgram,
  enqueue,
  enqueueBelow,
  groupFailed,
  goOn,
  groupSent,
  heartbeat,
  isIdle,
  launch,
  markPosition,
  markWritten,
  moveTurn,
  nextDeadline,
  openSession,
  overdueQuestion,
  processGone,
  redeliver,
  rerun,
  resolveSteer,
  resumeRun,
  sendFailed,
  sessionOpened,
  settle,
  settleGraph,
  startCheck,
  stepEnded,
  stopSession,
  takeGroup,
  takeLane,
  taskEnded,
  taskStarted,
  waiveNotice,
  wakeLater,
  workspaceLeft,
};

/** The name of a rule of the ledger. */
export type LedgerRuleName = keyof typeof ledgerRules;

/** What a rule takes. */
export type CommandOf<Name extends LedgerRuleName> = Parameters<(typeof ledgerRules)[Name]>[0];

/** One call of a rule, as data: it can be printed, and made again on another store. */
export type Call = {
  [Name in LedgerRuleName]: { readonly rule: Name; readonly command: CommandOf<Name> };
}[LedgerRuleName];

/** The rule of a call, begun anew each time, as a store wants it. */
export function ruleOf(call: Call): () => Rule<unknown> {
  const rule = ledgerRules[call.rule] as (command: unknown) => Rule<unknown>;
  return () => rule(call.command);
}

/** Fields of a call or of an answer that say nothing to a reader of a trace. */
const untold = new Set([
  'fresh',
  'now',
  'node',
  'position',
  'plan',
  'createdAt',
  'project',
  'text',
  'answer',
]);

/** A call in one line, with short ids and without what does not matter to a reader. */
export function tell(call: Call): string {
  return `${call.rule} ${short(call.command)}`;
}

/** Any value in one line: rows by their ids, and ids cut to what tells them apart. */
export function short(value: unknown): string {
  const text = JSON.stringify(value, (key, field: unknown) => {
    if (untold.has(key)) return undefined;
    const isRow = key !== '' && typeof field === 'object' && field !== null && 'id' in field;
    return isRow ? (field as { id: unknown }).id : field;
  });
  return (text ?? 'undefined').replace(
    /"?([a-z]{3}_)[0-9A-Z]{6}([0-9A-Z]{4})[0-9A-Z]{2}([0-9A-Z]{2})[0-9A-Z]{12}"?/g,
    '$1$2$3',
  );
}

/** What of a row is not as it was, in one line. */
export function difference(was: object | undefined, row: object): string {
  const before = was as Record<string, unknown> | undefined;
  const fields = Object.entries(row).filter(([name, value]) =>
    before ? before[name] !== value : value !== null,
  );
  const id = 'id' in row ? short(row.id) : '';
  return `${before ? '~' : '+'} ${id} ${short(Object.fromEntries(fields.filter(([name]) => name !== 'id')))}`;
}
