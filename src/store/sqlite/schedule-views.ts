import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { OccurrenceFilter, Page, ScheduleFilter } from '../views.ts';
import { examinedRows } from '../views.ts';
import type { Database } from './driver.ts';
import { pagesOf } from './pages.ts';
import type { SqliteTables } from './tables.ts';

/** The lists of schedules and of their occurrences, answered at once. */
export interface ScheduleLists {
  schedules(filter: ScheduleFilter): Page<Schedule>;
  occurrences(filter: OccurrenceFilter): Page<Occurrence>;
}

/** Prepares them. */
export function scheduleLists(db: Database, tables: SqliteTables): ScheduleLists {
  return { schedules: scheduleList(db, tables), occurrences: occurrenceList(db, tables) };
}

function scheduleList(db: Database, tables: SqliteTables): ScheduleLists['schedules'] {
  const rest = ['project', 'state', 'origin'] as const;
  const paged = pagesOf(db, (ids) => tables.schedules.all(ids), rest);
  const state =
    "CASE WHEN removed_at IS NOT NULL THEN 'removed' WHEN paused_at IS NULL THEN 'active' ELSE 'paused' END";
  const all = paged(`SELECT id, project, origin, ${state} AS state FROM schedules WHERE id < ?`);
  const kept = paged(
    `SELECT id, project, origin, ${state} AS state FROM schedules WHERE removed_at IS NULL AND id < ?`,
  );
  return (filter) => {
    const { project, origin, label } = filter;
    const isWanted = ({ definition }: Schedule): boolean =>
      label === undefined || definition.labels.includes(label);
    const way = filter.state === undefined ? kept : all;
    return way([], [project, filter.state, origin], filter, isWanted);
  };
}

/** Sorts behind every instant: the cursor of the first page. */
const behindAll = Number.MAX_SAFE_INTEGER;

function occurrenceList(db: Database, tables: SqliteTables): ScheduleLists['occurrences'] {
  const walk = `
    SELECT id, instant, state FROM occurrences WHERE schedule_id = ? AND instant < ?
    ORDER BY instant DESC LIMIT ${examinedRows}`;
  const page = db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM (SELECT * FROM (${walk})) WHERE (? IS NULL OR state = ?) LIMIT ?)`);
  const extent = db.prepare(`SELECT min(instant), count(*) FROM (${walk})`);
  return ({ scheduleId, state, cursor, limit }) => {
    const before = cursor === undefined ? behindAll : Number(cursor);
    const ids = page.json([scheduleId, before, state ?? null, state ?? null, limit + 1]) as string[];
    const items = tables.occurrences.all(ids.slice(0, limit));
    const last = items.at(-1);
    if (ids.length > limit && last) return { items, next: String(last.instant) };
    const [lowest, count] = extent.row([scheduleId, before]) ?? [];
    return Number(count) < examinedRows ? { items } : { items, next: String(lowest) };
  };
}
