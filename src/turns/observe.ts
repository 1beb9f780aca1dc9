import { FreshIds } from '../base/ids.ts';
import type { SessionId } from '../base/ids.ts';
import { assertNever } from '../base/assert-never.ts';
import { reach } from '../base/faults.ts';
import type { AgentError, AgentProfile, Capabilities, Driver, DriverEvent } from '../drivers/port.ts';
import { agentWaits } from '../ledger/agent-process.ts';
import type { Failure, Waiting } from '../ledger/execution.ts';
import { agentUsed } from '../ledger/spending.ts';
import { taskEnded, taskStarted } from '../ledger/tasks.ts';
import { agentEnded } from '../ledger/turn-end.ts';
import { agentStarted, agentToldOfTask, agentTook, agentTyped } from '../ledger/turn-start.ts';
import type { TurnsContext } from './ports.ts';

/** An event of a driver, apart from the end of its process, which is a matter of its own. */
export type LedgerDriverEvent = Exclude<DriverEvent, { type: 'exited' }>;

/** Whose event it is: what its program can prove, and what its profile says. */
export interface ToldBy {
  readonly capabilities: Capabilities;
  readonly profile: AgentProfile;
  readonly driver: Pick<Driver, 'honours'>;
}

/** Whether something may now be sent that could not before. */
export type Consequence = 'mayDeliver' | 'nothing';

/** Tells the ledger what a driver saw. The ledger decides what it means. */
export async function observe(
  context: TurnsContext,
  sessionId: SessionId,
  event: LedgerDriverEvent,
  from: ToldBy,
): Promise<Consequence> {
  const { negativeProof, wakesByItself } = from.capabilities;
  const isCounted = from.profile.usage !== 'none';
  const { store, clock, ids, node } = context;
  const fresh = new FreshIds(ids);
  const common = { now: clock.now(), sessionId, fresh };
  switch (event.type) {
    case 'turnStarted': {
      const { nativeTurnId, position, deliveryId, taskId, typed } = event;
      const said = {
        ...(deliveryId ? { deliveryId } : {}),
        ...(taskId ? { taskId } : {}),
        ...(typed ? { typed } : {}),
      };
      await store.decide(() => agentStarted({ ...common, node, nativeTurnId, position, ...said }));
      return 'mayDeliver';
    }
    case 'taken': {
      const { nativeTurnId, position, deliveryId } = event;
      await store.decide(() => agentTook({ ...common, node, nativeTurnId, position, deliveryId }));
      return 'mayDeliver';
    }
    case 'taskTold': {
      const { nativeTurnId, position, taskId } = event;
      await store.decide(() => agentToldOfTask({ ...common, node, nativeTurnId, position, taskId }));
      return 'nothing';
    }
    case 'typed': {
      const { nativeTurnId, position, typed } = event;
      await store.decide(() => agentTyped({ ...common, node, nativeTurnId, position, typed }));
      return 'mayDeliver';
    }
    case 'turnEnded': {
      const { nativeTurnId, status, answer, tasks, position, usage } = event;
      const error = event.error ? { error: { ...failureOf(event.error), ...event.error } } : {};
      reach('turn.ended');
      const ended = await store.decide(() =>
        agentEnded({
          ...common,
          nativeTurnId,
          status,
          answer,
          tasks,
          position,
          endIsNegativeProof: negativeProof === 'turnEnd',
          ...error,
          ...(usage && isCounted ? { usage } : {}),
        }),
      );
      if (ended.ok && ended.value === 'ignored')
        context.report('turn.endIgnored', { sessionId, nativeTurnId });
      return 'mayDeliver';
    }
    case 'usage': {
      if (!isCounted) return 'nothing';
      const { nativeTurnId, usage } = event;
      await store.decide(() => agentUsed({ ...common, nativeTurnId, usage }));
      return 'nothing';
    }
    case 'taskStarted':
      await store.decide(() => taskStarted({ ...common, task: event.task }));
      return 'nothing';
    case 'taskEnded':
      await store.decide(() =>
        taskEnded({
          ...common,
          taskId: event.taskId,
          status: event.status,
          result: event.result,
          wakesByItself: wakesByItself && event.wakes !== false,
        }),
      );
      return 'mayDeliver';
    case 'waiting':
      await store.decide(() => agentWaits({ ...common, waiting: waitingOf(event, common.now, from) }));
      return 'nothing';
    case 'resumed':
      await store.decide(() => agentWaits({ ...common, waiting: null }));
      return 'mayDeliver';
    case 'item':
      context.transcript.append(sessionId, event.position, event.item);
      return 'nothing';
    case 'noise':
      context.report('agent.noise', { sessionId, what: event.what });
      return 'nothing';
    default:
      return assertNever(event);
  }
}

/** What a wait shows. A question that a person is to answer has a time for it, if the profile says so. */
function waitingOf(
  { waitsFor, text, questionId, choices, declines, until }: Extract<DriverEvent, { type: 'waiting' }>,
  since: number,
  { profile: { questionTimeoutMs }, driver }: ToldBy,
): Waiting {
  const isTimed = waitsFor === 'input' && driver.honours.includes('questionTimeoutMs');
  const limit = isTimed && questionTimeoutMs !== undefined ? since + questionTimeoutMs : until;
  return {
    for: waitsFor,
    since,
    text,
    ...(questionId ? { questionId } : {}),
    ...(choices ? { choices } : {}),
    ...(declines === undefined ? {} : { declines }),
    ...(limit === undefined ? {} : { until: limit }),
  };
}

/** The code under which an agent's own error is kept. */
export function failureOf(error: AgentError): Failure {
  return { code: 'AGENT_FAILED', message: error.message };
}
