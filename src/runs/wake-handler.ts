import { assertNever } from '../base/assert-never.ts';
import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { besideFailure } from '../ledger/controller.ts';
import type { Wake } from '../ledger/effects.ts';
import type { HandleWake, Lasting } from '../ledger/wakeups.ts';
import { beatOrLose, nextDeadline } from '../ledger/deadline.ts';
import type { Execution } from '../ledger/execution.ts';
import { isQuestion } from '../ledger/execution.ts';
import { answerStep } from '../ledger/graph-walk.ts';
import type { StepRef } from '../ledger/graph.ts';
import { goOn } from '../ledger/dependency.ts';
import { ask } from '../ledger/questions.ts';
import { drained } from '../ledger/run-end.ts';
import { describeUsage, isOverspent } from '../ledger/spending.ts';
import { advanceRun } from './advance.ts';
import { runCheck } from './checks.ts';
import { finishGraph, moveGraph } from './graphs.ts';
import { Places } from './places.ts';
import type { RunsContext } from './ports.ts';
import type { Steps } from './steps.ts';
import type { CancelTree, Stopping } from './stopping.ts';
import { releaseWorkspace } from './workspaces.ts';

/** How many checks run at once; more wait, first in first out. */
const mostChecks = 16;

/** A wake-up of a schedule or of an occurrence. */
type ScheduleWake = Wake & { readonly kind: 'schedule' | 'occurrence' };

/** A wake-up of a notification, or of whom to tell. */
export type NotificationWake = Wake & { readonly kind: 'notification' | 'dispatch' };

/**
 * Calls the handler of a wake-up. Every one of them is idempotent: at least once is often enough. `schedules` has those of
 * schedules and occurrences, `notifications` those of what people are told.
 */
export function wakeHandler(
  context: RunsContext,
  { stopping, steps }: { readonly stopping: Stopping; readonly steps: Pick<Steps, 'move'> },
  schedules: (wake: ScheduleWake) => Promise<void>,
  notifications: (wake: NotificationWake) => Promise<void>,
): HandleWake {
  const checks = new Places(mostChecks);
  return async (wake, signal) => {
    switch (wake.kind) {
      case 'session':
        return context.sessions.deliver(wake.target as SessionId);
      case 'run':
        return advanceRun(context, wake.target as RunId);
      case 'drained':
        return handleDrained(context, wake.target as ExecutionId, checks, signal);
      case 'controller':
        return endBesideFailure(context, stopping, wake.target as ExecutionId);
      case 'deadline':
        return handleDeadline(context, stopping, wake.target as ExecutionId);
      case 'question':
        return context.sessions.of(wake.target as SessionId).declineOverdue();
      case 'idle':
        return context.sessions.of(wake.target as SessionId).endIdle();
      case 'heartbeat':
        return handleHeartbeat(context, wake.target as ExecutionId);
      case 'schedule':
      case 'occurrence':
        return schedules({ ...wake, kind: wake.kind });
      case 'notification':
      case 'dispatch':
        return notifications({ ...wake, kind: wake.kind });
      case 'workspace':
        return releaseWorkspace(context, wake.target as RunId);
      case 'slot':
        return context.sessions.callNext();
      case 'step':
        return steps.move(wake.target as StepRef, signal);
      case 'graph':
        await beginDependent(context, wake.target as ExecutionId);
        return moveGraph(context, stopping, wake.target as ExecutionId);
      default:
        return assertNever(wake.kind);
    }
  };
}

async function handleDrained(
  context: RunsContext,
  id: ExecutionId,
  checks: Places,
  signal: AbortSignal,
): Promise<Lasting | void> {
  const { store, clock, ids } = context;
  const row = await store.read(() => ask('execution', id));
  if (await finishGraph(context, id)) return;
  const fresh = new FreshIds(ids);
  await store.decide(() => drained({ now: clock.now(), id, fresh }));
  if (row?.check) return { lasts: checks.with(signal, () => runCheck(context, id, signal)) };
}

/** What was given out beside something that failed is cancelled and joined; its results are told all the same. */
async function endBesideFailure({ store }: RunsContext, stopping: Stopping, id: ExecutionId): Promise<void> {
  const { ids, reason } = await store.read(() => besideFailure(id));
  const request = { actor: { kind: 'system' }, reason } as const;
  await Promise.all(
    ids.map((child) => stopping.cancelTree({ id: child, request, verdict: 'CANCELLED', join: true })),
  );
}

/** At the deadline, or beyond its budget, the tree is cancelled and joined; only then does its run decide. */
async function handleDeadline(context: RunsContext, stopping: Stopping, id: ExecutionId): Promise<void> {
  const { store, clock } = context;
  const due = await store.decide(() => nextDeadline({ now: clock.now(), id }));
  if (!due.ok || !due.value) return;
  const row = await store.read(() => ask('execution', id));
  if (row && isQuestion(row) && !row.cancelRequested) {
    const fresh = new FreshIds(context.ids);
    await store.decide(() => answerStep({ now: clock.now(), id, answer: null, fresh }));
    return;
  }
  await stopping.cancelTree(row && isOverspent(row) ? beyondBudget(row) : pastDeadline(id));
}

function pastDeadline(id: ExecutionId): CancelTree {
  return { id, request: { actor: { kind: 'deadline' } }, verdict: 'TIMED_OUT', join: true };
}

function beyondBudget({ id, spent, budget }: Execution): CancelTree {
  const reason = `used ${describeUsage(spent)}, of ${describeUsage(budget)} allowed`;
  return { id, request: { actor: { kind: 'budget' }, reason }, verdict: 'BUDGET', join: true };
}

/** What something waited for is closed: it begins, if it waited. */
async function beginDependent({ store, clock }: RunsContext, id: ExecutionId): Promise<void> {
  await store.decide(() => goOn({ now: clock.now(), id }));
}

async function handleHeartbeat(context: RunsContext, id: ExecutionId): Promise<void> {
  const { store, clock, ids } = context;
  const noticeId = ids.make('notice');
  await store.decide(() => beatOrLose({ now: clock.now(), id, noticeId }));
}
