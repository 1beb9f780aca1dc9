import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
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
  log.append({ t: 'replied', request: 'ask:1', at: 95 });
  appendFileSync(join(directory, 'sent.log'), 'not json\n{"t":"prompt","id":"d3"');
  const again = new SentLog(directory);
  expect(again.base).toBe(10);
  expect(again.session).toEqual({ id: 'ünique', at: 50, isKept: false });
  expect([...again.prompts.values()]).toEqual([
    { id: 'd1', at: 50, hash: hashOf('d1'), outcome: 'written', end: 80, usd: 0.8 },
    { id: 'd2', at: 90, hash: 'x', outcome: 'intended' },
  ]);
  expect(again.replied).toEqual(new Map([['ask:1', 95]]));
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

const nameOf = (n: number): string => `d${String(n).padStart(6, '0')}`;

/** Two processes with so many turns each, a text whose process died, one that is open, and answers to requests. */
function longLog(turns: number): SentLog {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'session', id: 's', at: 10 });
  for (let n = 0; n < turns; n++) prompt(log, nameOf(n), 100 * n + 10, 100 * n + 90);
  prompt(log, nameOf(turns), 100 * turns);
  log.append({ t: 'process', base: 1_000_000 });
  log.append({ t: 'session', id: 's', at: 1_000_010 });
  for (let n = turns + 1; n < 2 * turns; n++) {
    prompt(log, nameOf(n), 1_000_000 + 100 * n + 10, 1_000_000 + 100 * n + 90);
    log.append({ t: 'replied', request: `ask:${n}`, at: 1_000_000 + 100 * n + 50 });
  }
  prompt(log, nameOf(2 * turns), 2_000_000);
  return log;
}

/** What anybody may ask a log. */
function answers(log: SentLog, turns: number): unknown {
  const last = [...log.prompts.values()].slice(-50);
  return {
    base: log.base,
    session: log.session,
    last,
    open: [...log.past].filter(([, { fate }]) => fate === undefined),
    replay: [1_500_000, 1_999_999, 2_000_000, 2_000_500].map((position) => log.replayFrom(position)),
    sent: Array.from({ length: 2 * turns + 2 }, (_, n) => log.mayHaveArrived(nameOf(n))),
    consumed: Array.from({ length: turns }, (_, n) => log.timesConsumed(hashOf(nameOf(n)))),
    replied: last.map(({ id }) => log.replied.get(`ask:${Number(id.slice(1))}`)),
  };
}

test('a log that is made shorter answers as before, and is no longer than the last turns need', () => {
  const log = longLog(1000);
  const before = answers(log, 1000);
  const sizeBefore = statSync(join(directory, 'sent.log')).size;
  log.compact();
  expect(answers(log, 1000)).toEqual(before);
  expect(answers(new SentLog(directory), 1000)).toEqual(before);
  expect(statSync(join(directory, 'sent.log')).size).toBeLessThan(sizeBefore / 5);
  expect(log.isForgotten(nameOf(3))).toBe(true);
  expect(log.isForgotten(nameOf(1000))).toBe(false);
  expect(log.isForgotten(nameOf(9999))).toBe(false);
  const text = readFileSync(join(directory, 'sent.log'), 'utf8');
  log.compact();
  expect(readFileSync(join(directory, 'sent.log'), 'utf8')).toBe(text);
  prompt(log, nameOf(2001), 2_100_000, 2_100_100);
  expect(new SentLog(directory).prompts.get(nameOf(2001))?.end).toBe(2_100_100);
});

test('a death at any moment of making it shorter leaves a whole log', () => {
  const log = longLog(600);
  const before = answers(log, 600);
  const file = join(directory, 'sent.log');
  copyFileSync(file, `${file}.old`);
  log.compact();
  const next = readFileSync(file);
  // Until the rename the old log is the one that is read, whatever there is of the new one.
  for (let cut = 0; cut <= next.length; cut += Math.ceil(next.length / 12)) {
    copyFileSync(`${file}.old`, file);
    writeFileSync(`${file}.next`, next.subarray(0, cut));
    const again = new SentLog(directory);
    expect(answers(again, 600)).toEqual(before);
    again.compact();
    expect(readFileSync(file).equals(next)).toBe(true);
  }
});

test('a log is made shorter again and again, and still knows what it was told first', () => {
  const log = new SentLog(directory);
  log.append({ t: 'process', base: 0 });
  log.append({ t: 'session', id: 's', at: 10 });
  for (let n = 0; n < 1200; n++) {
    prompt(log, nameOf(n), 100 * n + 10, 100 * n + 90);
    log.compact();
  }
  log.append({ t: 'process', base: 1_000_000 });
  const again = new SentLog(directory);
  expect(again.timesConsumed(hashOf(nameOf(0)))).toBe(1);
  expect(again.timesConsumed(hashOf(nameOf(1199)))).toBe(1);
  expect(again.mayHaveArrived(nameOf(5))).toBe(true);
  expect(statSync(join(directory, 'sent.log')).size).toBeLessThan(300_000);
});
