import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { MemorySnapshot } from '../memory/state.ts';
import { MemoryStore } from '../memory/store.ts';
import { hasNodeSqlite } from '../sqlite/driver.ts';
import { openSqliteStore } from '../sqlite/store.ts';
import type { WholeStore } from '../whole-store.ts';
import { emptyDatabase, makeDatabase } from '../../../test/postgres/cluster.ts';
import { openPostgresStore } from '../postgres/store.ts';
import { dumpOf, dumpOfPostgres } from './dump.ts';

/** The rows of the ledger, each list in the order of its keys, so that two stores can be compared. */
export type Dump = Pick<
  MemorySnapshot,
  | 'executions'
  | 'notices'
  | 'sessions'
  | 'turns'
  | 'inputs'
  | 'steers'
  | 'runs'
  | 'schedules'
  | 'occurrences'
  | 'notifications'
  | 'dispatches'
  | 'admissions'
  | 'workspaces'
  | 'graphs'
  | 'graphSteps'
  | 'runRows'
  | 'holds'
  | 'owners'
  | 'wakeups'
  | 'events'
>;

/** An open store under test. `end` closes it and removes what it left. */
export interface Opened {
  readonly store: WholeStore;
  dump(): Promise<Dump>;
  end(): Promise<void>;
}

/** One way to keep the ledger; all of them must pass the same suite. */
export interface Adapter {
  readonly name: string;
  open(clock: Clock): Promise<Opened>;
}

const memory: Adapter = {
  name: 'memory',
  async open(clock) {
    const store = new MemoryStore({ clock });
    return {
      store,
      dump: async () => sortedDump(store.snapshot()),
      end: () => store.close(),
    };
  },
};

function sqlite(library: 'libsql' | 'node'): Adapter {
  return {
    name: library === 'node' ? 'node:sqlite' : 'libsql',
    async open(clock) {
      const directory = mkdtempSync(join(tmpdir(), 'stemma-store-'));
      const file = join(directory, 'stemma.db');
      const store = await openSqliteStore({ file, clock, random: Math.random, library });
      return {
        store,
        dump: async () => sortedDump(await dumpOf(file, library)),
        async end() {
          await store.close();
          rmSync(directory, { recursive: true, force: true });
        },
      };
    },
  };
}

/** Databases that were used and emptied: to make one takes longer than most tests. */
const emptied: string[] = [];
let databases = 0;

/** On the server of `STEMMA_TEST_POSTGRES`, a database for each store. */
const postgres: Adapter = {
  name: 'PostgreSQL',
  async open(clock) {
    const server = process.env['STEMMA_TEST_POSTGRES'] ?? '';
    const url = emptied.pop() ?? (await makeDatabase(server, `store_${process.pid}_${++databases}`));
    const store = await openPostgresStore({ url, clock, random: Math.random });
    return {
      store,
      dump: async () => sortedDump(await dumpOfPostgres(url)),
      async end() {
        await store.close();
        await emptyDatabase(url);
        emptied.push(url);
      },
    };
  },
};

/** SQL databases: SQLite as this Node can have it or, for `STEMMA_STORE=postgres`, PostgreSQL. */
export const sqlAdapters: readonly Adapter[] =
  process.env['STEMMA_STORE'] !== 'postgres'
    ? [sqlite('libsql'), ...(hasNodeSqlite() ? [sqlite('node')] : [])]
    : process.env['STEMMA_TEST_POSTGRES'] === undefined
      ? []
      : [postgres];

/** Every adapter. */
export const adapters: readonly Adapter[] = [memory, ...sqlAdapters];

/** Sorts each list by the keys of its rows. */
export function sortedDump(dump: Dump): Dump {
  const by = <Row>(rows: readonly Row[], keyOf: (row: Row) => string): Row[] =>
    [...rows].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  return {
    executions: by(dump.executions, (row) => row.id),
    notices: by(dump.notices, (row) => row.id),
    sessions: by(dump.sessions, (row) => row.id),
    turns: by(dump.turns, (row) => row.id),
    inputs: by(dump.inputs, (row) => row.executionId),
    steers: by(dump.steers, (row) => row.id),
    runs: by(dump.runs, (row) => row.id),
    schedules: by(dump.schedules, (row) => row.id),
    occurrences: by(dump.occurrences, (row) => row.id),
    notifications: by(dump.notifications, (row) => row.id),
    dispatches: by(dump.dispatches, (row) => row.id),
    admissions: by(dump.admissions, (row) => row.sessionId),
    workspaces: by(dump.workspaces, (row) => row.runId),
    graphs: by(dump.graphs, (row) => row.id),
    graphSteps: by(dump.graphSteps, (row) => row.ref),
    runRows: by(dump.runRows, (row) => `${row.runId} ${String(row.index).padStart(9, '0')}`),
    holds: by(dump.holds, (row) => `${row.executionId} ${row.holderId}`),
    owners: by(dump.owners, (row) => `${row.turnId} ${row.executionId}`),
    wakeups: by(dump.wakeups, (row) => `${row.kind} ${row.target}`),
    events: dump.events,
  };
}

/** Without what depends on how decisions were grouped into commits: revisions count commits. */
export function withoutRevisions(dump: Dump): Dump {
  return { ...dump, wakeups: dump.wakeups.map((row) => ({ ...row, revision: 0 })) };
}
