import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hashOf, SentLog } from './sent-log.ts';

let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-sent-'));
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function prompt(log: SentLog, id: string, at: number, end?: number): void {
  log.append({ t: 'prompt', id, at, hash: hashOf(id) });
  log.append({ t: 'wrote', id, outcome: 'written' });
  if (end !== undefined) log.append({ t: 'ended', id, end, usd: end / 100 });
}

test('the same is read that was written, and a line torn by a death counts for nothing', () => {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 10 });
  log.append({ t: 'session', id: 'ünique', at: 50 });
  prompt(log, 'd1', 50, 80);
  log.append({ t: 'prompt', id: 'd2', at: 90, hash: 'x' });
  log.append({ t: 'replied', request: 'ask:1' });
  appendFileSync(join(directory, 'sent.log'), 'not json\n{"t":"prompt","id":"d3"');
  const again = new SentLog(directory);
  expect(again.base).toBe(10);
  expect(again.session).toEqual({ id: 'ünique', at: 50 });
  expect([...again.prompts.values()]).toEqual([
    { id: 'd1', at: 50, hash: hashOf('d1'), outcome: 'written', end: 80, usd: 0.8 },
    { id: 'd2', at: 90, hash: 'x', outcome: 'intended' },
  ]);
  expect(again.replied).toEqual(new Set(['ask:1']));
  again.append({ t: 'wrote', id: 'd2', outcome: 'refused' });
  expect(new SentLog(directory).prompts.get('d2')?.outcome).toBe('refused');
});

test('an output is read again from a line boundary outside of every turn, or from the start of the open one', () => {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'session', id: 's', at: 100 });
  expect(log.replayFrom(0)).toBe(100);
  prompt(log, 'd1', 150, 300);
  log.append({ t: 'prompt', id: 'd2', at: 310, hash: 'x' });
  log.append({ t: 'wrote', id: 'd2', outcome: 'refused' });
  prompt(log, 'd3', 400);
  expect([0, 120, 150, 299, 300, 399, 400, 9999].map((position) => log.replayFrom(position))).toEqual([
    100, 100, 150, 150, 300, 300, 400, 400,
  ]);
});

test('a new process leaves the prompts of the old one with what is known of them', () => {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'session', id: 's', at: 10 });
  prompt(log, 'ended', 10, 20);
  log.append({ t: 'prompt', id: 'refused', at: 20, hash: 'r' });
  log.append({ t: 'wrote', id: 'refused', outcome: 'refused' });
  prompt(log, 'shown', 20);
  log.append({ t: 'fate', id: 'shown', fate: 'consumed' });
  log.append({ t: 'prompt', id: 'open', at: 20, hash: 'o' });
  log.append({ t: 'process', base: 500 });
  const again = new SentLog(directory);
  expect(again.session).toBeUndefined();
  expect(again.prompts.size).toBe(0);
  expect(again.replayFrom(0)).toBe(500);
  expect(Object.fromEntries([...again.past].map(([id, { fate }]) => [id, fate]))).toEqual({
    ended: 'consumed',
    refused: 'absent',
    shown: 'consumed',
    open: undefined,
  });
});

test('a text may be sent again under its id only when no agent can have it', () => {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 0 });
  expect(log.mayHaveArrived('d1')).toBe(false);
  log.append({ t: 'prompt', id: 'd1', at: 0, hash: 'x' });
  expect(log.mayHaveArrived('d1')).toBe(true);
  log.append({ t: 'process', base: 100 });
  expect(log.mayHaveArrived('d1')).toBe(true);
  log.append({ t: 'fate', id: 'd1', fate: 'absent' });
  expect(log.mayHaveArrived('d1')).toBe(false);
  prompt(log, 'd1', 120);
  log.append({ t: 'process', base: 200 });
  expect(log.mayHaveArrived('d1')).toBe(true);
});
