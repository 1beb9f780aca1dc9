import type { OccurrenceId, RunId, SessionId } from '../base/ids.ts';
import { idAs } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft } from '../ledger/decision.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import { newRun } from '../ledger/session.ts';
import type { PreparedWorkspace } from '../ledger/workspace.ts';
import { addWorkspace } from '../ledger/workspace-lock.ts';
import { decide, whyNot } from './claim.ts';
import { conversationOf } from './conversation.ts';

/** An occurrence whose directory is ready. */
export interface Begin {
  readonly now: number;
  readonly id: OccurrenceId;
  /** By which revision of the schedule it was made ready. */
  readonly revision: number;
  readonly node: string;
  readonly workspace: PreparedWorkspace;
  /** Of a schedule that runs a workflow: the workflow, as its file said it when it was made ready. */
  readonly plan?: readonly PlannedMessage[];
}

/** `changed`: the schedule says something else by now, so all that was made ready is in doubt. `not`: it is skipped. */
export type Begun = { readonly as: 'ran'; readonly runId: RunId } | { readonly as: 'changed' | 'not' };

/**
 * A claimed occurrence becomes its run: session, run and occurrence are one transaction. The run is named after the
 * occurrence, so that a repetition cannot begin a second one.
 */
export function* begin(command: Begin): Rule<Begun> {
  const draft = new Draft(command.now);
  const found = yield* claimed(command.id);
  if (!found) return draft.done<Begun>({ as: 'not' });
  const { schedule, occurrence } = found;
  const why = whyNot(command.now, schedule, occurrence);
  if (why) {
    yield* decide(draft, schedule, occurrence, why);
    return draft.done<Begun>({ as: 'not' });
  }
  if (schedule.revision !== command.revision) return draft.done<Begun>({ as: 'changed' });
  const work = yield* workOf(draft, schedule, occurrence, command);
  if ('reason' in work) {
    yield* decide(draft, schedule, occurrence, { state: 'skipped', reason: work.reason });
    return draft.done<Begun>({ as: 'not' });
  }
  const runId = idAs('run', occurrence.id);
  const { project, name, definition } = schedule;
  const { sessionId, plan } = work;
  const row = newRun({
    id: runId,
    project,
    name,
    sessionId,
    ownerId: null,
    plan,
    createdAt: command.now,
    scheduleId: schedule.id,
    occurrenceId: occurrence.id,
    instant: occurrence.instant,
    budget: definition.budget ?? null,
  });
  draft.add({ do: 'insertRun', row });
  addWorkspace(draft, runId, command.workspace);
  draft.tell({ type: 'run.state', rootId: null, sessionId, data: { runId, state: 'running' } });
  draft.wake('run', runId);
  yield* decide(draft, schedule, occurrence, { state: 'ran', runId });
  return draft.done<Begun>({ as: 'ran', runId });
}

/** What is done, and in which conversation; the steps of a workflow have conversations of their own. Or why nothing is. */
function* workOf(
  draft: Draft,
  schedule: Schedule,
  occurrence: Occurrence,
  { plan, workspace, node }: Begin,
): Asking<
  | { readonly sessionId: SessionId | null; readonly plan: readonly PlannedMessage[] }
  | { readonly reason: string }
> {
  if (schedule.definition.workflow !== undefined) {
    if (plan === undefined) throw new Error(`the workflow of ${occurrence.id} was not made ready`);
    return { sessionId: null, plan };
  }
  const found = yield* conversationOf(draft, schedule, occurrence, { cwd: workspace.path, node });
  if ('reason' in found) return found;
  return { sessionId: found.sessionId, plan: withOpening(schedule.definition.messages, found.opening) };
}

/** Gives a claimed occurrence up. Harmless when it is not claimed any more. */
export function* giveUp(command: {
  readonly now: number;
  readonly id: OccurrenceId;
  readonly reason: string;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const found = yield* claimed(command.id);
  if (!found) return draft.done(false);
  yield* decide(draft, found.schedule, found.occurrence, { state: 'skipped', reason: command.reason });
  return draft.done(true);
}

function* claimed(
  id: OccurrenceId,
): Asking<{ readonly schedule: Schedule; readonly occurrence: Occurrence } | undefined> {
  const occurrence = yield* ask('occurrence', id);
  if (occurrence?.state !== 'claimed') return undefined;
  const schedule = yield* ask('schedule', occurrence.scheduleId);
  return schedule && { schedule, occurrence };
}

/** What a new conversation must know of the one before it goes before the first message. */
function withOpening(
  messages: readonly PlannedMessage[],
  opening: string | undefined,
): readonly PlannedMessage[] {
  const [first, ...rest] = messages;
  if (opening === undefined || !first) return messages;
  return [{ ...first, text: `${opening}\n\n${first.text}` }, ...rest];
}
