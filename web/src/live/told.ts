import { queryOptions } from '@tanstack/react-query';
import type { Execution } from '../../../src/contract/execution.ts';
import type { Page } from '../../../src/contract/page.ts';
import type { SessionMessage } from '../../../src/contract/session.ts';
import type { StepAttemptView } from '../../../src/contract/step-attempt.ts';
import { ask } from './ask.ts';

/** What an execution was told. `what`: what kind of text it is, as a heading. */
export interface Told {
  readonly what: string;
  readonly text: string;
  readonly isCut: boolean;
}

/** So many pages of a session's messages are looked through for one. */
const mostPages = 10;

/** What an execution was told to do: of a message and a continuation the text, of a step its prompt, command or question. */
export const toldQuery = (execution: Execution) =>
  queryOptions({
    queryKey: ['told', execution.id],
    queryFn: async ({ signal }): Promise<Told | null> =>
      execution.kind === 'step' ? ofStep(execution.id, signal) : ofMessage(execution, signal),
    enabled: isTold(execution),
    meta: { touchedBy: ({ data }) => data['executionId'] === execution.id },
  });

function isTold({ kind, runsIn }: Execution): boolean {
  return kind === 'step' || (runsIn !== undefined && ['message', 'continuation', 'late'].includes(kind));
}

async function ofMessage({ id, runsIn = '' }: Execution, signal: AbortSignal): Promise<Told | null> {
  let cursor = '';
  for (let page = 0; page < mostPages; page++) {
    const path = `/sessions/${encodeURIComponent(runsIn)}/messages?limit=100${cursor}`;
    const { items, nextCursor } = await ask<Page<SessionMessage>>(path, signal);
    const found = items.find(({ executionId }) => executionId === id);
    if (found)
      return found.text === undefined
        ? null
        : { what: 'Prompt', text: found.text, isCut: found.textCut === true };
    if (nextCursor === undefined) return null;
    cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
  return null;
}

async function ofStep(id: string, signal: AbortSignal): Promise<Told | null> {
  const attempt = await ask<StepAttemptView>(`/executions/${encodeURIComponent(id)}/attempt?limit=1`, signal);
  const { command, question, messages, messagesCount = 0 } = attempt;
  if (command !== undefined) return { what: 'Command', text: command, isCut: false };
  if (question !== undefined) return { what: 'Question', text: question, isCut: false };
  const first = messages?.[0];
  if (first?.text === undefined) return null;
  const what = messagesCount > 1 ? `First of ${messagesCount} prompts` : 'Prompt';
  return { what, text: first.text, isCut: first.textCut === true };
}
