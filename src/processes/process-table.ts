import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';

/** One process as the machine lists it. `startedAt` is opaque; together with the pid it never names two processes. */
export interface ProcessRow {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly startedAt: string;
  /** Dead, but not yet collected by its parent: it runs nothing, and its pid is still taken. */
  readonly isZombie: boolean;
}

/**
 * The row of one process, or undefined when no process has this pid. Blocks for some 50 µs (for one `ps` without /proc).
 * Throws when the machine cannot be looked at, as when we have no descriptor left: that says nothing about the process.
 */
export function readProcess(pid: number): ProcessRow | undefined {
  const boot = bootId();
  return boot === undefined ? rowsOfPs(['-p', String(pid)])[0] : readStat(pid, boot);
}

/**
 * Every process of the machine that can be seen. Blocks for some 50 µs a process, so that the picture is of one moment.
 * Throws when the machine cannot be looked at: an empty list would call everything dead.
 */
export function readProcessTable(): ProcessRow[] {
  const boot = bootId();
  if (boot === undefined) return rowsOfPs(['-A']);
  const rows: ProcessRow[] = [];
  for (const name of readdirSync('/proc')) {
    const row = /^\d+$/.test(name) ? readStat(Number(name), boot) : undefined;
    if (row) rows.push(row);
  }
  return rows;
}

/** The value of a variable in the environment with which the process was started. Undefined where that cannot be read. */
export function readStartVariable(pid: number, name: string): string | undefined {
  if (bootId() === undefined) return undefined;
  const text = readOrNothing(`/proc/${pid}/environ`) ?? '';
  const start = `\0${text}`.indexOf(`\0${name}=`);
  return start < 0 ? undefined : text.slice(start + name.length + 1).split('\0', 1)[0];
}

let knownBootId: string | null | undefined;

// Start times of /proc count from the boot of the machine, so they are only unique together with it.
function bootId(): string | undefined {
  if (knownBootId === undefined) {
    const canReadStat = readOrNothing('/proc/self/stat') !== undefined;
    knownBootId = canReadStat ? (readOrNothing('/proc/sys/kernel/random/boot_id')?.trim() ?? null) : null;
  }
  return knownBootId ?? undefined;
}

function readStat(pid: number, boot: string): ProcessRow | undefined {
  const text = readOrNothing(`/proc/${pid}/stat`);
  if (text === undefined) return undefined;
  // The second field is the program's name in parentheses and may hold blanks and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state = 'X', parentPid, groupId] = fields;
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    startedAt: `${boot}:${fields[19]}`,
    isZombie: isDeadState(state),
  };
}

function isDeadState(state: string): boolean {
  return /^[ZXx]/.test(state);
}

const psFormat = ['-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'state=', '-o', 'lstart='];

function rowsOfPs(selection: readonly string[]): ProcessRow[] {
  let text: string;
  try {
    // The launching shell asks with the same two variables: the text must come out the same.
    const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC0' };
    text = execFileSync('ps', [...selection, ...psFormat], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch (error) {
    // What `ps` answers when no process fits. Anything else, such as a `ps` that could not be started, is no answer.
    if (error instanceof Error && 'status' in error && error.status === 1) return [];
    throw error;
  }
  const rows: ProcessRow[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.*\S)\s*$/.exec(line);
    if (!match) continue;
    const [, pid, parentPid, groupId, state = '', startedAt = ''] = match;
    rows.push({
      pid: Number(pid),
      parentPid: Number(parentPid),
      groupId: Number(groupId),
      startedAt: startedAt.replace(/\s+/g, ' '),
      isZombie: isDeadState(state),
    });
  }
  return rows;
}

// No such process, one that died while it was read, or somebody else's. EMFILE and its like are no answer.
const nothingThere: ReadonlySet<string> = new Set(['ENOENT', 'ESRCH', 'EACCES', 'EPERM']);

// Files of /proc do not tell their size, for which `readFileSync` takes a new buffer of 64 KiB each; a look at the machine
// reads hundreds of them.
let scratch = Buffer.allocUnsafe(64 * 1024);

function readOrNothing(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    let length = 0;
    for (;;) {
      const read = readSync(file, scratch, length, scratch.length - length, null);
      if (read === 0) return scratch.toString('latin1', 0, length);
      length += read;
      if (length === scratch.length) scratch = Buffer.concat([scratch], 2 * length);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && nothingThere.has(code)) return undefined;
    throw error;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
