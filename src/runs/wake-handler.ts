import { assertNever } from '../base/assert-never.ts';
import type { ExecutionId, RunId, SessionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import type { Wake } from '../ledger/effects.ts';
import { beatOrLose, nextDeadline } from '../ledger/deadline.ts';
import { ask } from '../ledger/questions.ts';
import { drained } from '../ledger/sequence.ts';
import { advanceRun } from './advance.ts';
import { runCheck } from './checks.ts';
import type { RunsContext } from './ports.ts';
import type { Stopping } from './stopping.ts';

/** Calls the handler of a wake-up. Every one of them is idempotent: at least once is often enough. */
export function wakeHandler(context: RunsContext, stopping: Stopping): (wake: Wake) => Promise<void> {
  return async (wake) => {
    switch (wake.kind) {
      case 'session':
        return context.sessions.deliver(wake.target as SessionId);
      case 'run':
        return advanceRun(context, wake.target as RunId);
      case 'drained':
        return handleDrained(context, wake.target as ExecutionId);
      case 'deadline':
        return handleDeadline(context, stopping, wake.target as ExecutionId);
      case 'heartbeat':
        return handleHeartbeat(context, wake.target as ExecutionId);
      default:
        return assertNever(wake.kind);
    }
  };
}

async function handleDrained(context: RunsContext, id: ExecutionId): Promise<void> {
  const { store, clock, ids } = context;
  const row = await store.read(() => ask('execution', id));
  if (row?.check) return runCheck(context, id);
  const fresh = new FreshIds(ids);
  await store.decide(() => drained({ now: clock.now(), id, fresh }));
}

/** At the deadline the tree is cancelled and joined; only then does its run decide. */
async function handleDeadline(context: RunsContext, stopping: Stopping, id: ExecutionId): Promise<void> {
  const { store, clock } = context;
  const due = await store.decide(() => nextDeadline({ now: clock.now(), id }));
  if (!due.ok || !due.value) return;
  await stopping.cancelTree({
    id,
    request: { actor: { kind: 'deadline' } },
    verdict: 'TIMED_OUT',
    join: true,
  });
}

async function handleHeartbeat(context: RunsContext, id: ExecutionId): Promise<void> {
  const { store, clock, ids } = context;
  const noticeId = ids.make('notice');
  await store.decide(() => beatOrLose({ now: clock.now(), id, noticeId }));
}
