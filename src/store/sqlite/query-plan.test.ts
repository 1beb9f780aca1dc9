import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import {
  deciding,
  dispatch,
  execution,
  id,
  notification,
  registering,
  session,
  settling,
  start,
  turn,
} from '../conformance/rows.ts';
import type { Database } from './driver.ts';
import { countParameters, hasNodeSqlite, openDatabase } from './driver.ts';
import { openStoreOn } from './store.ts';

/** Steps of plans that are no search, each with why it is bounded whatever is stored. */
const justified: readonly { readonly step: RegExp; readonly sql: RegExp; readonly why: string }[] = [
  {
    step: /^SCAN (\(subquery-\d+\)|own|examined|walked|head)$/,
    sql: /SELECT/,
    why: 'rows of an inner statement that is itself checked',
  },
  {
    step: /^SCAN (b|below)$/,
    sql: /WITH RECURSIVE below/,
    why: 'the open executions of one root, at most 10,001',
  },
  {
    step: /^SCAN json_each VIRTUAL TABLE/,
    sql: /INTO run_rows/,
    why: 'the rows that are written',
  },
  {
    step: /^SCAN given VIRTUAL TABLE/,
    sql: /FROM json_each\(\?\) AS given/,
    why: 'what is open in one tree, at most 10,000',
  },
  {
    step: /^SCAN executions USING (COVERING )?INDEX executions_unclosed$/,
    sql: /INDEXED BY executions_unclosed/,
    why: 'what is unclosed in the whole database, which is what runs now',
  },
  {
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    sql: /INDEXED BY (executions_unclosed|notices_pending_for|runs_running|occurrences_open|schedules_name)/,
    why: 'sorts what is unclosed, pending or running now',
  },
  {
    step: /^SCAN \w+ USING (COVERING )?INDEX (notices_pending_for|runs_running|occurrences_open|schedules_name|steers_open|graph_steps_scripts|executions_live_task|sessions_(live|lane|wake|limited))$/,
    sql: /INDEXED BY/,
    why: 'a partial index that has only what is pending, running or live now',
  },
  {
    step: /^(SCAN inputs USING COVERING INDEX inputs_queue)$/,
    sql: /DISTINCT session_id AS id FROM inputs/,
    why: 'the messages that are queued now, once at start',
  },
  {
    step: /^USE TEMP B-TREE FOR ORDER BY$/,
    sql: /AS own/,
    why: 'sorts what one session has open',
  },
  {
    step: /^SCAN (admissions|a) USING COVERING INDEX admissions_(of|place)$/,
    sql: /FROM admissions (ORDER BY place LIMIT 1|ORDER BY agent, project LIMIT 1|a\b)/,
    why: 'one step of an index, or all that waits for a turn slot now',
  },
  {
    step: /^SCAN heads$/,
    sql: /RECURSIVE heads/,
    why: 'a row for each agent in each project that is in line',
  },
  {
    step: /^USE TEMP B-TREE FOR (DISTINCT|ORDER BY)$/,
    sql: /INDEXED BY sessions_lane|FROM admissions a/,
    why: 'sorts the turns of one tree that run now, or results that wait for a slot',
  },
  { step: /^SCAN label VIRTUAL TABLE/, sql: /FROM schedules/, why: 'the labels of one schedule, at most 50' },
  { step: /^SCAN (migrations|tokens)/, sql: /FROM (migrations|tokens) ORDER BY/, why: 'a handful of rows' },
  { step: /^USE TEMP B-TREE FOR ORDER BY$/, sql: /FROM tokens ORDER BY/, why: 'a handful of rows' },
];

const libraries = hasNodeSqlite() ? (['libsql', 'node'] as const) : (['libsql'] as const);

describe.each(libraries)('query plans of %s', (library) => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-plan-'));
  const prepared = new Set<string>();
  let db: Database;

  beforeAll(async () => {
    const file = join(directory, 'stemma.db');
    const real = await openDatabase(file, library);
    db = real;
    const recording: Database = {
      library: real.library,
      dialect: real.dialect,
      get inTransaction() {
        return real.inTransaction;
      },
      prepare(sql) {
        prepared.add(sql);
        return real.prepare(sql);
      },
      checkEach: (isEach) => real.checkEach(isEach),
      checkWrites: () => real.checkWrites(),
      exec: (sql) => real.exec(sql),
      close: () => real.close(),
    };
    const store = openStoreOn(recording, file, systemClock, Math.random);
    // Patches are prepared when they are first used.
    await store.decide(
      deciding([
        ...registering(execution(1)),
        { do: 'patchExecution', id: id.execution(1), set: { drain: 0, verdict: 'X' } },
        settling(1),
        { do: 'insertSession', row: session(1) },
        { do: 'patchSession', id: id.session(1), set: { position: 1 } },
        { do: 'insertTurn', row: turn(1, id.session(1)) },
        { do: 'patchTurn', id: id.turn(1), set: { position: 1 } },
        { do: 'insertNotification', row: notification(1) },
        { do: 'patchNotification', id: notification(1).id, set: { state: 'addressed' } },
        { do: 'insertDispatch', row: dispatch(notification(1), 'ops') },
        { do: 'patchDispatch', id: dispatch(notification(1), 'ops').id, set: { attempt: 1 } },
        { do: 'wake', wake: { kind: 'session', target: 's', at: start } },
      ]),
    );
  });
  afterAll(() => {
    db.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it('every statement searches by an index, or says why it need not', () => {
    const questionable: string[] = [];
    const used = new Set<string>();
    for (const sql of prepared) {
      if (/^\s*(BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE)/.test(sql)) continue;
      const params = new Array<null>(countParameters(sql)).fill(null);
      for (const cells of db.prepare(`EXPLAIN QUERY PLAN ${sql}`).rows(params)) {
        const step = String(cells[3]);
        if (!/SCAN|TEMP B-TREE/.test(step)) continue;
        const reason = justified.find((each) => each.step.test(step) && each.sql.test(sql));
        if (reason) used.add(reason.why);
        else questionable.push(`${step}   in   ${sql.trim()}`);
      }
    }
    expect(questionable).toEqual([]);
    expect(prepared.size).toBeGreaterThan(100);
    expect(justified.filter((each) => !used.has(each.why)).map((each) => each.why)).toEqual([]);
  });
});
