import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Ids } from '../../base/ids.ts';
import { VirtualClock } from '../../base/virtual-clock.ts';
import { recount } from '../../ledger/recount.ts';
import { MemoryStore } from '../memory/store.ts';
import { sortedDump, sqlAdapters, withoutRevisions } from './adapters.ts';
import type { Choice } from './histories.ts';
import { commandOf, weights } from './histories.ts';
import { outcomesOf } from './programs.ts';
import { deciding, session, start } from './rows.ts';

const small = fc.nat({ max: 23 });
const choice: fc.Arbitrary<Choice> = fc.record({
  command: fc.oneof(...weights.map(({ weight, command }) => ({ weight, arbitrary: fc.constant(command) }))),
  a: small,
  b: small,
  c: small,
});
const history = fc.array(choice, { minLength: 60, maxLength: 160 });

/** Lives a history in memory and keeps what was decided, so that another store can live it again. */
async function live(choices: readonly Choice[]) {
  const clock = new VirtualClock(start);
  let turn = 0;
  const ids = new Ids(
    () => start + turn,
    () => (turn * 0.618) % 1,
  );
  const memory = new MemoryStore({ clock });
  const rules = [1, 2].map((n) => deciding([{ do: 'insertSession', row: session(n) }]));
  const outcomes = await outcomesOf(memory, rules, 1);
  const all: Parameters<typeof outcomesOf>[1][number][] = [...rules];
  for (const each of choices) {
    turn++;
    const command = commandOf(each, sortedDump(memory.snapshot()), turn, ids);
    all.push(command);
    outcomes.push(...(await outcomesOf(memory, [command], 1)));
  }
  return { clock, memory, rules: all, outcomes };
}

describe.each(sqlAdapters)('random histories of the ledger on $name', (adapter) => {
  it.each([
    ['one at a time', 1],
    ['several a commit', 9],
  ])(
    'come to the same rows, answers and counts as in memory, %s',
    { timeout: 240_000 },
    async (_, atOnce) => {
      const seen = { executions: 0, notices: 0, closed: 0, handed: 0, holds: 0, failed: 0 };
      await fc.assert(
        fc.asyncProperty(history, async (choices) => {
          const { clock, memory, rules, outcomes } = await live(choices);
          const sqlite = await adapter.open(clock);
          try {
            expect(await outcomesOf(sqlite.store, rules, atOnce)).toEqual(outcomes);
            const [mine, theirs] = [sortedDump(memory.snapshot()), await sqlite.dump()];
            expect(atOnce === 1 ? theirs : withoutRevisions(theirs)).toEqual(
              atOnce === 1 ? mine : withoutRevisions(mine),
            );
            const counts = recount(theirs);
            expect(theirs.executions.filter((row) => row.open !== counts.get(row.id))).toEqual([]);
            seen.executions += theirs.executions.length;
            seen.closed += theirs.executions.filter((row) => row.closed).length;
            seen.notices += theirs.notices.length;
            seen.handed += theirs.notices.filter((row) => row.continuationId !== null).length;
            seen.holds += theirs.holds.length;
            seen.failed += outcomes.filter((each) => each === 'failed').length;
          } finally {
            await sqlite.end();
          }
        }),
        { numRuns: 60 },
      );
      // Histories in which nothing happened would show nothing; a rule that throws is a bug of the ledger.
      expect(seen.closed).toBeGreaterThan(100);
      expect(seen.handed).toBeGreaterThan(5);
      expect(seen.holds).toBeGreaterThan(0);
      expect(seen.failed).toBe(0);
    },
  );
});
