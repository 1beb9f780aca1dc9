import type { ExecutionId, RunId, SessionId } from '../../../src/base/ids.ts';
import type { CheckToRun } from '../../../src/ledger/check.ts';
import type { Group } from '../../../src/ledger/dispatching.ts';
import type { LaneTaken } from '../../../src/ledger/lane.ts';
import { isOverspent } from '../../../src/ledger/spending.ts';
import type { WakeRow } from '../../../src/wakeups/rows.ts';
import type { Choice, Choose, Context } from '../choice.ts';
import { freshOf, node, one } from '../choice.ts';
import { listed } from '../state.ts';
import { filledBy } from './messages.ts';

/** How long a process may be of no use, in milliseconds. */
export const idleMs = 60_000;

/** A wake-up that is due is handled as the server handles it, and is finished when its handler is done. */
export const wakeFires: Choose = (context) => {
  const due = [...context.state.wakes.values()].filter((wake) => wake.at <= context.now);
  const wake = one(due, context.a);
  const choice = wake && handled(context, wake);
  return choice && { ...choice, wake };
};

function handled(context: Context, wake: WakeRow): Choice | undefined {
  switch (wake.kind) {
    case 'session':
      return sessionLooks(context, wake.target as SessionId);
    case 'run':
      return runGoesOn(context, wake.target as RunId);
    case 'drained':
      return drainedGoesOn(context, wake.target as ExecutionId);
    case 'deadline':
      return deadlinePasses(context, wake.target as ExecutionId);
    case 'question': {
      const command = { now: context.now, sessionId: wake.target as SessionId };
      return { call: { rule: 'overdueQuestion', command } };
    }
    case 'idle':
      return processIsIdle(context, wake.target as SessionId);
    // Nothing here has a schedule, a workflow, or anything on disk.
    case 'step':
    case 'graph':
    case 'workspace':
    case 'schedule':
    case 'occurrence':
      return undefined;
    case 'controller':
      return othersAreEnded(context, wake.target as ExecutionId);
    case 'slot':
      return { call: { rule: 'callNext', command: { now: context.now, limits: context.limits } } };
    case 'heartbeat': {
      const noticeId = freshOf(context).at('notice', 0);
      const command = { now: context.now, id: wake.target as ExecutionId, noticeId };
      return { call: { rule: 'beatOrLose', command } };
    }
    case 'notification': {
      const targets = { always: ['ops', 'gone'], known: ['ops'] };
      return { call: { rule: 'address', command: { now: context.now, id: wake.target, ...targets } } };
    }
    case 'dispatch':
      return peopleAreTold(context, wake.target);
  }
}

/** The lane is taken for what is due; where it is not free, a text is claimed for the turn that runs. */
function sessionLooks(context: Context, sessionId: SessionId): Choice {
  const { now, limits } = context;
  return {
    call: { rule: 'takeLane', command: { now, sessionId, node, limits, fresh: freshOf(context) } },
    follow: (came) => {
      const taken = came.as === 'decided' ? (came.value as LaneTaken) : undefined;
      if (!taken || taken.taken || taken.why !== 'busy') return undefined;
      return { call: { rule: 'claimSteer', command: { now, sessionId, fresh: freshOf(context) } } };
    },
  };
}

/** A process of no use is ended. */
function processIsIdle(context: Context, sessionId: SessionId): Choice {
  const { now, b } = context;
  return {
    call: { rule: 'isIdle', command: { now, sessionId, afterMs: idleMs, isInUse: b % 8 === 0 } },
    follow: (came) => {
      if (came.as !== 'decided' || came.value !== true) return undefined;
      const command = { now, sessionId, reason: 'nothing needed it', fresh: freshOf(context) };
      return { call: { rule: 'agentExited', command } };
    },
  };
}

/** What is owed to a target goes out together; the target takes it, or it does not. */
function peopleAreTold(context: Context, target: string): Choice {
  const { now, b } = context;
  return {
    call: { rule: 'takeGroup', command: { now, target } },
    follow: (came) => {
      const group = came.as === 'decided' ? (came.value as Group | undefined) : undefined;
      if (!group) return undefined;
      const leadId = group.lead.id;
      if (b % 2 === 0) return { call: { rule: 'groupSent', command: { now, leadId } } };
      const error = { code: b % 4 === 1 ? 'REFUSED' : 'UNREACHABLE', message: 'no' };
      return { call: { rule: 'groupFailed', command: { now, leadId, error, delayMs: 1000 * b } } };
    },
  };
}

function runGoesOn(context: Context, id: RunId): Choice | undefined {
  const run = context.state.runs.get(id);
  if (!run) return undefined;
  const command = {
    now: context.now,
    id,
    moves: run.moves,
    text: filledBy(context),
    fresh: freshOf(context),
  };
  return { call: { rule: 'advance', command } };
}

function drainedGoesOn(context: Context, id: ExecutionId): Choice | undefined {
  const { state, now } = context;
  const call = { rule: 'drained', command: { now, id, fresh: freshOf(context) } } as const;
  if (!state.executions.get(id)?.check) return { call };
  const check: Choice = {
    call: { rule: 'startCheck', command: { now, messageId: id } },
    follow: (came) => checkEnds(context, came.as === 'decided' ? (came.value as CheckToRun) : undefined),
  };
  return { call, follow: () => check };
}

/** The check says yes or no. */
function checkEnds(context: Context, ready: CheckToRun | undefined): Choice | undefined {
  if (!ready) return undefined;
  const { now, b } = context;
  const state = b % 2 === 0 ? ('succeeded' as const) : ('failed' as const);
  const noticeId = freshOf(context).at('notice', 0);
  return { call: { rule: 'settle', command: { now, id: ready.check.id, noticeId, ending: { state } } } };
}

/** What was given out beside something that failed is cancelled, one after the other. */
function othersAreEnded(context: Context, parentId: ExecutionId): Choice | undefined {
  const { state, now } = context;
  const hasFailed = (id: ExecutionId): boolean =>
    ['failed', 'lost'].includes(state.executions.get(id)?.state ?? '');
  const pending = listed(state.noticesOn, parentId).filter((notice) => notice.state === 'owed');
  if (!pending.some(({ executionId }) => hasFailed(executionId))) return undefined;
  const ids = listed(state.children, parentId)
    .filter((row) => row.mode === 'batch' && !row.closed && row.detachedAt === null)
    .map((row) => row.id);
  const cancelling = ([id, ...others]: readonly ExecutionId[]): Choice | undefined => {
    if (id === undefined) return undefined;
    const request = { actor: { kind: 'system' }, at: now, reason: 'beside a failure' } as const;
    const command = { now, id, request, verdict: 'CANCELLED', fresh: freshOf(context) };
    return { call: { rule: 'cancel', command }, follow: () => cancelling(others) };
  };
  return cancelling(ids);
}

function deadlinePasses(context: Context, id: ExecutionId): Choice {
  const { now } = context;
  const row = context.state.executions.get(id);
  const isBudget = row !== undefined && isOverspent(row);
  const request = { actor: { kind: isBudget ? 'budget' : 'deadline' } as const, at: now };
  const verdict = isBudget ? 'BUDGET' : 'TIMED_OUT';
  const command = { now, id, request, verdict, fresh: freshOf(context) };
  return {
    call: { rule: 'nextDeadline', command: { now, id } },
    follow: (came) =>
      came.as === 'decided' && came.value === true ? { call: { rule: 'cancel', command } } : undefined,
  };
}
