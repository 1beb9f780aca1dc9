import type { Notification } from '../ledger/notification.ts';
import { plainBlock, plainLine } from './plain.ts';
import type { Message } from './port.ts';
import type { Places } from './words.ts';
import { commandsOf, titleOf, urlOf, wordsOfMessage } from './words.ts';

/** Longest reason in an event by itself and in one of a group, in UTF-16 units. */
const longestText = 2_000;
const longestTextOfMany = 200;

/** A CloudEvent 1.0 in the structured JSON form. */
interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly subject: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: Readonly<Record<string, unknown>>;
}

/**
 * A message as a CloudEvent: of type `stemma.TRANSITION`, or `stemma.group` with the events of several in `data.events`. The same
 * message is the same text each time.
 */
export function cloudEventOf(message: Message, places: Places): CloudEvent {
  const [only, ...others] = message.notifications;
  if (!only) throw new Error(`message ${message.id} is empty`);
  if (others.length === 0) return eventOf(only, places, longestText);
  return {
    ...envelope(message.id, 'stemma.group', message.target, only.at, places),
    data: {
      title: wordsOfMessage(message, places).title,
      count: message.notifications.length,
      url: `${places.pageUrl}/`,
      events: message.notifications.map((each) => eventOf(each, places, longestTextOfMany)),
    },
  };
}

function eventOf(row: Notification, places: Places, longest: number): CloudEvent {
  const { id, transition, subject, at } = row;
  const facts = {
    transition,
    title: titleOf(row),
    project: row.project === null ? null : plainLine(row.project, 200),
    name: row.name === null ? null : plainLine(row.name, 200),
    code: row.code,
    text: row.text === null ? null : plainBlock(row.text, longest),
    executionId: row.rootId,
    sessionId: row.sessionId,
    runId: row.runId,
    scheduleId: row.scheduleId,
    url: urlOf(row, places),
    command: commandsOf(row)[0] ?? null,
  };
  const data = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
  return { ...envelope(id, `stemma.${transition}`, subject, at, places), data };
}

function envelope(
  id: string,
  type: string,
  subject: string,
  at: number,
  { pageUrl }: Places,
): Omit<CloudEvent, 'data'> {
  const time = new Date(at).toISOString();
  return {
    specversion: '1.0',
    id,
    source: pageUrl,
    type,
    subject,
    time,
    datacontenttype: 'application/json',
  };
}
