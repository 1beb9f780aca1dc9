import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { OccurrenceFilter, Page, ScheduleFilter } from '../views.ts';
import { cursorOf, placeOf } from '../schedule-cursor.ts';
import { examinedRows } from '../views.ts';
import type { Connection } from './connection.ts';
import { listOf } from './connection.ts';
import type { LedgerRows } from './rows.ts';

/** The lists of schedules and of their occurrences, answered at once. */
export interface ScheduleLists {
  schedules(filter: ScheduleFilter): Page<Schedule>;
  occurrences(filter: OccurrenceFilter): Page<Occurrence>;
}

/** Prepares them. */
export function scheduleLists(db: Connection, tables: LedgerRows): ScheduleLists {
  return { schedules: scheduleList(db, tables), occurrences: occurrenceList(db, tables) };
}

/** By project and name. There are as many as people have written, so that all of them may be looked at. */
function scheduleList(db: Connection, tables: LedgerRows): ScheduleLists['schedules'] {
  const page = (where: string) =>
    listOf(
      db,
      `SELECT id FROM schedules WHERE ${where} AND (project, name, id) > (?, ?, ?)
      AND (? IS NULL OR project = ?) AND (? IS NULL OR name = ?) AND (? IS NULL OR origin = ?)
      AND (? IS NULL OR ${db.dialect.fields.hasLabel})
      ORDER BY project, name, id LIMIT ?`,
    );
  const pages = {
    kept: page('removed_at IS NULL'),
    active: page('removed_at IS NULL AND paused_at IS NULL'),
    paused: page('removed_at IS NULL AND paused_at IS NOT NULL'),
    removed: page('removed_at IS NOT NULL'),
  };
  return ({ project, name, origin, label, state, cursor, limit }) => {
    const values = [project, name, origin, label].flatMap((value) => [value ?? null, value ?? null]);
    const found = pages[state ?? 'kept'](...placeOf(cursor), ...values, limit + 1);
    const items = tables.schedules.all(found.slice(0, limit));
    const last = items.at(-1);
    return found.length > limit && last ? { items, next: cursorOf(last) } : { items };
  };
}

/** Sorts behind every instant: the cursor of the first page. */
const behindAll = Number.MAX_SAFE_INTEGER;

function occurrenceList(db: Connection, tables: LedgerRows): ScheduleLists['occurrences'] {
  const walk = `
    SELECT id, instant, state FROM occurrences WHERE schedule_id = ? AND instant < ?
    ORDER BY instant DESC LIMIT ${examinedRows}`;
  const page = listOf(
    db,
    `SELECT id FROM (SELECT * FROM (${walk}) AS examined) AS walked WHERE (? IS NULL OR state = ?) LIMIT ?`,
  );
  const extent = db.prepare(`SELECT min(instant), count(*) FROM (${walk}) AS walked`);
  return ({ scheduleId, state, cursor, limit }) => {
    const before = cursor === undefined ? behindAll : Number(cursor);
    const ids = page(scheduleId, before, state ?? null, state ?? null, limit + 1);
    const items = tables.occurrences.all(ids.slice(0, limit));
    const last = items.at(-1);
    if (ids.length > limit && last) return { items, next: String(last.instant) };
    const [lowest, count] = extent.row([scheduleId, before]) ?? [];
    return Number(count) < examinedRows ? { items } : { items, next: String(lowest) };
  };
}
