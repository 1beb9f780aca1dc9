import { randomBytes } from 'node:crypto';
import {
  access,
  chmod,
  constants,
  link,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { dataDirectoryError, makeDataDirectory } from '../base/data-directory.ts';
import { StemmaError } from '../base/errors.ts';
import type { ProcessIdentity } from '../processes/process-identity.ts';
import { identityOf, isAlive } from '../processes/process-identity.ts';

/** A data directory that this process owns until it calls `release`. */
export interface DataDirectory {
  readonly path: string;
  readonly databaseFile: string;
  readonly tokenFile: string;
  readonly serverFile: string;
  readonly logFile: string;
  /** Signs the tokens of sessions and executions; at least 32 bytes. */
  readonly secret: Buffer;
  release(): Promise<void>;
}

/**
 * Makes the directory if need be and takes ownership of it. Rejects with `DATA_DIR_IN_USE` when a living process owns it
 * (data: its pid), with `DATA_DIR_UNUSABLE` or `DISK_FULL` when it cannot be written.
 */
export async function ownDataDirectory(path: string): Promise<DataDirectory> {
  try {
    await makeDataDirectory(path);
    await access(path, constants.W_OK | constants.X_OK);
    const lock = await takeLock(path);
    const release = (): Promise<void> => rm(lock, { force: true });
    try {
      return { path, ...(await prepareFiles(path)), secret: await secretIn(path), release };
    } catch (error) {
      await release();
      throw error;
    }
  } catch (error) {
    throw dataDirectoryError(path, error);
  }
}

type DataFiles = Pick<DataDirectory, 'databaseFile' | 'tokenFile' | 'serverFile' | 'logFile'>;

/**
 * What the server will write is tried before it starts, not when it is too late. The database and the log hold what agents
 * said: they are made here, because whoever writes them later would make them readable for everybody.
 */
async function prepareFiles(path: string): Promise<DataFiles> {
  for (const name of ['sessions', 'commands']) await makeDataDirectory(join(path, name));
  const files = {
    databaseFile: join(path, 'stemma.db'),
    logFile: join(path, 'stemma.log'),
    tokenFile: join(path, 'token'),
    serverFile: join(path, 'server.json'),
  };
  for (const file of [files.databaseFile, files.logFile]) {
    await (await open(file, 'a', 0o600)).close();
    await chmod(file, 0o600);
  }
  for (const file of [files.tokenFile, files.serverFile]) {
    const found = await stat(file).catch(() => undefined);
    if (found?.isDirectory()) throw new Error(`${file} is a directory`);
  }
  return files;
}

/** The first line of a small file, or undefined when there is none. */
export async function readLine(file: string): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).split('\n', 1)[0]?.trim() || undefined;
  } catch {
    return undefined;
  }
}

/** Writes a file that only its owner can read, whole or not at all. */
export async function writePrivate(file: string, content: string | Buffer): Promise<void> {
  const draft = `${file}.${process.pid}.new`;
  try {
    await writeFile(draft, content, { mode: 0o600 });
    await chmod(draft, 0o600);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/**
 * Locks are numbered. Whoever makes the next number, by a link that only one process can make, owns the directory; a lock
 * whose process is dead, or whose pid is another process by now, is superseded. No moment exists in which two own it.
 */
async function takeLock(path: string): Promise<string> {
  const own = identityOf(process.pid);
  if (!own) throw new Error('cannot tell when this process started');
  const draft = join(path, `lock.${process.pid}.new`);
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      const newest = Math.max(0, ...(await lockNumbers(path)));
      const owner = newest > 0 ? await ownerOf(join(path, `lock.${newest}`)) : undefined;
      if (owner && isAlive(owner)) throw inUse(path, owner.pid);
      const lock = join(path, `lock.${newest + 1}`);
      if (!(await linked(draft, lock))) continue;
      for (const number of await lockNumbers(path)) {
        if (number <= newest) await rm(join(path, `lock.${number}`), { force: true });
      }
      return lock;
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function lockNumbers(path: string): Promise<number[]> {
  const names = await readdir(path);
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice(5))] : []));
}

async function ownerOf(lock: string): Promise<ProcessIdentity | undefined> {
  try {
    return JSON.parse(await readFile(lock, 'utf8')) as ProcessIdentity;
  } catch {
    return undefined;
  }
}

async function linked(draft: string, lock: string): Promise<boolean> {
  try {
    await link(draft, lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function secretIn(path: string): Promise<Buffer> {
  const file = join(path, 'secret');
  try {
    const known = await readFile(file);
    if (known.length >= 32) return known;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const made = randomBytes(32);
  await writePrivate(file, made);
  return made;
}

function inUse(path: string, pid: number): StemmaError {
  const message = `${path} is in use by the server with pid ${pid}. Stop it with "stemma down --data ${path}", or take another directory.`;
  return new StemmaError('DATA_DIR_IN_USE', message, { path, pid });
}
