import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { WholeStore } from '../../src/store/whole-store.ts';
import { sortedDump, sqlAdapters } from '../../src/store/conformance/adapters.ts';
import { ruleOf } from './calls.ts';
import type { Done } from './model.ts';
import { Model, start } from './model.ts';
import { history } from './steps.ts';

const runs = Number(process.env['STEMMA_MODEL_SQLITE_RUNS'] ?? 25);

/** Does to a store what was done to another one, at the same instants. */
async function relive(store: WholeStore, clock: VirtualClock, done: readonly Done[]): Promise<void> {
  for (const each of done) {
    clock.advance(each.at - clock.now());
    if ('call' in each) await store.decide(ruleOf(each.call)).catch(() => undefined);
    else await store.finishWake(each.finish, each.next);
  }
}

describe.each(sqlAdapters)('the same history in memory and on $name', (adapter) => {
  it('comes to the same rows, events and wake-ups', { timeout: 60_000 + runs * 1_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        const model = new Model({ checks: false });
        await model.begin();
        await fc.asyncModelRun(() => ({ model, real: model }), steps);
        const clock = new VirtualClock(start);
        const other = await adapter.open(clock);
        try {
          await relive(other.store, clock, model.done);
          expect(await other.dump()).toEqual(sortedDump(model.store.snapshot()));
        } finally {
          await other.end();
        }
      }),
      { numRuns: runs },
    );
  });
});
