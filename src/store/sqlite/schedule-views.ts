import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { OccurrenceFilter, Page, ScheduleFilter } from '../views.ts';
import { cursorOf, placeOf } from '../schedule-cursor.ts';
import { examinedRows } from '../views.ts';
import type { Database, Statement } from './driver.ts';
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

/** By project and name. There are as many as people have written, so that all of them may be looked at. */
function scheduleList(db: Database, tables: SqliteTables): ScheduleLists['schedules'] {
  const page = (where: string): Statement =>
    db.prepare(`
    SELECT json_group_array(id) FROM (
      SELECT id FROM schedules WHERE ${where} AND (project, name, id) > (?, ?, ?)
      AND (? IS NULL OR project = ?) AND (? IS NULL OR name = ?) AND (? IS NULL OR origin = ?)
      AND (? IS NULL OR EXISTS (SELECT 1 FROM json_each(definition, '$.labels') AS label WHERE label.value = ?))
      ORDER BY project, name, id LIMIT ?)`);
  const pages = {
    kept: page('removed_at IS NULL'),
    active: page('removed_at IS NULL AND paused_at IS NULL'),
    paused: page('removed_at IS NULL AND paused_at IS NOT NULL'),
    removed: page('removed_at IS NOT NULL'),
  };
  return ({ project, name, origin, label, state, cursor, limit }) => {
    const values = [project, name, origin, label].flatMap((value) => [value ?? null, value ?? null]);
    const found = pages[state ?? 'kept'].json([...placeOf(cursor), ...values, limit + 1]) as string[];
    const items = tables.schedules.all(found.slice(0, limit));
    const last = items.at(-1);
    return found.length > limit && last ? { items, next: cursorOf(last) } : { items };
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
