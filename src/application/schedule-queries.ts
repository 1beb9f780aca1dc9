import type { FoundSchedule, ScheduleQueries, ScheduleRef } from '../api/ports.ts';
import type { ScheduleId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { inZone } from '../base/zoned-time.ts';
import type { ListQuery, Page } from '../contract/page.ts';
import { defaultLimit } from '../contract/page.ts';
import type * as wire from '../contract/schedule.ts';
import { toInstant } from '../contract/text.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import type { Run } from '../ledger/session.ts';
import { instantAfter, ruleOf } from '../schedules/timing.ts';
import { listedPlaces } from '../contract/run.ts';
import { instantText } from '../schedules/words.ts';
import type { ApplicationContext } from './context.ts';
import { asksForOthers, chosen, invalidCursor } from './list-filters.ts';
import { runsPage, shownRun } from './run-queries.ts';
import { toOccurrence, toSchedule } from './schedule-view.ts';

const states = ['active', 'paused', 'removed'] as const;
/** How many schedules of one name are told. */
const toldMatches = 10;

/** The read side of schedules. */
export function createScheduleQueries(context: ApplicationContext): ScheduleQueries {
  const { store, views, clock } = context;
  const scheduleOf = (id: ScheduleId): Promise<Schedule | undefined> => store.read(() => ask('schedule', id));
  const shown = async (row: Schedule): Promise<wire.Schedule> => {
    const last = await store.read(() => lastBegunOf(row.id));
    const found = last && (await views.run(last.id, { limit: listedPlaces }));
    return toSchedule(row, found && (await shownRun(context, found, 0)), clock.now());
  };
  return {
    find: (ref) => find(context, ref),
    async list(filter) {
      if (asksForOthers(filter, ['project', 'state', 'schedule', 'label'])) return { items: [] };
      const { items, next } = await views.schedules({ ...scheduleFilter(filter), ...placeOf(filter) });
      return { items: await Promise.all(items.map(shown)), ...after(next) };
    },
    async get(id) {
      const row = await scheduleOf(id);
      return row && shown(row);
    },
    async next(id, count) {
      const row = await scheduleOf(id);
      return row && nextOf(row, clock.now(), count);
    },
    async occurrences(id, { state, cursor, limit = defaultLimit }) {
      if (cursor !== undefined && !isInstantCursor(cursor)) throw invalidCursor(cursor);
      const row = await scheduleOf(id);
      if (!row) return { items: [] };
      const { items, next } = await views.occurrences({ scheduleId: id, state, cursor, limit });
      return { items: items.map((each) => toOccurrence(row, each)), ...after(next) };
    },
    runs: (id, filter) => runsPage(context, filter, { of: { scheduleId: id } }),
  };
}

// What is no safe integer, the database would not take.
function isInstantCursor(cursor: string): boolean {
  return /^-?\d{1,16}$/.test(cursor) && Number.isSafeInteger(Number(cursor));
}

function after(next: string | undefined): Pick<Page<unknown>, 'nextCursor'> {
  return next === undefined ? {} : { nextCursor: next };
}

function scheduleFilter(filter: ListQuery): {
  project?: string;
  name?: string;
  label?: string;
  state?: (typeof states)[number];
} {
  const { project, schedule, label } = filter;
  const [inProject, name] = schedule?.includes('/') ? schedule.split('/') : [undefined, schedule];
  const wanted = project ?? inProject;
  return {
    ...(wanted === undefined ? {} : { project: wanted }),
    ...(name === undefined ? {} : { name }),
    ...(label === undefined ? {} : { label }),
    ...chosen('state', filter.state, states),
  };
}

function placeOf({ cursor, limit = defaultLimit }: ListQuery): { cursor?: string; limit: number } {
  if (cursor === undefined) return { limit };
  if (!isId('schedule', cursor.split('/')[2] ?? '')) throw invalidCursor(cursor);
  return { cursor, limit };
}

async function find({ views }: ApplicationContext, ref: ScheduleRef): Promise<FoundSchedule> {
  const { items } = await views.schedules({ ...ref, limit: toldMatches });
  const [first] = items;
  if (!first) return { found: 'none' };
  if (items.length === 1) return { found: 'one', id: first.id };
  return { found: 'several', matches: items.map(fullName) };
}

/** The run that began last: one that is at work, else the one that ended last. */
function* lastBegunOf(id: ScheduleId): Asking<Run | undefined> {
  const live = yield* ask('liveRunsOf', id);
  const newest = live.reduce<Run | undefined>(
    (best, run) => (best && best.createdAt > run.createdAt ? best : run),
    undefined,
  );
  return newest ?? (yield* ask('lastRunOf', id));
}

function nextOf(row: Schedule, now: number, count: number): wire.NextAnswer {
  const { timezone } = row.definition;
  const rule = row.removedAt === null ? ruleOf(row.definition) : null;
  const items: wire.NextAnswer['items'] = [];
  for (let at = Math.max(now, row.cursor); rule !== null && items.length < count; ) {
    const next = instantAfter(rule, at);
    if (next === undefined) break;
    items.push({ instant: toInstant(next), local: inZone(next, timezone) });
    at = next;
  }
  const note = noteOf(row, items.length);
  return { timezone, items, ...(note === undefined ? {} : { note }) };
}

function noteOf(row: Schedule, found: number): string | undefined {
  if (row.removedAt !== null) return 'It was removed.';
  if (row.dependsOn !== null) return `It runs after ${row.dependsOn}, for the same instants.`;
  if (found === 0) return `It has no instant left after ${instantText(row.cursor)}.`;
  if (row.pausedAt !== null) return 'It is paused: these are skipped until it is resumed.';
  return undefined;
}
