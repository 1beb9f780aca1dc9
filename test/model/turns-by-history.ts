import { createHash } from 'node:crypto';
import type { Answered } from './wire.ts';
import type { ConversationItem, ModelRequest } from './model-request.ts';

interface KnownTurn {
  readonly id: string;
  /** Whether the request that opened the turn was answered: the same words once more are then another turn. */
  isAnswered: boolean;
}

/**
 * Tells conversations and turns apart for wires whose agents name neither: by what was said so far. A turn is the history
 * up to its newest user text; a request that repeats it word for word is a retry, unless it was answered before. Two
 * conversations are mixed up only when they begin with the same words in the same surroundings at the same time.
 */
export class TurnsByHistory {
  readonly #turns = new Map<string, KnownTurn>();
  #count = 0;

  /** The ids of conversation and turn of a request with this history. */
  identify(conversation: readonly ConversationItem[]): {
    readonly threadId: string;
    readonly turnId: string;
  } {
    const lastUser = conversation.findLastIndex((item) => item.kind === 'user');
    const firstUser = conversation.findIndex((item) => item.kind === 'user');
    const threadId = nameOf(conversation.slice(0, firstUser + 1));
    const key = nameOf(conversation.slice(0, lastUser + 1));
    const known = this.#turns.get(key);
    const isOpening = lastUser === conversation.length - 1;
    if (known && !(isOpening && known.isAnswered)) return { threadId, turnId: known.id };
    const turnId = `${key}-${++this.#count}`;
    this.#turns.set(key, { id: turnId, isAnswered: false });
    return { threadId, turnId };
  }

  /** How the answer to a request of this turn ended. */
  note(request: Pick<ModelRequest, 'turnId'>, how: Answered): void {
    for (const turn of this.#turns.values())
      if (turn.id === request.turnId && how === 'answered') turn.isAnswered = true;
  }
}

function nameOf(items: readonly ConversationItem[]): string {
  return createHash('sha256').update(JSON.stringify(items)).digest('base64url').slice(0, 16);
}
