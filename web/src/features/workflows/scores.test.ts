import { expect, test } from 'vitest';
import type { Run } from '../../../../src/contract/run.ts';
import type { WorkflowStep } from '../../../../src/contract/workflow.ts';
import { runMatrix } from './run-matrix.ts';
import { scoreSeries, scoresOf } from './scores.ts';

const step = (name: string, more: Partial<WorkflowStep> = {}): WorkflowStep => ({
  index: 0,
  name,
  type: 'script',
  needs: [],
  state: 'succeeded',
  attempts: [],
  tries: 1,
  ...more,
});
const counts = { total: 1, ended: 1, failed: 0 };
const run = (
  id: string,
  steps: WorkflowStep[],
  scoring?: { endedAt: string; steps: WorkflowStep[] },
): Run => ({
  id,
  project: 'shop',
  state: 'ended',
  messages: [],
  workflow: { name: 'shop/care', counts, steps },
  ...(scoring ? { scoring: { name: 'shop/score', counts, ...scoring } } : {}),
});

test('scores are the numbers of the outputs, also within them and as texts', () => {
  const outputs = {
    score: { points: 7, why: 'good', parts: { speed: 2 } },
    printed: ' 8.5\n',
    list: [1],
    day: '2027-01-01',
  };
  expect([...scoresOf({ steps: [step('judge', { outputs })] })]).toEqual([
    ['score.points', 7],
    ['score.parts.speed', 2],
    ['printed', 8.5],
  ]);
});

test('scores over time, the oldest first; what was not scored so has a gap', () => {
  const scored = (hour: number, outputs: Record<string, unknown>): Run =>
    run(`run_${hour}`, [], {
      endedAt: `2027-01-01T0${hour}:00:00.000Z`,
      steps: [step('judge', { outputs })],
    });
  const series = scoreSeries([scored(3, { a: 3, b: 1 }), run('run_x', []), scored(1, { a: 1 })]);
  expect(series.at.map((at) => at / 3_600 - Date.UTC(2027, 0, 1) / 3_600_000)).toEqual([1, 3]);
  expect(series.lines).toEqual([
    { name: 'a', values: [1, 3] },
    { name: 'b', values: [null, 1] },
  ]);
});

test('the matrix has the steps of the file in its order, then those of older runs', () => {
  const older = run('run_1', [step('gone'), step('b')]);
  const newer = run('run_2', [step('a'), step('b', { state: 'failed' })]);
  const matrix = runMatrix(['a', 'b', 'c'], [newer, older]);
  expect(matrix.steps).toEqual(['a', 'b', 'c', 'gone']);
  expect(matrix.cell('b', newer)?.state).toBe('failed');
  expect(matrix.cell('a', older)).toBeUndefined();
  expect(matrix.cell('gone', older)?.name).toBe('gone');
});
