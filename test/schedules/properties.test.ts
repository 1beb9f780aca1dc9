import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ScheduleId } from '../../src/base/ids.ts';
import type { ScheduleRule } from '../../src/ledger/schedule-definition.ts';
import { InstantBook } from './ledger-of-instants.ts';
import { Stage, after, slow, start } from './stage.ts';
import { day, hour } from './world.ts';

const rules: readonly ScheduleRule[] = [
  { cron: '0 3 * * *', timezone: 'Europe/Berlin' },
  { cron: '30 2 * * *', timezone: 'America/New_York' },
  { cron: '15 */12 * * *', timezone: 'Australia/Lord_Howe' },
  { everyMs: 31 * hour, anchor: 0 },
];
const some = fc.nat({ max: 3 });
const days = fc.integer({ min: 1, max: 60 * 24 }).map((hours) => hours * hour + 7);

/** One thing that happens to a schedule or to its server, and the time that passes behind it. */
const act = fc.record({
  do: fc.constantFrom('edit', 'pause', 'resume', 'trigger', 'backfill', 'restart', 'away', 'forward', 'back'),
  rule: some,
  overlap: fc.constantFrom('skip', 'queueOne', 'cancelOther', 'allow'),
  policy: fc.constantFrom('none', 'latest', 'all'),
  passes: days,
});
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

class Life {
  readonly stage = new Stage();
  readonly book = new InstantBook(start);
  #rule = rules[0] as ScheduleRule;

  async live(acts: readonly Act[]): Promise<ScheduleId[]> {
    const { stage, book } = this;
    stage.begin({ fate: slow(5 * hour) });
    const id = await stage.add('one', { when: this.#rule });
    const behind = await stage.add('two', after('one', { deadline: '06:00' }));
    book.add(id, this.#rule);
    book.add(behind, after('one').when, id);
    for (const each of acts) {
      await this.#do(each, id);
      await stage.world.settle();
      this.book.look(stage.clock.now());
      await stage.world.runTo(stage.clock.now() + each.passes);
      this.book.look(stage.clock.now());
    }
    return [id, behind];
  }

  async #do(each: Act, id: ScheduleId): Promise<void> {
    const { stage } = this;
    switch (each.do) {
      case 'edit': {
        this.#rule = rules[each.rule] as ScheduleRule;
        const catchUp = { windowMs: 2 * day, policy: each.policy };
        await stage.edit(id, { when: this.#rule, overlap: each.overlap, catchUp });
        return this.book.edit(id, this.#rule);
      }
      case 'pause':
        return void (await stage.pause(id));
      case 'resume':
        return void (await stage.resume(id));
      case 'trigger':
        return void (await stage.trigger(id));
      case 'backfill': {
        const to = stage.clock.now() - hour;
        await stage.backfill(id, to - 3 * day, to);
        return this.book.backfill(id, to - 3 * day, to);
      }
      case 'restart':
        return stage.restart();
      case 'away':
        return stage.away(each.passes);
      case 'forward':
        stage.clock.jump(each.passes / 10);
        return stage.world.schedules.lookAtAll();
      case 'back':
        stage.clock.jump(-each.passes / 10 - hour);
        return stage.world.schedules.lookAtAll();
    }
  }
}

/** Whole seconds are the clock's: what somebody asked for, and what follows it, is beside them. */
const isOfTheClock = ({ instant }: { readonly instant: number }): boolean => instant % 1_000 === 0;

it('every instant has exactly one row, nothing runs twice, and the same acts leave the same rows', {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 1, maxLength: 10 }), async (acts) => {
      const [first, again] = [new Life(), new Life()];
      const ids = await first.live(acts);
      await again.live(acts);
      for (const id of ids) {
        const rows = await first.stage.world.occurrences(id);
        const own = rows.filter((row) => isOfTheClock(row));
        expect(own.map((row) => row.instant)).toEqual(first.book.instantsOf(id));
        const runs = await first.stage.runsOf(id);
        expect(new Set(runs.map((run) => run.occurrenceId)).size).toBe(runs.length);
        expect(runs).toHaveLength(rows.filter((row) => row.state === 'ran').length);
        expect(await again.stage.world.occurrences(id)).toEqual(rows);
      }
      await Promise.all([first.stage.world.end(), again.stage.world.end()]);
    }),
    { numRuns: Number(process.env['STEMMA_SCHEDULE_RUNS'] ?? 5) },
  );
});
