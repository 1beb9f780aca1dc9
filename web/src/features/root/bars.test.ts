import { expect, test } from 'vitest';
import type { Execution } from '../../../../src/contract/execution.ts';
import { barsOf } from './bars.ts';

const base = Date.UTC(2026, 11, 1);
const at = (ms: number): string => new Date(base + ms).toISOString();
const execution = (more: Partial<Execution>): Execution => ({
  id: 'exe',
  rootId: 'exe',
  parentId: null,
  parentSource: 'none',
  kind: 'message',
  name: 'one',
  attempt: 1,
  state: 'running',
  open: 0,
  closed: false,
  createdAt: at(0),
  ...more,
});
const shown = (more: Partial<Execution>, now: number): unknown[] =>
  barsOf(execution(more), base + now).map(({ part, from, to, isGoing }) => [
    part,
    from - base,
    to - base,
    isGoing,
  ]);

test('first it waits, then it runs, then what is below it is open', () => {
  const whole = {
    state: 'succeeded',
    closed: true,
    startedAt: at(10),
    endedAt: at(30),
    closedAt: at(90),
  } as const;
  expect(shown(whole, 1_000)).toEqual([
    ['wait', 0, 10, false],
    ['run', 10, 30, false],
    ['open', 30, 90, false],
  ]);
});

test('what lasts reaches to the present', () => {
  expect(shown({ state: 'queued' }, 50)).toEqual([['wait', 0, 50, true]]);
  expect(shown({ startedAt: at(10) }, 50)).toEqual([
    ['wait', 0, 10, false],
    ['run', 10, 50, true],
  ]);
  expect(shown({ state: 'failed', startedAt: at(0), endedAt: at(20) }, 50)).toEqual([
    ['run', 0, 20, false],
    ['open', 20, 50, true],
  ]);
});

test('what waits in the midst of its work shows since when', () => {
  const waiting = { for: 'input', since: at(25) } as const;
  expect(shown({ startedAt: at(10), waiting }, 50)).toEqual([
    ['wait', 0, 10, false],
    ['run', 10, 25, false],
    ['held', 25, 50, true],
  ]);
});

test('work without a start of its own runs from its birth on', () => {
  expect(shown({ kind: 'outside' }, 50)).toEqual([['run', 0, 50, true]]);
});
