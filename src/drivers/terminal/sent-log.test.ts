import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SentLog } from './sent-log.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-sent-log-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('is read again without what will never be taken up, and a text that was typed again is the newest', () => {
  const log = new SentLog(directory);
  log.add('trn_1', 'go on', 10);
  log.add('trn_2', 'go on', 20);
  log.drop('trn_1');
  expect([...new SentLog(directory).texts]).toEqual([['trn_2', { text: 'go on', sentAt: 20 }]]);
  log.add('trn_1', 'go on', 30);
  expect([...new SentLog(directory).texts.keys()]).toEqual(['trn_2', 'trn_1']);
});

it('of texts that were taken up long ago, only the turns are kept, of the newest', () => {
  const log = new SentLog(directory);
  const taken = new Map<string, string>();
  for (let i = 0; i < 1000; i++) {
    const id = `trn_${i}`;
    log.add(id, `text ${i}`, i);
    if (i === 400) continue;
    taken.set(id, `turn ${i}`);
    if (log.compact(taken)) taken.clear();
  }
  const lines = readFileSync(join(directory, 'sent.jsonl'), 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeLessThan(750);
  for (const known of [log, new SentLog(directory)]) {
    expect(known.texts.get('trn_400')).toEqual({ text: 'text 400', sentAt: 400 });
    expect(known.texts.get('trn_999')).toEqual({ text: 'text 999', sentAt: 999 });
    expect([known.turnOf('trn_700'), known.turnOf('trn_1')]).toEqual(['turn 700', undefined]);
    expect(known.texts.has('trn_700')).toBe(false);
  }
});

it('half a line of ours does not swallow the next one', () => {
  new SentLog(directory).add('trn_1', 'one', 1);
  appendFileSync(join(directory, 'sent.jsonl'), '{"id":"trn_2","te');
  new SentLog(directory).add('trn_3', 'three', 3);
  expect([...new SentLog(directory).texts.keys()]).toEqual(['trn_1', 'trn_3']);
});

it('what nobody will ever know stays so', () => {
  const log = new SentLog(directory);
  log.add('trn_1', 'one', 1);
  log.lose('trn_1');
  log.lose('trn_none');
  expect([...new SentLog(directory).texts]).toEqual([['trn_1', { text: 'one', sentAt: 1, isLost: true }]]);
});
