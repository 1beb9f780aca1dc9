import type { Notification } from '../../ledger/notification.ts';
import type { NotificationFilter, NotificationView, Page } from '../views.ts';
import { examinedRows, notificationCursor, notificationPlace } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import type { LedgerRows } from './rows.ts';

/** How many rows are read at a time while some are sought. */
const stepRows = 200;

/** Prepares the list of notifications, newest first, each with its dispatches. */
export function notificationList(
  db: Connection,
  tables: LedgerRows,
): (filter: NotificationFilter) => Page<NotificationView> {
  const newest = listOf(
    db,
    'SELECT id FROM notifications WHERE (at, id) < (?, ?) ORDER BY at DESC, id DESC LIMIT ?',
  );
  const dispatches = listOf(db, 'SELECT id FROM dispatches WHERE notification_id = ? ORDER BY id');
  const viewOf = (notification: Notification): NotificationView => ({
    notification,
    dispatches: tables.dispatches.all(dispatches(notification.id)),
  });
  return (filter) => {
    const items: NotificationView[] = [];
    let place = notificationPlace(filter.cursor);
    for (let examined = 0; examined < examinedRows; ) {
      const rows = tables.notifications.all(newest(place.at, place.id, stepRows));
      for (const row of rows) {
        const view = viewOf(row);
        const last = items.at(-1)?.notification;
        if (!fits(view, filter)) continue;
        if (items.length === filter.limit && last) return { items, next: notificationCursor(last) };
        items.push(view);
      }
      const end = rows.at(-1);
      if (rows.length < stepRows || !end) return { items };
      place = end;
      examined += rows.length;
    }
    return { items, next: notificationCursor(place) };
  };
}

function fits({ notification, dispatches }: NotificationView, filter: NotificationFilter): boolean {
  const { transition, project, state } = filter;
  if (transition !== undefined && notification.transition !== transition) return false;
  if (project !== undefined && notification.project !== project) return false;
  return state === undefined || dispatches.some((row) => row.state === state);
}
