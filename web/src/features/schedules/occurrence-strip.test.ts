import { expect, test } from 'vitest';
import type { Occurrence } from '../../../../src/contract/schedule.ts';
import { stripCells } from './occurrence-strip.ts';

const occurrence = (hour: number, more: Partial<Occurrence>): Occurrence => ({
  id: `run_${hour}`,
  project: 'shop',
  schedule: 'shop/nightly',
  instant: `2020-01-01T${String(hour).padStart(2, '0')}:00:00.000Z`,
  trigger: 'time',
  state: 'ran',
  revision: 1,
  createdAt: '2020-01-01T00:00:00.000Z',
  ...more,
});

test('the oldest is first, and each says when, what became of it, how it came and why', () => {
  const all = [
    occurrence(3, { state: 'skipped', reason: 'overlap: run_1 is at work' }),
    occurrence(2, { trigger: 'manual', runId: 'run_2' }),
    occurrence(1, { state: 'missed', reason: 'window: noticed 3 h late' }),
  ];
  const cells = stripCells(all, [{ id: 'run_2', state: 'ended', outcome: 'failed' }], 'Europe/Berlin');
  expect(cells.map(({ sign, tone }) => [sign, tone])).toEqual([
    ['!', 'bad'],
    ['✗', 'bad'],
    ['–', 'idle'],
  ]);
  expect(cells[0]?.words).toMatch(/2020.*02:00.*: missed, window: noticed 3 h late$/);
  expect(cells[1]?.words).toMatch(/03:00.*: failed \(triggered\)$/);
  expect(cells[1]?.runId).toBe('run_2');
});

test('a run that waits or is at work is no end; one that nobody knows more of has run', () => {
  const all = [1, 2, 3].map((hour) => occurrence(hour, { runId: `run_${hour}` })).toReversed();
  const runs = [
    { id: 'run_1', state: 'waiting' },
    { id: 'run_2', state: 'running' },
  ] as const;
  expect(stripCells(all, runs, 'UTC').map(({ sign }) => sign)).toEqual(['◐', '●', '▸']);
});

test('only the latest are shown, and what would act in a reason is gone', () => {
  const all = [
    occurrence(2, { state: 'skipped', reason: 'precondition: \x1b[31mno\u202e' }),
    occurrence(1, {}),
  ];
  const cells = stripCells(all, [], 'UTC', 1);
  expect(cells).toHaveLength(1);
  expect(cells[0]?.words).toMatch(/skipped, precondition: no$/);
});
