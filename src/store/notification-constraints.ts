import type { Dispatch, Notification } from '../ledger/notification.ts';
import { demand } from './demand.ts';

/** A notification is named by what it is about. */
export function checkNotification(row: Notification): void {
  demand(row.id === `${row.transition}:${row.subject}`, 'the id is what it is about', row.id);
}

/** A dispatch is named by what goes where, and has what its state says. */
export function checkDispatch(row: Dispatch): void {
  const { state } = row;
  demand(row.id === `${row.target}:${row.notificationId}`, 'the id is what goes where', row.id);
  demand(row.attempt >= 0, 'attempt >= 0', row.id);
  demand(state !== 'owed' || row.leadId === null, 'what is owed is in no group', row.id);
  demand((state !== 'sending' && state !== 'sent') || row.leadId !== null, 'what goes has a leader', row.id);
  demand(state !== 'givenUp' || row.error !== null, 'what was given up says why', row.id);
  const isEnded = state === 'sent' || state === 'givenUp';
  demand(isEnded === (row.endedAt !== null), 'an ended dispatch has its instant', row.id);
}
