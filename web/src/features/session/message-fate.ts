import type { SessionMessage } from '../../../../src/contract/session.ts';
import { plainLine } from '../../ui/plain.ts';
import type { Shown } from '../../ui/words.ts';

/** What became of a message, for a person. */
export interface Fate {
  readonly shown: Shown;
  readonly words: string;
}

/** Says what became of a message so far: in the queue, on its way, taken up, handled, or why not. */
export function fateOf(message: SessionMessage): Fate {
  switch (message.delivery) {
    case 'queued':
      return { shown: 'queued', words: queuedWords(message) };
    case 'steering':
      return { shown: 'waiting', words: 'on its way into the running turn; not proved yet' };
    case 'sending':
      return { shown: 'queued', words: 'being sent' };
    case 'unsent':
      return { shown: 'cancelled', words: 'never sent' };
    case 'began':
    case 'joined':
      return takenFate(message, '');
    case 'steered':
      return takenFate(message, 'put into the running turn, with proof; ');
  }
}

function queuedWords({ refused, waiting }: SessionMessage): string {
  if (waiting) return plainLine(`waits for ${waiting.for}${waiting.text ? `: ${waiting.text}` : ''}`);
  return refused
    ? 'could not be put into the running turn; it is next when the session is free'
    : 'goes out when the session is free';
}

function takenFate(message: SessionMessage, how: string): Fate {
  const { state, closed, error, waiting } = message;
  switch (state) {
    case 'queued':
    case 'running':
      return waiting
        ? { shown: 'waiting', words: `${how}waits for ${waiting.for}` }
        : { shown: 'running', words: `${how}the agent is at work on it` };
    case 'succeeded':
      return closed
        ? { shown: 'succeeded', words: `${how}handled` }
        : { shown: 'open', words: `${how}answered; what it set in motion is not closed yet` };
    case 'failed':
    case 'lost':
      return { shown: state, words: plainLine(`${how}${state}${error ? `: ${error.message}` : ''}`) };
    case 'cancelled':
      return { shown: 'cancelled', words: `${how}cancelled` };
  }
}
