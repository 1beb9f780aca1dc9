import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/base/clock.ts';
import type { ExecutionId } from '../src/base/ids.ts';
import { Ids } from '../src/base/ids.ts';
import { launch } from '../src/ledger/launch.ts';
import { settle } from '../src/ledger/settle.ts';
import type { SqliteStore } from '../src/store/sqlite/store.ts';
import { openSqliteStore } from '../src/store/sqlite/store.ts';

/** A ledger on disk and the two operations that everything here is made of. */
export interface Load {
  readonly store: SqliteStore;
  readonly ids: Ids;
  readonly directory: string;
  readonly file: string;
  /** Registers a child, or a root, and answers its id when it is durable. */
  register(parent: ExecutionId | null): Promise<ExecutionId>;
  settle(id: ExecutionId): Promise<void>;
  /** Closes the store; removes its directory unless it was given. */
  end(): Promise<void>;
}

/** Where databases are made: `BENCH_DIR`, else the system's directory for temporary files. Must be a real disk. */
export function makeDirectory(): string {
  const parent = process.env['BENCH_DIR'] ?? tmpdir();
  mkdirSync(parent, { recursive: true });
  return mkdtempSync(join(parent, 'stemma-bench-'));
}

/** Opens a load on a directory of its own, or on a given one, which it then leaves alone. */
export async function openLoad(given?: string): Promise<Load> {
  const directory = given ?? makeDirectory();
  const file = join(directory, 'stemma.db');
  const store = await openSqliteStore({ file, clock: systemClock, random: Math.random });
  const ids = new Ids(Date.now, Math.random);
  const result = 'r'.repeat(100);
  return {
    store,
    ids,
    directory,
    file,
    async register(parent) {
      const id = ids.make('execution');
      const caller =
        parent === null ? { by: 'person' as const } : { by: 'execution' as const, executionId: parent };
      const now = Date.now();
      const decided = await store.decide(() =>
        launch({ now, id, caller, kind: 'outside', name: `child ${id}` }),
      );
      if (!decided.ok) throw new Error(decided.message);
      return id;
    },
    async settle(id) {
      const noticeId = ids.make('notice');
      const now = Date.now();
      const decided = await store.decide(() =>
        settle({ now, id, noticeId, ending: { state: 'succeeded', result } }),
      );
      if (!decided.ok) throw new Error(decided.message);
    },
    async end() {
      await store.close();
      if (given === undefined) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** How many children a root of the load has. */
export const childrenOfRoot = 10;

/** One root: itself and its children registered, each child settled, then itself. Calls `done` after each operation. */
export async function oneRoot(load: Load, done: () => void): Promise<void> {
  const root = await load.register(null);
  done();
  for (let i = 0; i < childrenOfRoot; i++) {
    const child = await load.register(root);
    done();
    await load.settle(child);
    done();
  }
  await load.settle(root);
  done();
}

/** Roots in `loops` concurrent loops for `ms`; answers operations a second. */
export async function inLoops(load: Load, loops: number, ms: number): Promise<number> {
  let count = 0;
  const begun = performance.now();
  const loop = async (): Promise<void> => {
    while (performance.now() - begun < ms) await oneRoot(load, () => count++);
  };
  await Promise.all(Array.from({ length: loops }, loop));
  return (count / (performance.now() - begun)) * 1000;
}
