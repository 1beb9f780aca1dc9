import type { SessionId } from '../base/ids.ts';
import { overdueQuestion } from '../ledger/agent-process.ts';
import type { Waiting } from '../ledger/execution.ts';
import type { TurnsContext } from './ports.ts';

/** The question of this session that nobody has answered in time, if there is one; an operator is told of it. */
export async function takeOverdue(
  { store, clock, report }: TurnsContext,
  sessionId: SessionId,
): Promise<Waiting | undefined> {
  const overdue = await store.decide(() => overdueQuestion({ now: clock.now(), sessionId }));
  const question = overdue.ok ? overdue.value : undefined;
  if (question) report('question.overdue', { sessionId, text: question.text });
  return question;
}
