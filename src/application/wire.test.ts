import { expect, test } from 'vitest';
import type { Execution } from '../contract/execution.ts';
import { briefly } from './wire.ts';

const execution: Execution = {
  id: 'exe_1',
  rootId: 'exe_1',
  parentId: null,
  parentSource: 'none',
  kind: 'outside',
  name: 'one',
  attempt: 1,
  state: 'succeeded',
  open: 0,
  closed: true,
  createdAt: '2026-12-01T00:00:00.000Z',
};

test('of a long result or error a brief tree has the beginning, whole characters, and says so', () => {
  const long = `${'x'.repeat(199)}😀${'y'.repeat(1_000)}`;
  const cut = briefly({ ...execution, result: long, error: { code: 'LOST', message: long } });
  expect(cut).toEqual({
    ...execution,
    resultCut: true,
    result: 'x'.repeat(199),
    error: { code: 'LOST', message: 'x'.repeat(199) },
  });
  expect(briefly({ ...execution, result: 'short' })).toEqual({ ...execution, result: 'short' });
});
