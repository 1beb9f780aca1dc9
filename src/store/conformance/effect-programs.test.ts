import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Execution } from '../../ledger/execution.ts';
import { MemoryStore } from '../memory/store.ts';
import { outcomesOf } from './programs.ts';
import { sortedDump, sqlAdapters, withoutRevisions } from './adapters.ts';
import { deciding, execution, id, notice, opening, registering, session, settling, start } from './rows.ts';

/** One step of a random program, in small numbers that are given a meaning when the program is made. */
type Step =
  | { readonly do: 'register'; readonly parent: number; readonly holder: number; readonly drain: number }
  | { readonly do: 'settle'; readonly of: number; readonly openBy: number; readonly fails: boolean }
  | { readonly do: 'open'; readonly of: number; readonly by: number }
  | { readonly do: 'detach'; readonly of: number }
  | { readonly do: 'notice'; readonly of: number }
  | { readonly do: 'patch'; readonly of: number; readonly drain: number }
  | { readonly do: 'wake'; readonly at: number };

const few = fc.nat({ max: 12 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      parent: fc.integer({ min: -1, max: 12 }),
      holder: fc.integer({ min: -8, max: 12 }),
      drain: fc.integer({ min: -3, max: 1 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settle' as const),
      of: few,
      openBy: fc.integer({ min: -1, max: 1 }),
      fails: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('open' as const), of: few, by: fc.integer({ min: -2, max: 2 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('detach' as const), of: few }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('notice' as const), of: few }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('patch' as const),
      of: few,
      drain: fc.integer({ min: -1, max: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wake' as const), at: few }) },
);

/** Decisions of one to four steps each; many of them violate something, by themselves or because of what came before. */
const program = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 30 });

/** Turns steps into effects. Numbers name executions in the order of their registration, wrapped around. */
class Translation {
  readonly #rows: Execution[] = [];
  #notices = 0;

  effects(steps: readonly Step[]): Effect[] {
    return steps.flatMap((each) => this.#one(each));
  }

  #one(each: Step): Effect[] {
    switch (each.do) {
      case 'register':
        return this.#register(each);
      case 'settle': {
        const error = each.fails ? { code: 'X', message: 'y' } : null;
        const set = { openBy: each.openBy, state: each.fails ? 'failed' : 'succeeded', error } as const;
        return [settling(this.#number(each.of), set)];
      }
      case 'open':
        return [opening(id.execution(this.#number(each.of)), each.by)];
      case 'detach':
        return [
          { do: 'patchExecution', id: id.execution(this.#number(each.of)), set: { detachedAt: start } },
        ];
      case 'notice': {
        const row = this.#rows[this.#number(each.of) - 1];
        if (!row) return [];
        const made = notice(++this.#notices, row, id.session(1));
        return [{ do: 'insertNotice', row: made }, opening(made.countedOn, 1)];
      }
      case 'patch':
        return [
          { do: 'patchExecution', id: id.execution(this.#number(each.of)), set: { drain: each.drain } },
        ];
      case 'wake':
        return [{ do: 'wake', wake: { kind: 'session', target: id.session(1), at: each.at } }];
    }
  }

  #register({ parent, holder, drain }: Extract<Step, { do: 'register' }>): Effect[] {
    const above = parent < 0 ? null : (this.#rows[this.#number(parent) - 1] ?? null);
    const row = execution(this.#rows.length + 1, above, {
      drain: drain < 0 ? null : drain,
      wakeOnClose: drain === 1 ? `run:${parent}` : null,
      join: holder < -4 ? 'all' : 'own',
    });
    const holderRow = holder < 0 ? undefined : this.#rows[this.#number(holder) - 1];
    this.#rows.push(row);
    return registering(row, holderRow && holderRow.id !== above?.id ? [holderRow.id] : []);
  }

  #number(n: number): number {
    return this.#rows.length === 0 ? 1 : (n % this.#rows.length) + 1;
  }
}

describe.each(sqlAdapters)('random effects on $name', (adapter) => {
  let failed = 0;
  let passed = 0;
  beforeAll(() => {
    failed = 0;
    passed = 0;
  });
  // A program in which nothing fails, or everything does, would show little.
  afterAll(() => expect(Math.min(failed, passed)).toBeGreaterThan(100));

  it.each([
    ['one at a time', 1],
    ['several a commit', 7],
  ])('leave the same rows and answers as in memory, %s', { timeout: 120_000 }, async (_, atOnce) => {
    await fc.assert(
      fc.asyncProperty(program, async (decisions) => {
        const clock = new VirtualClock(start);
        const translation = new Translation();
        const rules = [
          deciding([{ do: 'insertSession', row: session(1) }]),
          ...decisions.map((steps, i) => deciding(translation.effects(steps), i)),
        ];
        const memory = new MemoryStore({ clock });
        const sqlite = await adapter.open(clock);
        try {
          const expected = await outcomesOf(memory, rules, 1);
          expect(await outcomesOf(sqlite.store, rules, atOnce)).toEqual(expected);
          failed += expected.filter((each) => each === 'failed').length;
          passed += expected.filter((each) => each !== 'failed').length;
          const [mine, theirs] = [sortedDump(memory.snapshot()), await sqlite.dump()];
          // Revisions count commits, and several decisions may share one.
          if (atOnce === 1) expect(theirs).toEqual(mine);
          else expect(withoutRevisions(theirs)).toEqual(withoutRevisions(mine));
        } finally {
          await sqlite.end();
        }
      }),
      { numRuns: 60 },
    );
  });
});
