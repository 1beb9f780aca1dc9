import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { onFaultPoint } from '../../src/base/faults.ts';
import type { Rule } from '../../src/ledger/decision.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { ask } from '../../src/ledger/questions.ts';
import { deciding, execution, id, registering, settling, start } from '../../src/store/conformance/rows.ts';
import { dumpOfPostgres } from '../../src/store/conformance/dump.ts';
import type { PostgresStore } from '../../src/store/postgres/store.ts';
import { openPostgresStore, placeOf } from '../../src/store/postgres/store.ts';
import { recount } from '../../src/ledger/recount.ts';
import type { Cluster } from './cluster.ts';
import { endConnections, makeDatabase, postgresPrograms, startCluster } from './cluster.ts';

/** Registers an execution, and tells it. */
function telling(n: number, parent?: Execution): () => Rule<unknown> {
  const row = execution(n, parent);
  const event = { type: row.id, at: start, rootId: row.rootId, sessionId: null, data: {} };
  return deciding([...registering(row), { do: 'event', event }]);
}

const open = (url: string): Promise<PostgresStore> =>
  openPostgresStore({ url, clock: systemClock, random: Math.random });

describe.skipIf(postgresPrograms() === undefined)('trouble with PostgreSQL', () => {
  let cluster: Cluster;
  let made = 0;
  const database = (): Promise<string> => makeDatabase(cluster.url, `trouble_${++made}`);
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.remove());

  it('says so when the database is away, and goes on when it is back', async () => {
    const url = await database();
    const store = await open(url);
    await store.decide(deciding(registering(execution(1))));
    await cluster.kill();
    const unavailable = { code: 'DATABASE_UNAVAILABLE', data: { database: placeOf(url) } };
    await expect(store.decide(deciding(registering(execution(2, execution(1)))))).rejects.toMatchObject(
      unavailable,
    );
    await expect(store.read(() => ask('execution', id.execution(1)))).rejects.toMatchObject(unavailable);
    await cluster.start();
    await store.decide(deciding(registering(execution(2, execution(1)))));
    expect((await store.read(() => ask('execution', id.execution(1))))?.open).toBe(1);
    await store.close();
  });

  it('connections that the server ends cost nothing but a second try', async () => {
    const url = await database();
    const store = await open(url);
    await store.decide(deciding(registering(execution(1))));
    const other = await open(url);
    await other.records.writeMeta('a', 'b');
    await endConnections(url);
    await store.decide(deciding(registering(execution(2, execution(1)))));
    expect((await store.read(() => ask('execution', id.execution(1))))?.open).toBe(1);
    await Promise.all([store.close(), other.close()]);
  });

  it('servers that decide about one tree at the same time lose nothing of each other', async () => {
    const url = await database();
    const stores = await Promise.all([open(url), open(url), open(url)]);
    const heard = stores.map((store) => {
      const sequences: number[] = [];
      store.onCommit(({ events }) => sequences.push(...events.map((event) => event.sequence)));
      return sequences;
    });
    const [first] = stores as [PostgresStore, PostgresStore, PostgresStore];
    await first.decide(deciding(registering(execution(1))));
    await Promise.all(
      stores.map(async (store, s) => {
        for (let i = 0; i < 12; i++) {
          const n = 2 + s * 12 + i;
          await store.decide(telling(n, execution(1)));
          await store.decide(deciding([settling(n)]));
        }
      }),
    );
    await first.decide(deciding([settling(1)]));
    const dump = await dumpOfPostgres(url);
    expect(dump.executions.map((row) => row.closed)).toEqual(dump.executions.map(() => true));
    const counts = recount(dump);
    expect(dump.executions.filter((row) => row.open !== counts.get(row.id))).toEqual([]);
    const told = dump.events.map((event) => event.sequence);
    expect(heard.flat().sort((a, b) => a - b)).toEqual(told);
    for (const sequences of heard) expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    await Promise.all(stores.map((store) => store.close()));
  });

  it('a reader that follows the events of several writers misses none', async () => {
    const url = await database();
    const stores = await Promise.all([open(url), open(url), open(url)]);
    const [reader] = stores as [PostgresStore, PostgresStore, PostgresStore];
    const seen: number[] = [];
    let isDone = false;
    const following = (async () => {
      for (let through = 0; ; ) {
        const isLast = isDone;
        const page = await reader.events.eventsSince(through, {}, 100);
        seen.push(...page.events.map((event) => event.sequence));
        through = page.through;
        if (isLast && page.isEnd) return;
      }
    })();
    const writing = stores.map(async (store, s) => {
      for (let i = 0; i < 40; i++) await store.decide(telling(1 + s * 40 + i));
    });
    await Promise.all(writing);
    isDone = true;
    await following;
    const all = (await dumpOfPostgres(url)).events.map((event) => event.sequence);
    expect(all.length).toBe(120);
    expect(seen).toEqual(all);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('a commit whose answer was lost is told when it took place', async () => {
    const url = await database();
    const store = await open(url);
    const told: string[] = [];
    store.onCommit(({ events }) => told.push(...events.map((event) => event.type)));
    await store.decide(telling(1));
    const before = told.length;
    // The server is killed while it is asked to commit: whether it did is found out only by asking it later.
    let ended: Promise<void> | undefined;
    onFaultPoint((point) => {
      if (point === 'commit.before') ended ??= cluster.kill();
    });
    const outcome = store.decide(telling(2, execution(1))).catch(() => undefined);
    await vi.waitFor(() => expect(ended).toBeDefined(), { timeout: 10_000 });
    await ended;
    await cluster.start();
    await outcome;
    onFaultPoint(undefined);
    await store.decide(telling(3, execution(1)));
    const stored = (await dumpOfPostgres(url)).events.map((event) => event.type);
    expect(told.length).toBeGreaterThan(before);
    expect(told).toEqual(stored);
    await store.close();
  });
});
