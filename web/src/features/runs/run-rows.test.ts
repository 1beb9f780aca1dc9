import { expect, test } from 'vitest';
import type { Run } from '../../../../src/contract/run.ts';
import { askedState, fittingRuns, mayDo, progressWords, shownRun } from './run-rows.ts';

const run = (name: string, more: Partial<Run> = {}): Run => ({
  id: `run_${name}`,
  name,
  project: 'shop',
  state: 'running',
  messages: [],
  ...more,
});
const all = [
  run('nightly', { schedule: 'shop/nightly', state: 'ended', outcome: 'failed', outcomeCode: 'TIMED_OUT' }),
  run('care', { state: 'ended', outcome: 'succeeded' }),
  run('other', { project: 'docs' }),
];
const everything = { search: '', state: '', project: '', schedule: '' };
const names = (runs: readonly Run[]): (string | undefined)[] => runs.map(({ name }) => name);

test('all words of a search must be found, in whatever is known of a run', () => {
  expect(names(fittingRuns(all, { ...everything, search: 'SHOP timed' }))).toEqual(['nightly']);
  expect(names(fittingRuns(all, { ...everything, project: 'docs' }))).toEqual(['other']);
});

test('failed are those that ended, and not well', () => {
  expect(askedState('failed')).toBe('ended');
  expect(askedState('')).toBeUndefined();
  expect(names(fittingRuns(all, { ...everything, state: 'failed' }))).toEqual(['nightly']);
});

test('what may be done depends on where a run is', () => {
  expect(mayDo({ state: 'running' })).toEqual({ stop: true, resume: false, rerun: false });
  expect(mayDo({ state: 'waiting' })).toEqual({ stop: true, resume: true, rerun: false });
  expect(mayDo({ state: 'ended', outcome: 'failed' })).toEqual({ stop: false, resume: true, rerun: true });
  expect(mayDo({ state: 'ended', outcome: 'succeeded' }).resume).toBe(false);
});

test('a run is shown as it ended, and how far it is in its own units', () => {
  expect(shownRun({ state: 'ended', outcome: 'cancelled' })).toBe('cancelled');
  expect(progressWords(run('x', { messagesCount: 3, messagesClosed: 1 }))).toBe('1 of 3 messages');
  const counts = { total: 6, ended: 4, failed: 1 };
  expect(progressWords(run('x', { workflow: { name: 'shop/x', counts, steps: [] } }))).toBe(
    '4 of 6 steps, 1 failed',
  );
});
