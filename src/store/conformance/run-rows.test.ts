import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { ask } from '../../ledger/questions.ts';
import type { Opened } from './adapters.ts';
import { adapters } from './adapters.ts';
import { deciding, id, run, session, start } from './rows.ts';

const rows = [{ title: 'a "quoted" title', n: 1 }, { title: '', deep: { list: [null, true] } }, {}];

describe.each(adapters)('the rows of a run on $name', ({ open }) => {
  let opened: Opened;
  const rowOf = (n: number, index: number): Promise<unknown> =>
    opened.store.read(() => ask('runRow', id.run(n), index));
  beforeEach(async () => {
    opened = await open(new VirtualClock(start));
    await opened.store.decide(
      deciding([
        { do: 'insertSession', row: session(1) },
        { do: 'insertRun', row: run(1, id.session(1), { rowCount: 3 }) },
        { do: 'insertRows', runId: id.run(1), rows },
        { do: 'insertRun', row: run(2, id.session(1), { rowCount: 3, cursor: 2 }) },
      ]),
    );
  });
  afterEach(() => opened.end());

  it('are answered one by one, as they were given, and undefined beyond them', async () => {
    expect(await Promise.all([0, 1, 2].map((index) => rowOf(1, index)))).toEqual(rows);
    expect(await rowOf(1, 3)).toBeUndefined();
    expect(await rowOf(2, 0)).toBeUndefined();
    expect(await opened.store.read(() => ask('run', id.run(2)))).toMatchObject({ rowCount: 3, cursor: 2 });
  });

  it('are copied for a run that goes on', async () => {
    await opened.store.decide(deciding([{ do: 'copyRows', runId: id.run(2), from: id.run(1) }]));
    expect(await rowOf(2, 1)).toEqual(rows[1]);
    expect((await opened.dump()).runRows).toHaveLength(6);
  });

  it.each([
    ['of no run', { do: 'insertRows', runId: id.run(9), rows } as const],
    ['that are there already', { do: 'insertRows', runId: id.run(1), rows: [{}] } as const],
  ])('are refused %s, and nothing is changed', async (_, effect) => {
    const before = await opened.dump();
    await expect(
      opened.store.decide(deciding([{ do: 'insertRows', runId: id.run(2), rows }, effect])),
    ).rejects.toThrow();
    expect(await opened.dump()).toEqual(before);
  });
});
