import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import { parseJson } from '../base/parse-json.ts';
import { within } from '../base/pause.ts';
import { readIfThere } from '../base/read-if-there.ts';
import { originVariable } from './group.ts';
import type { ProcessIdentity } from './process-identity.ts';

/*
 * A process that cannot be orphaned by our death. The launching shell itself publishes its pid and start time as
 * `process.json`, by a rename out of a ticket directory, and only then becomes the program. Whoever takes over first
 * renames the tickets away: after that either the record is there, or the shell's own rename fails and it gives up.
 * There is no moment in between, so no wait and no guess.
 */

/** What to launch, and where its record goes. */
export interface RecordedLaunch {
  /** Exists and is ours alone. The shell starts in it, and `process.json` appears in it. */
  readonly directory: string;
  /** Shell text that runs before the record is published: opening files. Nothing that anybody outside could notice. */
  readonly setUp: string;
  /** Shell text that runs after it: the program. */
  readonly body: string;
  /** `$1`, `$2`, … of both texts. */
  readonly parameters: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** `child` is the launched process as our child: for its `exit` event only. It does not keep us alive. */
export type Launched =
  | { readonly ok: true; readonly identity: ProcessIdentity; readonly child: ChildProcess }
  | { readonly ok: false; readonly message: string };

const recordName = 'process.json';
// Signals to 0 and 1 go to our own group and to init.
const recordSchema = z.object({ pid: z.int().min(2), startedAt: z.string() });
const ticketPrefix = 'launch-';
const publishWithinMs = 15_000;

// Descriptor 3 is closed when the record is out: that is how the launcher learns it without a poll and without a write
// that could hit a dead launcher. `mv` is rename(2). The umask of the program is left alone.
export const publishRecord = `
ticket=$1; shift
if { read -r boot </proc/sys/kernel/random/boot_id && read -r stat </proc/$$/stat; } 2>/dev/null
then started=$(set -- \${stat##*) }; printf '%s:%s' "$boot" "\${20}")
else started=$(set -- $(LC_ALL=C TZ=UTC0 ps -o lstart= -p $$); printf '%s' "$*")
fi
(umask 077; printf '{"pid":%s,"startedAt":"%s"}\\n' "$$" "$started" >"$ticket/${recordName}") &&
mv "$ticket/${recordName}" ${recordName} || exit 126
exec 3>&-
export ${originVariable}="$$:$started"
unset ticket boot stat started
`;

/**
 * Launches a shell as the leader of its own session and group, without descriptors of ours. Resolves when its record is
 * published or will never be. The directory must not hold a record yet. Never throws for what a launch can meet.
 */
export async function launchRecorded(launch: RecordedLaunch): Promise<Launched> {
  try {
    const ticket = await makeTicket(launch.directory);
    const script = `${launch.setUp}\n${publishRecord}\n${launch.body}`;
    const child = spawn('/bin/sh', ['-c', script, 'sh', ticket, ...launch.parameters], {
      cwd: launch.directory,
      env: launch.env,
      detached: true,
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    });
    const failure = await published(child, launch.clock);
    await revokeLaunches(launch.directory);
    const identity = await readRecord(launch.directory);
    if (identity) return { ok: true, identity, child };
    return { ok: false, message: failure ?? 'the launching shell ended before the program could start' };
  } catch (error) {
    await revokeLaunches(launch.directory);
    return { ok: false, message: error instanceof Error ? error.message : String(error) };
  }
}

/** The right of one launch to publish its record in `directory`: `$1` of `publishRecord`, until it is revoked. */
export function makeTicket(directory: string): Promise<string> {
  return mkdtemp(join(directory, ticketPrefix));
}

/** Resolves when the shell has let go of descriptor 3, or cannot any more; with a sentence when something went wrong. */
async function published(child: ChildProcess, clock: Clock): Promise<string | undefined> {
  child.unref();
  const failed = new Promise<string>((resolve) => child.on('error', (error) => resolve(error.message)));
  const signal = child.stdio[3] as Readable | null | undefined;
  if (!signal) return failed;
  signal.on('error', () => undefined);
  const closed = once(signal.resume(), 'close').then(() => undefined);
  const settled = Promise.race([closed, failed]);
  const outcome = await within(clock, publishWithinMs, settled, 'the launching shell did not get ready');
  signal.destroy();
  return outcome;
}

/** Makes sure that no launch which has not published its record in `directory` ever will. */
export async function revokeLaunches(directory: string): Promise<void> {
  for (const name of await namesIn(directory)) {
    if (name.startsWith(ticketPrefix)) {
      const revoked = join(directory, `revoked-${name}`);
      await rename(join(directory, name), revoked).catch(() => undefined);
    }
  }
  for (const name of await namesIn(directory)) {
    if (name.startsWith(`revoked-${ticketPrefix}`))
      await rm(join(directory, name), { recursive: true, force: true });
  }
}

/**
 * The process whose record is in `directory`, alive or not; undefined when no record is there, or none that makes sense.
 * Throws when a record is there and cannot be read: its process may live.
 */
export async function readRecord(directory: string): Promise<ProcessIdentity | undefined> {
  const text = readIfThere(join(directory, recordName));
  return text === undefined ? undefined : recordSchema.safeParse(parseJson(text)).data;
}

/** Forgets the record: of a process that is dead. */
export async function removeRecord(directory: string): Promise<void> {
  await rm(join(directory, recordName), { force: true });
}

/** Creates a directory that only we can read, with its parents. */
export async function makePrivateDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
}

async function namesIn(directory: string): Promise<string[]> {
  return readdir(directory).catch(() => []);
}
