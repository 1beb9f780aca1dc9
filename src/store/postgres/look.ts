import pg from 'pg';
import { migrations } from './migrate.ts';
import { placeOf } from './store.ts';

/** What was seen of a database, which was not changed. */
export interface DatabaseLook {
  /** Without the password. */
  readonly place: string;
  /** Of the server, as it says it. */
  readonly version: string;
  /** How many steps of the schema it has, of how many this version knows. */
  readonly steps: number;
  readonly known: number;
  /** A server works on it now. */
  readonly isInUse: boolean;
}

const lookMs = 5_000;

/** Looks at a database, and changes nothing. Rejects with what the driver says. */
export async function lookAtPostgres(url: string): Promise<DatabaseLook> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: lookMs,
    statement_timeout: lookMs,
    application_name: 'stemma doctor',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const seen = await client.query<{ version: string; has: boolean; used: boolean }>(
      `SELECT current_setting('server_version') AS version, to_regclass('migrations') IS NOT NULL AS has,
        EXISTS (SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE d.datname = current_database() AND l.locktype = 'advisory'
          AND l.classid = 7305805 AND l.objid = 3 AND l.granted) AS used`,
    );
    const { version = '', has = false, used = false } = seen.rows[0] ?? {};
    const steps = has ? await client.query<{ count: string }>('SELECT count(*) FROM migrations') : undefined;
    return {
      place: placeOf(url),
      version,
      steps: Number(steps?.rows[0]?.count ?? 0),
      known: migrations.length,
      isInUse: used,
    };
  } finally {
    await client.end().catch(() => undefined);
  }
}
