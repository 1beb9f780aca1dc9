import { expect, test } from 'vitest';
import type { SessionMessage, TranscriptItem } from '../../../../src/contract/session.ts';
import { type TranscriptRow, transcriptRows } from './transcript-rows.ts';

const at = (second: number): string => `2026-12-01T10:00:${String(second).padStart(2, '0')}.000Z`;

const item = (second: number, kind: TranscriptItem['kind'], text: string): TranscriptItem => ({
  id: String(second),
  at: at(second),
  kind,
  text,
});

const message = (name: string, takenAt: number, more: Partial<SessionMessage> = {}): SessionMessage => ({
  executionId: `exe_${name}`,
  rootId: `exe_${name}`,
  kind: 'message',
  name,
  text: name,
  state: 'succeeded',
  closed: true,
  delivery: 'began',
  createdAt: at(takenAt),
  takenAt: at(takenAt),
  ...more,
});

const brief = (rows: readonly TranscriptRow[]): string[] =>
  rows.map((row) => {
    if (row.kind === 'told' || row.kind === 'ended') return `${row.kind} ${row.message.name}`;
    return row.kind === 'tool' ? `tool ${row.call} = ${row.result}` : `${row.kind} ${row.text}`;
  });

test('what was told stands where it was taken up, also within a turn', () => {
  const { rows } = transcriptRows(
    [item(2, 'text', 'a'), item(5, 'text', 'b')],
    [message('steered', 4, { delivery: 'steered', createdAt: at(1) }), message('first', 1)],
    true,
  );
  expect(brief(rows)).toEqual(['told first', 'said a', 'told steered', 'said b']);
});

test('an agent that tells what it was told gives it its place, once', () => {
  const items = [
    item(1, 'user', 'go'),
    item(2, 'text', 'a'),
    item(6, 'user', 'go'),
    item(7, 'user', 'typed'),
  ];
  const messages = [message('two', 3, { text: 'go' }), message('one', 1, { text: 'go' })];
  expect(brief(transcriptRows(items, messages, true).rows)).toEqual([
    'told one',
    'said a',
    'told two',
    'typed typed',
  ]);
});

test('a result stands with the call that it follows', () => {
  const items = [
    item(1, 'toolCall', 'ls'),
    item(2, 'toolResult', 'ok'),
    item(3, 'toolResult', 'of another'),
    item(4, 'toolCall', 'cat'),
  ];
  expect(brief(transcriptRows(items, [], true).rows)).toEqual([
    'tool ls = ok',
    'tool undefined = of another',
    'tool cat = undefined',
  ]);
});

test('what is not taken up waits, the first first; how it ended badly stands where it ended', () => {
  const failed = message('failed', 1, { state: 'failed', endedAt: at(3) });
  const { rows, waiting } = transcriptRows(
    [item(2, 'text', 'a'), item(4, 'text', 'b')],
    [
      message('second', 9, { delivery: 'queued', state: 'queued' }),
      message('next', 8, { delivery: 'steering', state: 'queued' }),
      failed,
    ],
    true,
  );
  expect(brief(rows)).toEqual(['told failed', 'said a', 'ended failed', 'said b']);
  expect(waiting.map(({ name }) => name)).toEqual(['next', 'second']);
});

test('of a part of the transcript only what was told within it is shown', () => {
  const { rows } = transcriptRows([item(5, 'text', 'a')], [message('new', 6), message('old', 1)], false);
  expect(brief(rows)).toEqual(['said a', 'told new']);
});
