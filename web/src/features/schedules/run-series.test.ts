import { expect, test } from 'vitest';
import type { Run } from '../../../../src/contract/run.ts';
import { runSeries, spreadWords } from './run-series.ts';
import { spanWords } from './schedule-words.ts';

const run = (id: string, createdAt: string, endedAt?: string, usd?: number): Run => ({
  id,
  project: 'shop',
  state: endedAt === undefined ? 'running' : 'ended',
  createdAt,
  messages: [],
  ...(endedAt === undefined ? {} : { endedAt }),
  ...(usd === undefined ? {} : { spent: { usd } }),
});

test('runs that have ended, oldest first, with what is known of them', () => {
  const series = runSeries([
    run('run_3', '2027-01-01T03:00:00.000Z'),
    run('run_2', '2027-01-01T02:00:00.000Z', '2027-01-01T02:30:00.000Z', 0.5),
    run('run_1', '2027-01-01T01:00:00.000Z', '2027-01-01T01:02:00.000Z'),
  ]);
  expect(series.runIds).toEqual(['run_1', 'run_2']);
  expect(series.minutes).toEqual([2, 30]);
  expect(series.usd).toEqual([null, 0.5]);
  expect(series.at[0]).toBe(Date.UTC(2027, 0, 1, 1) / 1_000);
});

test('the spread is told of what is known alone', () => {
  expect(spreadWords([null, 3, 1, 2], (value) => `${value}m`)).toBe('usually 2m, at most 3m');
  expect(spreadWords([null], String)).toBe('');
});

test('spans are written as in a file', () => {
  expect([900_000, 5_400_000, 250, 0].map(spanWords)).toEqual(['15m', '1h30m', '250ms', '0ms']);
});
