import { FreshIds, idAs, type ScheduleId } from '../src/base/ids.ts';
import type { ScheduleDefinition } from '../src/ledger/schedule-definition.ts';
import { create } from '../src/schedules/change.ts';
import { materialise } from '../src/schedules/materialise.ts';
import { percentile, report, spread } from './figures.ts';
import { type Load, openLoad } from './load.ts';

/**
 * What schedules cost: a tick (an instant has come: its row, the cursor, the wake-ups, one commit) with more and more of
 * them in the database, many ticks at once, and the rows of a long sleep. Instants are made to come by saying what time it is.
 */
const counts = [10, 1_000, 10_000];
/** How many of them tick alone in a round; the others tick at once. */
const ticks = 100;
const rounds = 5;
const stepMs = 300_000;

const base = {
  timezone: 'Europe/Berlin',
  agent: 'demo',
  cwd: '/tmp',
  session: { mode: 'fresh' },
  messages: [{ text: 'x', timeoutMs: 1, onFailure: 'stop', join: 'own', check: null, background: 'wait' }],
  overlap: 'skip',
  catchUp: { windowMs: 86_400_000, policy: 'latest' },
  notify: [],
  labels: [],
} as const satisfies Omit<ScheduleDefinition, 'when'>;

async function add(
  load: Load,
  name: string,
  when: ScheduleDefinition['when'],
  now: number,
): Promise<ScheduleId> {
  const id = idAs('schedule', load.ids.make('run'));
  const definition: ScheduleDefinition = { ...base, when };
  const made = await load.store.decide(() =>
    create({ now, id, project: 'bench', name, origin: 'api', definition }),
  );
  if (!made.ok) throw new Error(made.message);
  return id;
}

async function tick(load: Load, id: ScheduleId, now: number): Promise<string> {
  const fresh = new FreshIds(load.ids);
  const done = await load.store.decide(() => materialise({ now, id, fresh }));
  if (!done.ok) throw new Error(done.message);
  return done.value;
}

const load = await openLoad();
const start = Date.UTC(2027, 0, 1);
const ids: ScheduleId[] = [];
let now = start;
const rows: string[][] = [
  ['schedules', 'one tick alone, p50 / p99 ms', 'ticks/s, all due at once', 'limited by'],
];
for (const count of counts) {
  const more = Array.from({ length: count - ids.length }, (_, i) => `s${ids.length + i}`);
  for (let i = 0; i < more.length; i += 500)
    ids.push(
      ...(await Promise.all(
        more
          .slice(i, i + 500)
          .map((name) => add(load, name, { cron: '*/5 * * * *', timezone: 'Europe/Berlin' }, now)),
      )),
    );
  const alone: number[] = [];
  const rates: number[] = [];
  for (let i = 0; i < rounds; i++) {
    now += stepMs;
    const first = ids.filter((_, index) => index % Math.ceil(ids.length / ticks) === 0);
    for (const id of first) {
      const begun = performance.now();
      await tick(load, id, now);
      alone.push(performance.now() - begun);
    }
    const others = ids.filter((id) => !first.includes(id));
    const begun = performance.now();
    await Promise.all(others.map((id) => tick(load, id, now)));
    if (others.length > 0) rates.push((others.length / (performance.now() - begun)) * 1000);
  }
  const shown = `${percentile(alone, 0.5).toFixed(2)} / ${percentile(alone, 0.99).toFixed(2)}`;
  rows.push([
    String(count),
    shown,
    rates.length > 0 ? spread(rates) : '-',
    'alone: the rule, then one fsync; at once: statements on one core',
  ]);
}
report('A tick of one schedule', load.store.library, rows);

const instants = 20_000;
const rates: number[] = [];
for (let i = 0; i < rounds; i++) {
  const id = await add(load, `slept${i}`, { everyMs: 1_000, anchor: 0 }, now);
  const begun = performance.now();
  while ((await tick(load, id, now + instants * 1_000)) === 'behind');
  rates.push((instants / (performance.now() - begun)) * 1000);
}
report('Rows of a schedule that slept through 20,000 instants', load.store.library, [
  ['rows/s', 'limited by'],
  [spread(rates), 'statements on one core, 1,000 rows a commit'],
]);
await load.end();
