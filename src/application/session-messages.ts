import type { SessionCommands } from '../api/ports.ts';
import type { SessionMessage } from '../contract/session.ts';
import { toInstant } from '../contract/text.ts';
import type { Execution } from '../ledger/execution.ts';
import { isSettled } from '../ledger/execution.ts';
import type { Delivery } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { paging } from './list-filters.ts';
import { at, present, toWaiting } from './wire.ts';

/** How much of a text is shown, in UTF-16 units. */
const longestText = 100_000;
const saying: ReadonlySet<Execution['kind']> = new Set(['message', 'continuation', 'late']);

/** What a session was told, or will be. */
export function createSessionMessages({
  views,
}: Pick<ApplicationContext, 'views'>): SessionCommands['messages'] {
  return async (sessionId, place) => {
    const page = await views.executions({ ...paging(place, 'execution'), sessionId });
    const told = page.items.filter((row) => saying.has(row.kind));
    const deliveries = await views.deliveries(told.map((row) => row.id));
    const items = told.flatMap((row, index) => {
      const delivery = deliveries[index];
      return delivery ? [toMessage(row, delivery)] : [];
    });
    return { items, ...(page.next === undefined ? {} : { nextCursor: page.next }) };
  };
}

/** A message or a continuation with how it went to its session. */
function toMessage(row: Execution, delivery: Delivery): SessionMessage {
  const taken = delivery.steers.find((steer) => steer.state === 'taken');
  const refused = delivery.steers.filter(({ state }) => state === 'refused' || state === 'withdrawn').length;
  const last = delivery.turns.findLast(({ turn }) => turn.status !== 'refused') ?? delivery.turns.at(-1);
  const began = last?.position === 0 ? last.turn : undefined;
  const text = delivery.input?.text ?? taken?.text ?? began?.text ?? delivery.steers.at(-1)?.text ?? '';
  return {
    executionId: row.id,
    rootId: row.rootId,
    kind: row.kind,
    name: row.name,
    state: row.state,
    closed: row.closed,
    createdAt: toInstant(row.createdAt),
    delivery: wayOf(row, delivery),
    ...(text === '' ? {} : { text: text.slice(0, longestText) }),
    ...(text.length > longestText ? { textCut: true } : {}),
    ...(refused > 0 ? { refused } : {}),
    ...present({
      outcome: row.outcome,
      waiting: toWaiting(row.waiting),
      error: row.error,
      endedAt: at(row.endedAt),
      takenAt: at(taken ? taken.endedAt : last?.turn.startedAt),
      turnId: last?.turn.id,
    }),
  };
}

function wayOf(row: Execution, { input, turns, steers }: Delivery): SessionMessage['delivery'] {
  if (steers.some(({ state }) => state === 'taken')) return 'steered';
  if (steers.some(({ state }) => state === 'claimed' || state === 'written')) return 'steering';
  if (input) return input.wantsSteer && input.steerId !== null ? 'steering' : 'queued';
  const last = turns.at(-1);
  if (!last) return isSettled(row.state) ? 'unsent' : 'queued';
  if (last.turn.state === 'starting') return 'sending';
  return last.position === 0 ? 'began' : 'joined';
}
