import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ScheduleId } from '../../src/base/ids.ts';
import { FreshIds, idAs } from '../../src/base/ids.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { ask } from '../../src/ledger/questions.ts';
import type { Run } from '../../src/ledger/session.ts';
import { backfill } from '../../src/schedules/backfill.ts';
import { create, edit, pause, remove, resume } from '../../src/schedules/change.ts';
import { trigger } from '../../src/schedules/trigger.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { InstantBook } from './ledger-of-instants.ts';
import { MortalStore } from './mortal-store.ts';
import { Dice } from './random.ts';
import type { Fate } from './world.ts';
import { World, day, hour, minute } from './world.ts';
import { anyDefinition, anyRule } from './year-schedules.ts';

/** What a year is made of. */
export interface YearOptions {
  readonly seed: number;
  readonly schedules: number;
  readonly days: number;
}

/** What came of a year. */
export interface Account {
  /** What is wrong; nothing, if all is well. */
  readonly wrong: readonly string[];
  readonly occurrences: number;
  readonly runs: number;
  /** How many occurrences are in each state. */
  readonly states: Readonly<Record<string, number>>;
  readonly acts: Readonly<Record<string, number>>;
  /** SHA-256 of every schedule, occurrence and run. */
  readonly hash: string;
}

const start = Date.UTC(2026, 11, 1, 0, 0, 0, 500);

/**
 * Lives through a year of many schedules on a virtual clock: servers that stop, die and start again, clocks that are set,
 * sleep, edits, pauses, triggers and backfills, all from one seed. The store is the product's own, on a file.
 */
export async function liveYear(options: YearOptions): Promise<Account> {
  // A file in memory where there is such a thing: what is tried is no disk.
  const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(root, 'stemma-year-'));
  const year = new Year(options, join(directory, 'stemma.db'));
  try {
    return await year.live();
  } finally {
    await year.end();
    rmSync(directory, { recursive: true, force: true });
  }
}

type Act =
  | 'edit'
  | 'pause'
  | 'resume'
  | 'trigger'
  | 'backfill'
  | 'replace'
  | 'restart'
  | 'die'
  | 'away'
  | 'sleep'
  | 'setForward'
  | 'setBack';

const acts: readonly Act[] = [
  ...(['edit', 'edit', 'pause', 'resume', 'resume', 'trigger', 'backfill', 'replace'] as const),
  ...(['restart', 'die', 'die', 'away', 'away', 'sleep', 'setForward', 'setBack'] as const),
];

/** They come behind the rows of all instants until then. */
const byPeople: ReadonlySet<Act> = new Set(['edit', 'pause', 'resume', 'trigger', 'backfill', 'replace']);

class Year {
  readonly #options: YearOptions;
  readonly #file: string;
  readonly #dice: Dice;
  readonly #clock = new VirtualClock(start);
  readonly #book = new InstantBook(start);
  readonly #ids: ScheduleId[] = [];
  readonly #all: ScheduleId[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #wrong: string[] = [];
  #names = 0;
  #store!: MortalStore;
  #world!: World;

  constructor(options: YearOptions, file: string) {
    this.#options = options;
    this.#file = file;
    this.#dice = new Dice(options.seed);
  }

  async live(): Promise<Account> {
    await this.#open();
    for (let i = 0; i < this.#options.schedules; i++) await this.#create();
    const end = start + this.#options.days * day;
    // Something happens about every day, often in the same hour as something else.
    for (let at = start; at < end; ) {
      at += this.#dice.chance(40) ? this.#dice.below(hour) : this.#dice.below(2 * day);
      await this.#runTo(Math.max(at, this.#clock.now()));
      await this.#act();
      at = Math.max(at, this.#clock.now() - 3 * day);
    }
    // What goes on comes to its end, and nothing is stuck. What others run after goes when they have gone.
    while (this.#ids.length > 0) for (const id of [...this.#ids]) await this.#remove(id);
    await this.#runTo(this.#clock.now() + 30 * day);
    return this.#account();
  }

  async end(): Promise<void> {
    await this.#world.end();
    await this.#world.parts.store.close();
  }

  #on(id: ScheduleId, fresh: FreshIds): { now: number; id: ScheduleId; fresh: FreshIds } {
    return { now: this.#clock.now(), id, fresh };
  }

  async #open(): Promise<void> {
    const clock = this.#clock;
    const random = this.#dice.next;
    const store = new MortalStore(await openSqliteStore({ file: this.#file, clock, random }));
    this.#store = store;
    this.#world = new World({
      store,
      clock,
      random,
      fate: fateOf,
      precondition: (command) => ({ exitCode: command === 'yes' ? 0 : 1, output: '' }),
    });
    await this.#world.start();
    this.#book.look(clock.now());
  }

  async #runTo(at: number): Promise<void> {
    await this.#world.runTo(at);
    this.#book.look(this.#clock.now());
  }

  async #create(): Promise<void> {
    const id = this.#world.ids.make('schedule');
    const upstream = this.#ids.length > 3 && this.#dice.chance(10) ? this.#dice.one(this.#ids) : undefined;
    const name = `s${this.#names++}`;
    const above = upstream && (await this.#world.schedule(upstream));
    const status = this.#dice.one(['succeeded', 'failed', 'any'] as const);
    const when = above
      ? { after: { schedule: above.name, status, ...(this.#dice.chance(50) ? { deadline: '06:00' } : {}) } }
      : anyRule(this.#dice);
    const definition = anyDefinition(this.#dice, when);
    const command = { id, project: 'year', name, origin: 'file', definition } as const;
    const made = await this.#world.parts.store.decide(() => create({ ...command, now: this.#clock.now() }));
    if (!made.ok) throw new Error(made.message);
    this.#ids.push(id);
    this.#all.push(id);
    this.#book.add(id, when, upstream);
  }

  async #act(): Promise<void> {
    const act = this.#dice.one(acts);
    this.#counts[act] = (this.#counts[act] ?? 0) + 1;
    const id = this.#dice.one(this.#ids);
    // People come also when no handler has looked for a while.
    if (this.#dice.chance(50)) this.#clock.advance(this.#dice.below(day));
    if (byPeople.has(act)) this.#book.look(this.#clock.now());
    switch (act) {
      case 'edit':
        return this.#edit(id);
      case 'pause':
        return this.#settled(() =>
          this.#world.change((fresh) => pause({ ...this.#on(id, fresh), reason: null })),
        );
      case 'resume':
        return this.#settled(() => this.#world.change((fresh) => resume(this.#on(id, fresh))));
      case 'trigger':
        return this.#settled(() => this.#trigger(id));
      case 'backfill':
        return this.#backfill(id);
      case 'replace':
        await this.#remove(id);
        return this.#create();
      case 'restart':
        return this.#restart(this.#dice.below(2 * minute));
      case 'die':
        return this.#die();
      case 'away':
        return this.#restart(this.#dice.below(this.#dice.chance(20) ? 10 * day : 8 * hour));
      case 'sleep':
        this.#clock.sleep(this.#dice.below(3 * day));
        return this.#noticed();
      case 'setForward':
        this.#clock.jump(this.#dice.below(2 * day));
        return this.#noticed();
      case 'setBack':
        this.#clock.jump(-2 * minute - this.#dice.below(2 * day));
        return this.#noticed();
    }
  }

  async #settled(act: () => Promise<unknown>): Promise<void> {
    await act();
    if (this.#dice.chance(50)) await this.#world.settle();
  }

  async #edit(id: ScheduleId): Promise<void> {
    const { definition } = await this.#world.schedule(id);
    const isRule = !('after' in definition.when) && this.#dice.chance(60);
    const when = isRule ? anyRule(this.#dice) : definition.when;
    const next = anyDefinition(this.#dice, when);
    const edited = await this.#world.change((fresh) => edit({ ...this.#on(id, fresh), definition: next }));
    if (!edited.ok) throw new Error(edited.message);
    this.#book.edit(id, when);
  }

  async #remove(id: ScheduleId): Promise<void> {
    const gone = await this.#world.change((fresh) => remove(this.#on(id, fresh)));
    // Something runs after it.
    if (!gone.ok) return;
    this.#book.remove(id);
    this.#ids.splice(this.#ids.indexOf(id), 1);
  }

  async #trigger(id: ScheduleId): Promise<void> {
    const occurrenceId = idAs('occurrence', this.#world.ids.make('run'));
    const fresh = new FreshIds(this.#world.ids);
    const command = { scheduleId: id, id: occurrenceId, now: this.#clock.now(), fresh };
    await this.#world.parts.store.decide(() => trigger(command));
  }

  async #backfill(id: ScheduleId): Promise<void> {
    const to = this.#clock.now() - this.#dice.below(day);
    const from = to - this.#dice.below(5 * day);
    for (;;) {
      const fresh = new FreshIds(this.#world.ids);
      const command = { ...this.#on(id, fresh), from, to, isDry: false };
      const done = await this.#world.parts.store.decide(() => backfill(command));
      if (done.ok && done.value.as === 'behind') continue;
      if (done.ok) this.#book.backfill(id, from, to);
      return;
    }
  }

  async #restart(awayMs: number): Promise<void> {
    await this.#world.end();
    await this.#world.parts.store.close();
    this.#clock.advance(awayMs);
    await this.#open();
  }

  /** The process ends at some commit, before or behind it, and another one starts. */
  async #die(): Promise<void> {
    this.#store.death = { decisions: 1 + this.#dice.below(40), isCommitted: this.#dice.chance(50) };
    try {
      await this.#world.runTo(this.#clock.now() + this.#dice.below(day));
    } catch (error) {
      if (!String(error).includes('died')) throw error;
    }
    // What was begun beside the handlers is over with the process.
    this.#store.death = { decisions: 0, isCommitted: false };
    await this.#restart(this.#dice.below(minute));
  }

  /** The watch tells that the clock was set. */
  async #noticed(): Promise<void> {
    await this.#world.schedules.lookAtAll();
    await this.#world.settle();
    this.#book.look(this.#clock.now());
  }

  async #account(): Promise<Account> {
    const hash = createHash('sha256');
    const states: Record<string, number> = {};
    let runs = 0;
    let occurrences = 0;
    for (const id of this.#all) {
      const rows = await this.#world.occurrences(id);
      const schedule = await this.#world.schedule(id);
      hash.update(JSON.stringify([schedule, rows]));
      occurrences += rows.length;
      for (const { state } of rows) states[state] = (states[state] ?? 0) + 1;
      this.#compare(schedule.name, id, rows);
      runs += await this.#checkRuns(schedule.name, rows, hash);
    }
    return {
      wrong: this.#wrong,
      occurrences,
      runs,
      states,
      acts: this.#counts,
      hash: hash.digest('hex'),
    };
  }

  #compare(name: string, id: ScheduleId, rows: Awaited<ReturnType<World['occurrences']>>): void {
    // Whole seconds are the clock's: what somebody asked for, and what follows it, is beside them.
    const found = rows.map((row) => row.instant).filter((at) => at % 1_000 === 0);
    const expected = this.#book.instantsOf(id);
    const [has, wants] = [new Set(found), new Set(expected)];
    for (const at of expected) if (!has.has(at)) this.#wrong.push(`${name}: ${text(at)} has no row`);
    for (const at of found)
      if (!wants.has(at) && !this.#book.mayHave(id, at)) this.#wrong.push(`${name}: ${text(at)} has a row`);
    if (has.size !== found.length) this.#wrong.push(`${name}: an instant has two rows`);
    for (const row of rows)
      if (row.decidedAt === null) this.#wrong.push(`${name}: ${text(row.instant)} is ${row.state} for ever`);
  }

  async #checkRuns(
    name: string,
    rows: Awaited<ReturnType<World['occurrences']>>,
    hash: ReturnType<typeof createHash>,
  ): Promise<number> {
    const ids = new Set<string>();
    for (const row of rows) {
      if (row.runId === null) continue;
      if (ids.has(row.runId)) this.#wrong.push(`${name}: ${row.runId} is of two occurrences`);
      ids.add(row.runId);
      const { runId } = row;
      const run = await this.#world.parts.store.read(() => ask('run', runId));
      hash.update(JSON.stringify(run ?? null));
      if (run?.occurrenceId !== row.id || run.instant !== row.instant)
        this.#wrong.push(`${name}: ${runId} is of another occurrence`);
      if (run?.state !== 'ended') this.#wrong.push(`${name}: ${runId} goes on for ever`);
    }
    return ids.size;
  }
}

/** A minute to five hours, and one in eight fails: by the run's id, so that it is the same after a restart. */
function fateOf(run: Run): Fate {
  const number = parseInt(createHash('sha256').update(run.id).digest('hex').slice(0, 6), 16);
  return {
    tookMs: minute + (number % 50 === 0 ? number % (40 * hour) : number % (5 * hour)),
    outcome: number % 8 === 0 ? 'failed' : 'succeeded',
  };
}

function text(at: number): string {
  return new Date(at).toISOString();
}
