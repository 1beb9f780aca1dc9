import { plainLine } from '../../ui/plain.ts';
import type { TraceRow } from './trace.ts';

/** A word about a row beside its name. */
export interface Badge {
  readonly text: string;
  readonly tone: 'quiet' | 'wait' | 'bad';
  /** What it means, for who wants to know. */
  readonly explains: string;
}

/** What is special about an execution: its attempts, a result on its way or waived, that it is late, that it waits. */
export function badgesOf({ node, attempts }: TraceRow & { readonly kind: 'execution' }): Badge[] {
  const { execution, owes } = node;
  const badges: Badge[] = [];
  const add = (text: string, tone: Badge['tone'], explains: string): void =>
    void badges.push({ text, tone, explains });
  if (attempts) {
    const place = `attempt ${attempts.number}`;
    add(place, 'quiet', `${place}: there are ${attempts.of} attempts at this`);
  } else if (execution.attempt > 1) {
    add(`attempt ${execution.attempt}`, 'quiet', 'There were attempts at this before.');
  }
  if (execution.kind === 'late') add('late', 'wait', 'What the agent did by itself when its turn was over.');
  const { waiting, error, closed } = execution;
  if (waiting && !closed)
    add(`waits for ${waiting.for}`, 'wait', plainLine(waiting.text ?? `It waits for ${waiting.for}.`));
  for (const notice of owes) {
    if (notice.state === 'waived')
      add('result waived', 'wait', plainLine(notice.reason ?? 'Nobody is told of its result.'));
    else if (notice.state === 'owed' && notice.attempt > 0)
      add('result owed again', 'wait', `It is delivered for the ${notice.attempt + 1}th time.`);
    else if (notice.state === 'owed') add('result owed', 'quiet', 'The agent is told of its result next.');
    else if (notice.state === 'claimed') add('delivering', 'quiet', 'Its result is on its way to the agent.');
  }
  if (error) add(error.code, 'bad', plainLine(error.message));
  return badges;
}
