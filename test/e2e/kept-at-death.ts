import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { openDatabase } from '../../src/store/sqlite/driver.ts';

/** What must never change any more: the executions that had ended, and the files of their records, as text. */
export type Kept = ReadonlyMap<string, string>;

/** Looks at the data of a server that is dead. */
export async function keptIn(dataDir: string, ignored: ReadonlySet<string> = new Set()): Promise<Kept> {
  return new Map([...(await endedIn(dataDir, ignored)), ...recordsIn(dataDir, ignored)]);
}

/** What is other now than it was, in words. */
export function changes(before: Kept, after: Kept): string[] {
  return [...before].flatMap(([name, text]) => {
    const now = after.get(name);
    return now === text ? [] : [`${name} was ${text}, and ${now === undefined ? 'is gone' : `is ${now}`}`];
  });
}

/** The records that are there, by the execution they are of. */
export function recordsThere(dataDir: string): Set<string> {
  const directory = join(dataDir, 'records');
  return new Set(existsSync(directory) ? readdirSync(directory) : []);
}

async function endedIn(dataDir: string, ignored: ReadonlySet<string>): Promise<[string, string][]> {
  const database = await openDatabase(join(dataDir, 'stemma.db'));
  try {
    const rows = database
      .prepare(
        `SELECT id, root_id, parent_id, key, attempt, state, result, error, ended_at FROM executions
         WHERE state IN ('succeeded', 'failed', 'cancelled', 'lost')`,
      )
      .rows([]);
    return rows
      .filter(([, root]) => !ignored.has(String(root)))
      .map(([id, ...rest]): [string, string] => [String(id), rest.map(String).join(' ')]);
  } finally {
    database.close();
  }
}

/** Every whole file of every record; what is being written has another name. */
export function recordsIn(dataDir: string, ignored: ReadonlySet<string>): [string, string][] {
  const directory = join(dataDir, 'records');
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => !ignored.has(relative(directory, path).split('/')[0] ?? ''))
    .filter((path) => !basename(path).startsWith('.') && statSync(path).isFile())
    .map((path) => [
      relative(dataDir, path),
      createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12),
    ]);
}
