import type { ExecutionId, RunId, SessionId } from '../../../src/base/ids.ts';
import type { CheckToRun } from '../../../src/ledger/check.ts';
import type { WakeRow } from '../../../src/wakeups/rows.ts';
import type { Choice, Choose, Context } from '../choice.ts';
import { freshOf, node, one } from '../choice.ts';

/** A wake-up that is due is handled as the server handles it, and is finished when its handler is done. */
export const wakeFires: Choose = (context) => {
  const due = [...context.state.wakes.values()].filter((wake) => wake.at <= context.now);
  const wake = one(due, context.a);
  return wake && handled(context, wake);
};

function handled(context: Context, wake: WakeRow): Choice | undefined {
  switch (wake.kind) {
    case 'session':
      return sessionLooks(context, wake);
    case 'run':
      return runGoesOn(context, wake);
    case 'drained':
      return drainedGoesOn(context, wake);
    case 'deadline':
      return deadlinePasses(context, wake);
    case 'heartbeat': {
      const command = {
        now: context.now,
        id: wake.target as ExecutionId,
        noticeId: freshOf(context).at('notice', 0),
      };
      return { call: { rule: 'beatOrLose', command }, finishes: wake };
    }
  }
}

/** The lane is taken for what is due, else a text is claimed for the turn that runs. */
function sessionLooks(context: Context, wake: WakeRow): Choice {
  const { now } = context;
  const sessionId = wake.target as SessionId;
  const steers: Choice = {
    call: { rule: 'claimSteer', command: { now, sessionId, fresh: freshOf(context) } },
    finishes: wake,
  };
  return {
    call: { rule: 'takeLane', command: { now, sessionId, node, fresh: freshOf(context) } },
    follow: () => steers,
  };
}

function runGoesOn(context: Context, wake: WakeRow): Choice | undefined {
  const run = context.state.runs.get(wake.target as RunId);
  if (!run) return undefined;
  const command = { now: context.now, id: run.id, cursor: run.cursor, fresh: freshOf(context) };
  return { call: { rule: 'advance', command }, finishes: wake };
}

function drainedGoesOn(context: Context, wake: WakeRow): Choice | undefined {
  const { state, now } = context;
  const id = wake.target as ExecutionId;
  if (!state.executions.get(id)?.check)
    return { call: { rule: 'drained', command: { now, id, fresh: freshOf(context) } }, finishes: wake };
  return {
    call: { rule: 'startCheck', command: { now, messageId: id } },
    follow: (came) =>
      checkEnds(context, wake, came.as === 'decided' ? (came.value as CheckToRun) : undefined),
  };
}

/** The check says yes or no: a no is written on the message before the check settles. */
function checkEnds(context: Context, wake: WakeRow, ready: CheckToRun | undefined): Choice {
  const { now, b } = context;
  const id = ready?.check.id;
  if (!id) {
    const messageId = wake.target as ExecutionId;
    return { call: { rule: 'startCheck', command: { now, messageId } }, finishes: wake };
  }
  const state = b % 2 === 0 ? ('succeeded' as const) : ('failed' as const);
  const noticeId = freshOf(context).at('notice', 0);
  const end: Choice = {
    call: { rule: 'settle', command: { now, id, noticeId, ending: { state } } },
    finishes: wake,
  };
  if (state === 'succeeded') return end;
  return {
    call: { rule: 'failCheck', command: { now, messageId: wake.target as ExecutionId } },
    follow: () => end,
  };
}

function deadlinePasses(context: Context, wake: WakeRow): Choice {
  const { now } = context;
  const id = wake.target as ExecutionId;
  const request = { actor: { kind: 'deadline' } as const, at: now };
  const cancel: Choice = {
    call: { rule: 'cancel', command: { now, id, request, verdict: 'TIMED_OUT', fresh: freshOf(context) } },
    finishes: wake,
  };
  const done: Choice = { call: { rule: 'nextDeadline', command: { now, id } }, finishes: wake };
  return {
    call: { rule: 'nextDeadline', command: { now, id } },
    follow: (came) => (came.as === 'decided' && came.value === true ? cancel : done),
  };
}
