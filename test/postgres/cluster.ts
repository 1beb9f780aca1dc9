import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';

/** A PostgreSQL server of the tests' own, in a temporary directory, on a loopback port. */
export interface Cluster {
  /** Of its database `postgres`. */
  readonly url: string;
  /** Ends the server as a power cut would: every connection dies, and nothing is told. */
  kill(): Promise<void>;
  /** Starts it again where it was. */
  start(): Promise<void>;
  /** Ends it and removes what it left. */
  remove(): Promise<void>;
}

/** Where the programs of a server are, or undefined where there are none. Debian keeps them off the path. */
export function postgresPrograms(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const found = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  const directories = [
    ...found.map((version) => join(versions, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return directories.find((path) => existsSync(join(path, 'initdb')) && existsSync(join(path, 'postgres')));
}

/** The server refuses to run as root: then it is another user's. */
function asUnprivileged(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const entry = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((line) => /^(postgres|nobody):/.test(line));
  const [, , uid, gid] = entry?.split(':') ?? [];
  return { uid: Number(uid ?? 65_534), gid: Number(gid ?? 65_534) };
}

/** Makes one and starts it. Throws with what its programs say. */
export async function startCluster(settings: readonly string[] = ['fsync=off']): Promise<Cluster> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error('there is no PostgreSQL here');
  const directory = mkdtempSync(join(tmpdir(), 'stemma-pg-'));
  const owner = asUnprivileged();
  chmodSync(directory, 0o777);
  const data = join(directory, 'data');
  const options = ['-D', data, '-U', 'stemma', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '-N'];
  const made = spawnSync(join(programs, 'initdb'), options, { ...owner, cwd: '/', encoding: 'utf8' });
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}${made.error?.message ?? ''}`);
  const port = await freePort();
  const url = `postgres://stemma@127.0.0.1:${port}/postgres`;
  const flags = [`port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings];
  let server: ChildProcess | undefined;
  const ended = (signal: NodeJS.Signals): Promise<void> =>
    new Promise((resolve) => {
      const running = server;
      server = undefined;
      if (!running || running.exitCode !== null || running.signalCode !== null) return resolve();
      running.once('exit', () => resolve());
      running.kill(signal);
    });
  const start = async (): Promise<void> => {
    server = spawn(join(programs, 'postgres'), ['-D', data, ...flags.flatMap((flag) => ['-c', flag])], {
      ...owner,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    await untilItAnswers(url);
  };
  await start();
  return {
    url,
    start,
    // Immediate shutdown: it aborts without a checkpoint, and the next start recovers.
    kill: () => ended('SIGQUIT'),
    async remove() {
      await ended('SIGQUIT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Makes an empty database and answers its URL. */
export async function makeDatabase(clusterUrl: string, name: string): Promise<string> {
  await administer(clusterUrl, `CREATE DATABASE ${name} STRATEGY file_copy`);
  const url = new URL(clusterUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes every row, as if no store had ever been opened on it. Nothing may be connected. */
export async function emptyDatabase(url: string): Promise<void> {
  await administer(
    url,
    `DO $$
    DECLARE
      it text;
    BEGIN
      SET LOCAL session_replication_role = replica;
      FOR it IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'migrations' LOOP
        EXECUTE 'DELETE FROM ' || it;
      END LOOP;
      PERFORM setval('event_places', 1, false);
    END $$`,
  );
}

/** Ends every connection to a database, as an administrator does. */
export async function endConnections(url: string): Promise<void> {
  await administer(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

async function administer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function untilItAnswers(url: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
