import type { SessionMessage, TranscriptItem } from '../../../../src/contract/session.ts';

/** One row of what a session said and did. `key` is the same for the same thing, however often it is read. */
export type TranscriptRow =
  /** What it was told: a message or a continuation; or that it worked by itself (`late`). At the place where it was taken up. */
  | {
      readonly kind: 'told';
      readonly key: string;
      readonly at: string;
      readonly message: SessionMessage;
      readonly text: string;
    }
  /** A text of a person that came by no message: typed at the agent's own screen. */
  | { readonly kind: 'typed'; readonly key: string; readonly at: string; readonly text: string }
  | { readonly kind: 'said'; readonly key: string; readonly at: string; readonly text: string }
  | { readonly kind: 'thought'; readonly key: string; readonly at: string; readonly text: string }
  | {
      readonly kind: 'tool';
      readonly key: string;
      readonly at: string;
      readonly call?: string;
      readonly result?: string;
    }
  /** A message that did not end well. */
  | { readonly kind: 'ended'; readonly key: string; readonly at: string; readonly message: SessionMessage };

/** What a session said and did, in order; and what waits to be told to it, first in first out. */
export interface TranscriptRows {
  readonly rows: readonly TranscriptRow[];
  readonly waiting: readonly SessionMessage[];
}

const notTaken: ReadonlySet<SessionMessage['delivery']> = new Set(['queued', 'steering', 'sending']);
/** An agent may keep the beginning alone of what it was told. */
const comparedChars = 400;

/**
 * Puts together what was read of a session. `items`: a part of the transcript, oldest first; `messages`: newest first.
 * `isWhole`: nothing was said before the first item. Where it is not, what was told before it is left out too.
 */
export function transcriptRows(
  items: readonly TranscriptItem[],
  messages: readonly SessionMessage[],
  isWhole: boolean,
): TranscriptRows {
  const oldestFirst = messages.toReversed();
  const waiting = oldestFirst.filter(({ delivery }) => notTaken.has(delivery));
  const from = isWhole ? '' : (items[0]?.at ?? '');
  const told = oldestFirst.filter((message) => !notTaken.has(message.delivery) && placeOf(message) >= from);
  const { byItem, unplaced } = placed(items, told);
  const rows = paired(items.map((item) => rowOf(item, byItem.get(item.id))));
  const beside = [
    ...unplaced.map((message) => toldRow(message, placeOf(message))),
    ...told.filter(hasEndedBadly).map(endedRow),
  ].sort((a, b) => a.at.localeCompare(b.at));
  return { rows: merged(rows, beside), waiting };
}

function placeOf({ takenAt, createdAt, endedAt, delivery }: SessionMessage): string {
  return takenAt ?? (delivery === 'unsent' ? (endedAt ?? createdAt) : createdAt);
}

/** Which message each text of a person is: some agents tell what they were told, each text once, in the order of taking. */
function placed(
  items: readonly TranscriptItem[],
  told: readonly SessionMessage[],
): { byItem: ReadonlyMap<string, SessionMessage>; unplaced: readonly SessionMessage[] } {
  const byItem = new Map<string, SessionMessage>();
  const left = [...told].sort((a, b) => placeOf(a).localeCompare(placeOf(b)));
  for (const item of items) {
    if (item.kind !== 'user') continue;
    const index = left.findIndex(({ text }) => text !== undefined && isSameText(text, item.text));
    const [message] = index < 0 ? [] : left.splice(index, 1);
    if (message) byItem.set(item.id, message);
  }
  return { byItem, unplaced: left };
}

function isSameText(sent: string, told: string): boolean {
  const [a, b] = [sent.trim().slice(0, comparedChars), told.trim().slice(0, comparedChars)];
  return a === b;
}

function rowOf(item: TranscriptItem, message: SessionMessage | undefined): TranscriptRow {
  const { id: key, at, text } = item;
  switch (item.kind) {
    case 'user':
      return message ? toldRow(message, at) : { kind: 'typed', key, at, text };
    case 'text':
      return { kind: 'said', key, at, text };
    case 'thought':
      return { kind: 'thought', key, at, text };
    case 'toolCall':
      return { kind: 'tool', key, at, call: text };
    case 'toolResult':
      return { kind: 'tool', key, at, result: text };
  }
}

function toldRow(message: SessionMessage, at: string): TranscriptRow {
  return { kind: 'told', key: message.executionId, at, message, text: message.text ?? message.name };
}

function endedRow(message: SessionMessage): TranscriptRow {
  return {
    kind: 'ended',
    key: `${message.executionId} end`,
    at: message.endedAt ?? message.createdAt,
    message,
  };
}

function hasEndedBadly({ state, delivery }: SessionMessage): boolean {
  return delivery !== 'unsent' && (state === 'failed' || state === 'lost' || state === 'cancelled');
}

/** A result stands with its call where it follows it; of calls side by side nobody can say whose result is whose. */
function paired(rows: readonly TranscriptRow[]): TranscriptRow[] {
  const all: TranscriptRow[] = [];
  for (const row of rows) {
    const last = all.at(-1);
    const isResult = row.kind === 'tool' && row.call === undefined;
    if (isResult && last?.kind === 'tool' && last.result === undefined)
      all[all.length - 1] = { ...last, result: row.result ?? '' };
    else all.push(row);
  }
  return all;
}

/** Both are in order; of the same instant, what was told is first. */
function merged(rows: readonly TranscriptRow[], beside: readonly TranscriptRow[]): TranscriptRow[] {
  const all: TranscriptRow[] = [];
  let next = 0;
  for (const row of rows) {
    for (let other = beside[next]; other && isBefore(other, row); other = beside[++next]) all.push(other);
    all.push(row);
  }
  return [...all, ...beside.slice(next)];
}

function isBefore(other: TranscriptRow, row: TranscriptRow): boolean {
  return other.kind === 'ended' ? other.at < row.at : other.at <= row.at;
}
