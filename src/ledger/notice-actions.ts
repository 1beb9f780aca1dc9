import type { ExecutionId, NoticeId } from '../base/ids.ts';
import { clocksAbove, parentOf } from './clock.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Actor } from './execution.ts';
import { isAttempt, isCheckOf, isCounted } from './execution.ts';
import { waive } from './hand-over.ts';
import { isPending } from './notice.ts';
import { ask } from './questions.ts';

/** An operator drops a notice, visibly. */
export interface WaiveNotice {
  readonly now: number;
  readonly id: NoticeId;
  readonly reason: string;
  readonly actor: Actor;
}

/** Refused with `IN_FLIGHT` while the text is in the agent's hands: withdraw it, or interrupt its continuation. */
export function* waiveNotice(command: WaiveNotice): Rule<'waived' | 'already'> {
  const notice = yield* ask('notice', command.id);
  if (!notice) return refuse('NOT_FOUND', `No notice ${command.id}.`, { id: command.id });
  const draft = new Draft(command.now);
  if (notice.state === 'waived') return draft.done<'waived' | 'already'>('already');
  if (notice.state === 'handled') {
    return refuse('ILLEGAL_STATE', `Notice ${notice.id} was handled; there is nothing to waive.`, {
      state: notice.state,
    });
  }
  const steer = notice.steerId === null ? undefined : yield* ask('steer', notice.steerId);
  if (notice.state === 'handed' || steer?.state === 'written') {
    const how = notice.continuationId ?? 'the running turn';
    return refuse('IN_FLIGHT', `The text of ${notice.id} is with the agent; interrupt ${how} instead.`, {
      noticeId: notice.id,
      continuationId: notice.continuationId,
    });
  }
  yield* waive(draft, notice, command.reason, command.actor);
  return draft.done<'waived' | 'already'>('waived');
}

/** An operator asks for an owed notice to be delivered now, whatever its back-off. */
export function* redeliver(command: { readonly now: number; readonly id: NoticeId }): Rule<boolean> {
  const notice = yield* ask('notice', command.id);
  if (!notice) return refuse('NOT_FOUND', `No notice ${command.id}.`, { id: command.id });
  if (notice.state !== 'owed') {
    return refuse(
      'ILLEGAL_STATE',
      `Notice ${notice.id} is ${notice.state}; only an owed one can be delivered again.`,
      {
        state: notice.state,
      },
    );
  }
  const draft = new Draft(command.now);
  draft.add({ do: 'patchNotice', id: notice.id, set: { notBefore: command.now } });
  draft.wake('session', notice.sessionId);
  return draft.done(true);
}

/** Takes an execution out of the deficits above it: it lives on, stays listed, and holds nothing any more. */
export function* detach(command: {
  readonly now: number;
  readonly id: ExecutionId;
  readonly actor: Actor;
}): Rule<boolean> {
  const row = yield* ask('execution', command.id);
  if (!row) return refuse('NOT_FOUND', `No execution ${command.id}.`, { id: command.id });
  if (row.parentId === null) {
    return refuse('ILLEGAL_STATE', `${row.id} is a root: nothing above it waits. Cancel it instead.`, {
      state: row.state,
    });
  }
  const parent = yield* ask('execution', row.parentId);
  if (parent && isCheckOf(row, parent)) {
    return refuse('ILLEGAL_STATE', `${row.id} decides the outcome of ${row.parentId}. Cancel it instead.`, {
      state: row.state,
    });
  }
  if (isAttempt(row)) {
    const message = `${row.id} is a step of a workflow, whose end decides what follows. Cancel it, or detach the workflow.`;
    return refuse('ILLEGAL_STATE', message, { state: row.state });
  }
  const draft = new Draft(command.now);
  const notice = yield* ask('noticeOf', row.id);
  if (notice && isPending(notice.state)) {
    const steer = notice.steerId === null ? undefined : yield* ask('steer', notice.steerId);
    if (steer?.state === 'written') {
      return refuse('IN_FLIGHT', `The result of ${row.id} is on its way into the running turn.`, {
        noticeId: notice.id,
      });
    }
    yield* waive(draft, notice, 'detached', command.actor);
  }
  if (!isCounted(row)) return draft.done(false);
  draft.patch(row.id, { detachedAt: command.now });
  draft.open(row.parentId, -1);
  for (const holder of yield* ask('holders', row.id)) draft.open(holder, -1);
  // What it waits for stops no clock above it any more.
  for (const above of yield* clocksAbove(yield* parentOf(row)))
    if (above.deadlineAt !== null) draft.wake('deadline', above.id, above.deadlineAt);
  draft.event('execution.detached', row, { actor: command.actor });
  return draft.done(true);
}
