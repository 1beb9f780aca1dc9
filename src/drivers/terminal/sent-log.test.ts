import { mkdtempSync, rmSync } from 'node:fs';
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
