import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { graph, graphStep } from './graph-rows.ts';
import { deciding, execution, id, registering, start } from './rows.ts';

const workflow = execution(1, null, { kind: 'workflow' });
const attempts = [1, 2, 3].map((attempt) =>
  execution(1 + attempt, workflow, { kind: 'step', key: 'step:step 1', attempt }),
);

describe.each(adapters)('the view of a workflow on $name', ({ open }) => {
  let opened: Opened;
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(
      deciding([
        ...[workflow, ...attempts].flatMap((row) => registering(row)),
        { do: 'insertGraph', row: graph(1, { left: 4 }) },
        ...[0, 2, 3].map((index) => ({ do: 'insertGraphStep', row: graphStep(1, index) }) as const),
        {
          do: 'insertGraphStep',
          row: graphStep(1, 1, { state: 'running', tries: 3, currentId: id.execution(4) }),
        },
      ]),
    );
  });
  afterEach(() => opened.end());

  it('has a page of the steps, in order, with the attempts at each', async () => {
    const first = await opened.store.views.graph(workflow.id, { from: 0, limit: 2 });
    expect(first).toMatchObject({ graph: { id: workflow.id }, total: 4, next: 2 });
    expect(first?.steps.map(({ index }) => index)).toEqual([0, 1]);
    expect(
      [...(first?.attempts ?? [])].map(([index, rows]) => [index, rows.map(({ attempt }) => attempt)]),
    ).toEqual([[1, [1, 2, 3]]]);
    const second = await opened.store.views.graph(workflow.id, { from: 2, limit: 2 });
    expect(second?.steps.map(({ index }) => index)).toEqual([2, 3]);
    expect(second?.next).toBeUndefined();
    expect(await opened.store.views.graph(id.execution(2), { from: 0, limit: 2 })).toBeUndefined();
  });
});
