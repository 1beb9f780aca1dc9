import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Session } from './session.ts';

/** Writes a new session. Its process starts with its first turn. */
export function* openSession(command: { readonly now: number; readonly session: Session }): Rule<Session> {
  const draft = new Draft(command.now);
  const { session } = command;
  draft.add({ do: 'insertSession', row: session });
  draft.tell({ type: 'session.state', rootId: null, sessionId: session.id, data: { state: session.state } });
  yield* [];
  return draft.done(session);
}
