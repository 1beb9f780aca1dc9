import { assertNever } from '../base/assert-never.ts';
import type { Notification, Transition } from '../ledger/notification.ts';
import { cut, plainBlock, plainLine } from './plain.ts';
import type { Message } from './port.ts';

/** Longest title, and longest reason in a message about one thing and about several, in UTF-16 units. */
const longestTitle = 150;
const longestReason = 1_000;
const longestReasonOfMany = 200;
/** How many of a group are told one by one to people; programs get all. */
const toldOneByOne = 20;

/** Where a person looks further. `pageUrl` is the address of the page, without a slash at its end. */
export interface Places {
  readonly pageUrl: string;
}

/** What a person reads. Every part is plain: no control characters, no line breaks in titles. */
export interface Words {
  readonly title: string;
  /** Lines of text; empty when the title says it all. */
  readonly body: string;
  /** The page about it. */
  readonly url: string;
}

/** One notification in words. */
export function wordsOf(notification: Notification, places: Places): Words {
  const { text, code } = notification;
  const body = [
    ...(text === null ? [] : [plainBlock(text, longestReason)]),
    ...(code === null ? [] : [`Code: ${plainLine(code, 64)}`]),
    ...(notification.project === null ? [] : [`Project: ${plainLine(notification.project, 100)}`]),
    ...commandsOf(notification).map((command) => `Why: ${command}`),
  ];
  return { title: titleOf(notification), body: body.join('\n'), url: urlOf(notification, places) };
}

/** A message in words: of several notifications, the first ones one by one, and how many more there are. */
export function wordsOfMessage({ notifications }: Message, places: Places): Words {
  const [only, ...others] = notifications;
  if (only && others.length === 0) return wordsOf(only, places);
  const shown = notifications.slice(0, toldOneByOne);
  const lines = shown.map((each) => {
    const reason = each.text === null ? '' : `: ${plainLine(each.text, longestReasonOfMany)}`;
    return `- ${titleOf(each)}${reason} ${commandsOf(each)
      .map((command) => `(${command})`)
      .join('')}`.trimEnd();
  });
  const more = notifications.length - shown.length;
  if (more > 0) lines.push(`and ${more} more: stemma notify ls`);
  return { title: titleOfMany(notifications), body: lines.join('\n'), url: `${places.pageUrl}/` };
}

/** What happened, in one line. */
export function titleOf({ transition, name, code }: Notification): string {
  const who = name === null || name.trim() === '' ? null : plainLine(name, 80);
  return cut(sentenceOf(transition, who, code), longestTitle);
}

function sentenceOf(transition: Transition, who: string | null, code: string | null): string {
  switch (transition) {
    case 'failed':
      return `${who ?? 'A run'} failed`;
    case 'recovered':
      return `${who ?? 'A schedule'} is well again`;
    case 'waiting':
      return `${who ?? 'An agent'} ${waitsFor(code)}`;
    case 'missed':
      return `${who ?? 'A schedule'} missed its time`;
    case 'undeliverable':
      return `A result of ${who ?? 'an agent'} could not be delivered`;
    case 'lateActivity':
      return `An agent works without having been asked${who === null ? '' : `: ${who}`}`;
    case 'diskLow':
      return 'The disk is nearly full';
    case 'diskOk':
      return 'The disk has room again';
    case 'test':
      return 'A test: this arrives';
    default:
      return assertNever(transition);
  }
}

function waitsFor(code: string | null): string {
  if (code === 'SIGNED_OUT') return 'waits for somebody to sign in';
  return code === 'CAPACITY' ? 'waits for capacity, nobody knows until when' : 'asks something';
}

function titleOfMany(notifications: readonly Notification[]): string {
  const counts = new Map<Transition, number>();
  for (const { transition } of notifications) counts.set(transition, (counts.get(transition) ?? 0) + 1);
  const parts = [...counts].map(([transition, count]) => `${count} ${nounOf[transition]}`);
  return cut(parts.join(', '), longestTitle);
}

const nounOf: Readonly<Record<Transition, string>> = {
  failed: 'failed',
  recovered: 'well again',
  waiting: 'waiting for a person',
  missed: 'missed',
  undeliverable: 'undeliverable',
  lateActivity: 'late activity',
  diskLow: 'disk nearly full',
  diskOk: 'disk has room again',
  test: 'test',
};

/** How to look further on the command line. */
export function commandsOf({ rootId }: Notification): string[] {
  return rootId === null ? [] : [`stemma why ${rootId}`];
}

/** The page about it. */
export function urlOf({ rootId }: Notification, { pageUrl }: Places): string {
  return rootId === null ? `${pageUrl}/` : `${pageUrl}/roots/${rootId}`;
}
