import type { Notifications } from '../api/ports.ts';
import type { Notification as WireNotification } from '../contract/notification.ts';
import { defaultLimit } from '../contract/page.ts';
import { toInstant } from '../contract/text.ts';
import { transitions } from '../ledger/notification.ts';
import type { Notifier } from '../notify/notifier.ts';
import { titleOf } from '../notify/words.ts';
import type { NotificationView } from '../store/views.ts';
import { isNotificationCursor } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { asksForOthers, chosen, invalidCursor } from './list-filters.ts';
import { at, present } from './wire.ts';

const dispatchStates = ['owed', 'sending', 'sent', 'givenUp'] as const;

/** What people were told, and the trial of those who are told. */
export function createNotifications({ views }: ApplicationContext, notifier: Notifier): Notifications {
  return {
    async list(filter) {
      if (asksForOthers(filter, ['project', 'state', 'kind'])) return { items: [] };
      const { cursor, limit = defaultLimit, project } = filter;
      if (cursor !== undefined && !isNotificationCursor(cursor)) throw invalidCursor(cursor);
      const { kind: transition } = chosen('kind', filter.kind, transitions);
      const { state } = chosen('state', filter.state, dispatchStates);
      const page = await views.notifications({ cursor, limit, project, transition, state });
      const next = page.next === undefined ? {} : { nextCursor: page.next };
      return { items: page.items.map(toNotification), ...next };
    },
    async test(name) {
      const attempt = await notifier.test(name);
      if (!attempt) {
        const known = notifier.targets;
        const which = known.length === 0 ? 'there are none' : `there are ${known.join(', ')}`;
        const message = `No target "${name}" is configured under notify; ${which}.`;
        return { ok: false, code: 'NOT_FOUND', message, data: { name } };
      }
      const why = attempt.ok ? {} : { message: attempt.message };
      return { ok: true, value: { target: name, sent: attempt.ok, ...why } };
    },
  };
}

function toNotification({ notification, dispatches }: NotificationView): WireNotification {
  const { project, name, code, text, rootId, sessionId, runId, scheduleId } = notification;
  return {
    id: notification.id,
    transition: notification.transition,
    title: titleOf(notification),
    at: toInstant(notification.at),
    ...present({ project, name, code, text, executionId: rootId, sessionId, runId, scheduleId }),
    dispatches: dispatches.map((row) => {
      const isTriedAgain = row.state === 'sending' && row.attempt > 0;
      return {
        target: row.target,
        state: row.state,
        attempts: row.attempt,
        ...present({
          nextAttemptAt: isTriedAgain ? at(row.notBefore) : null,
          endedAt: at(row.endedAt),
          error: row.error,
        }),
      };
    }),
  };
}
