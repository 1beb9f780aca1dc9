import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../../ledger/effects.ts';
import { id, start } from '../conformance/rows.ts';
import { examinedEvents } from '../views.ts';
import type { Database } from './driver.ts';
import { hasNodeSqlite, openDatabase } from './driver.ts';
import type { EventStatements } from './event-statements.ts';
import { eventStatements } from './event-statements.ts';
import { migrate } from './migrate.ts';

const libraries = hasNodeSqlite() ? (['libsql', 'node'] as const) : (['libsql'] as const);

describe.each(libraries)('the event log on %s', (library) => {
  let db: Database;
  let log: EventStatements;
  const event = (n: number): LedgerEvent => ({
    type: `event ${n}`,
    at: start,
    rootId: id.execution(n % 10),
    sessionId: null,
    data: { n },
  });
  const append = (from: number, count: number): void => {
    log.append(Array.from({ length: count }, (_, i) => event(from + i)));
  };
  beforeEach(async () => {
    db = await openDatabase(':memory:', library);
    migrate(db, start);
    log = eventStatements(db);
  });
  afterEach(() => db.close());

  it('shares rows among the events of a commit, and replays from any place within one', () => {
    append(1, 150);
    append(151, 1);
    expect(db.prepare('SELECT sequence, count FROM events').rows([])).toEqual([
      [64, 64],
      [128, 64],
      [150, 22],
      [151, 1],
    ]);
    const page = log.since(63, {}, 3);
    expect(page.events.map(({ sequence, type }) => [sequence, type])).toEqual([
      [64, 'event 64'],
      [65, 'event 65'],
      [66, 'event 66'],
    ]);
    expect(page).toMatchObject({ through: 66, isEnd: false });
    expect(log.since(150, {}, 3)).toMatchObject({ through: 151, isEnd: true, events: [{ sequence: 151 }] });
  });

  it('finds what is rare page by page, however many rows there are', () => {
    for (let n = 1; n <= 450; n++) append(n, 1);
    const page = log.since(0, { rootId: id.execution(3) }, 1000);
    expect(page.events.map((each) => each.data['n'])).toEqual(
      Array.from({ length: 45 }, (_, i) => 3 + i * 10),
    );
    expect(page).toMatchObject({ through: 450, isEnd: true });
  });

  it('looks at a bounded number of events, and says how far it came', () => {
    for (let n = 1; n <= examinedEvents + 20_000; n += 500) append(n, 500);
    const page = log.since(0, { rootId: id.execution(99) }, 10);
    expect(page).toMatchObject({ events: [], isEnd: false });
    expect(page.through).toBeGreaterThanOrEqual(examinedEvents);
    expect(log.since(page.through, { rootId: id.execution(99) }, 10).isEnd).toBe(true);
  });

  it('never uses a place again: after a rollback, after another opening, after old events were deleted', () => {
    append(1, 2);
    db.exec('BEGIN');
    append(3, 5);
    db.exec('ROLLBACK');
    log.forget();
    append(3, 1);
    expect(log.last()).toBe(3);
    expect(eventStatements(db).last()).toBe(3);
    db.exec('DELETE FROM events WHERE sequence < 3');
    expect(() => db.exec('DELETE FROM events')).toThrow(/newest/);
    expect(eventStatements(db).last()).toBe(3);
  });
});
