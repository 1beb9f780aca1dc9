import type { RunId, SessionId } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { ask } from './questions.ts';
import type { PlannedMessage, RunOrigin } from './session.ts';
import { newRun } from './session.ts';
import type { PreparedWorkspace } from './workspace.ts';
import { addWorkspace } from './workspace-lock.ts';

/** A new run of a sequence of messages in a session. */
export interface BeginRun {
  readonly now: number;
  readonly id: RunId;
  readonly project: string;
  readonly name: string;
  /** Null: what it sends are workflows. */
  readonly sessionId: SessionId | null;
  readonly plan: readonly PlannedMessage[];
  /** What a schedule says of it; the budget may be a person's too. */
  readonly origin?: Partial<RunOrigin>;
  /** Where it works, if it must have that to itself or something was made for it. */
  readonly workspace?: PreparedWorkspace;
}

/** Writes the run; its first message goes out by `advance`, like every other. */
export function* beginRun(command: BeginRun): Rule<RunId> {
  if (yield* ask('run', command.id)) return new Draft(command.now).done(command.id);
  if (command.sessionId !== null && !(yield* ask('session', command.sessionId)))
    return refuse('NOT_FOUND', `No session ${command.sessionId}.`, { id: command.sessionId });
  const draft = new Draft(command.now);
  const { id, project, name, sessionId, plan, origin, now } = command;
  const row = newRun({ id, project, name, sessionId, ownerId: null, plan, createdAt: now, ...origin });
  draft.add({ do: 'insertRun', row });
  if (command.workspace) addWorkspace(draft, id, command.workspace);
  draft.tell({ type: 'run.state', rootId: null, sessionId, data: { runId: id, state: 'running' } });
  draft.wake('run', id);
  return draft.done(id);
}
