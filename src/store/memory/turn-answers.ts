import type { ExecutionId } from '../../base/ids.ts';
import type { Question } from '../../ledger/questions.ts';
import type { Turn } from '../../ledger/turn.ts';
import type { Delivery } from '../views.ts';
import type { MemoryState } from './state.ts';

type Of<Name extends Question['ask']> = Extract<Question, { readonly ask: Name }>;

/** Answers who owns which turns, from rows in memory. */
export function answerOfTurns(
  state: MemoryState,
  question: Of<'owners' | 'refusedTurns' | 'activeTurnOf' | 'turnsIn'>,
): unknown {
  const [id] = question.args;
  const owners = [...state.owners];
  if (question.ask === 'turnsIn') {
    const isOf = (turn: Turn): boolean =>
      owners.some(
        (owner) => owner.turnId === turn.id && state.rows('execution').get(owner.executionId)?.rootId === id,
      );
    return [...state.rows('turn').values()].filter((turn) => turn.state !== 'ended' && isOf(turn)).sort(byId);
  }
  if (question.ask === 'owners') {
    return owners
      .filter((owner) => owner.turnId === id)
      .sort((a, b) => a.position - b.position || compare(a.executionId, b.executionId))
      .map((owner) => state.rows('execution').get(owner.executionId));
  }
  const turns = owners
    .filter((owner) => owner.executionId === id)
    .map((owner) => state.rows('turn').get(owner.turnId) as Turn)
    .sort(byId);
  if (question.ask === 'activeTurnOf') return turns.find((turn) => turn.state !== 'ended');
  return turns.filter((turn) => turn.status === 'refused' && turn.id !== question.args[1]).length;
}

/** The text with which a message went to its agent last. */
export function sentText(state: MemoryState, id: string): string | undefined {
  const owned = [...state.owners].filter((owner) => owner.executionId === id && owner.position === 0);
  const turns = owned.flatMap(({ turnId }) => state.rows('turn').get(turnId) ?? []).sort(byId);
  const steers = [...state.rows('steer').values()].filter((steer) => steer.messageId === id).sort(byId);
  return (turns.findLast((turn) => turn.cause === 'message' && turn.text !== '') ?? steers.at(-1))?.text;
}

/** How a text went to its session. */
export function deliveryOf(state: MemoryState, executionId: ExecutionId): Delivery {
  const carriers = new Set(
    [...state.rows('notice').values()]
      .filter((notice) => notice.continuationId === executionId)
      .map((notice) => notice.steerId),
  );
  return {
    executionId,
    input: state.rows('input').get(executionId),
    turns: [...state.owners]
      .filter((owner) => owner.executionId === executionId)
      .flatMap(({ turnId, position }) => {
        const turn = state.rows('turn').get(turnId);
        return turn ? [{ turn, position }] : [];
      })
      .sort((a, b) => compare(a.turn.id, b.turn.id)),
    steers: [...state.rows('steer').values()]
      .filter((steer) => steer.messageId === executionId || carriers.has(steer.id))
      .sort(byId),
  };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return compare(a.id, b.id);
}

/** The order of SQLite's binary collation, for ids. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
