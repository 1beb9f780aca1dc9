import type { ChildProcess } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { waitUntil, within } from '../base/pause.ts';
import { minimalEnvironment } from './command.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { launchRecorded, readRecord, revokeLaunches } from './recorded-launch.ts';

/** `refused`: the program provably never gets the line. `uncertain`: nobody can say. */
export type WriteOutcome = 'written' | 'refused' | 'uncertain';

/** The FIFO to write into, and the program that reads it. */
export interface FifoWriterOptions {
  /** Holds `in.fifo`; the messages of detached writers are kept here too. */
  readonly directory: string;
  readonly reader: ProcessIdentity;
  readonly clock: Clock;
  /** How long a program may leave its input unread before a write gives up. Milliseconds. */
  readonly patienceMs: number;
}

// Up to this size the kernel writes a line whole or not at all, and never mixes it with another writer's.
const atomicBytes = process.platform === 'linux' ? 4096 : 512;
const writePrefix = 'write-';
const longestQueue = 64;

// Opening for both, then for writing, then closing the first: no step waits for a reader, and when the program is dead
// the write fails at once instead of filling a FIFO that only its writer holds.
const openFifo = '[ -p ../in.fifo ] || exit 126; exec 4<>../in.fifo 5>../in.fifo 4<&-';
const deliver = 'cat message >&5 && mv message sent';

/**
 * Writes lines into a program's FIFO, one at a time and each of them whole, also when we are killed half-way: a short
 * line is one atomic write, a long one is written by a process of its own that outlives us. An adopter waits for such a
 * writer before its own first line.
 */
export class FifoWriter {
  readonly #options: FifoWriterOptions;
  readonly #closed = new AbortController();
  #last: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #hasAdopted = false;
  /** A detached writer of ours that is still at work though its line's caller was answered. */
  #busy: Promise<WriteOutcome> | undefined;
  /** A writer died within a line: a newline must end that fragment, else it swallows the next line. */
  #isTorn = false;

  constructor(options: FifoWriterOptions) {
    this.#options = options;
  }

  /** Lines wait for each other in the order of the calls. Throws when `line` contains a newline: that is a bug. */
  write(line: string): Promise<WriteOutcome> {
    if (line.includes('\n')) throw new Error('a line for a program must not contain a newline');
    if (this.#queued >= longestQueue) return Promise.resolve('refused');
    this.#queued++;
    const turn = this.#last.then(() => this.#write(line)).finally(() => this.#queued--);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Gives up what waits; a detached writer goes on by itself. */
  close(): void {
    this.#closed.abort();
  }

  async #write(line: string): Promise<WriteOutcome> {
    if (!(await this.#isFree())) return 'refused';
    const bytes = Buffer.from(`${this.#isTorn ? '\n' : ''}${line}\n`);
    const outcome =
      bytes.length <= atomicBytes ? await this.#writeDirectly(bytes) : await this.#writeDetached(bytes);
    if (outcome === 'written') this.#isTorn = false;
    return outcome;
  }

  // Whether nobody else is within a line, so that ours may begin.
  async #isFree(): Promise<boolean> {
    const { clock, patienceMs, directory } = this.#options;
    if (!this.#hasAdopted) {
      // Where the record of a writer cannot be read, it may be at work.
      const left = await waitForWriters(directory, clock, patienceMs, this.#closed.signal).catch(
        () => 'busy',
      );
      if (left === 'busy') return false;
      this.#isTorn = left === 'torn';
      this.#hasAdopted = true;
    }
    if (this.#busy) await within(clock, patienceMs, this.#busy, undefined, this.#closed.signal);
    return !this.#busy && !this.#closed.signal.aborted;
  }

  async #writeDirectly(bytes: Buffer): Promise<WriteOutcome> {
    const fd = this.#open();
    if (fd === undefined) return 'refused';
    try {
      let isWritten = false;
      const attempt = (): boolean => {
        isWritten = writeWhole(fd, bytes);
        return isWritten || !isAlive(this.#options.reader);
      };
      await waitUntil(this.#options.clock, attempt, this.#options.patienceMs, this.#closed.signal);
      return isWritten ? 'written' : 'refused';
    } catch {
      // EPIPE: the last reader went away before the write, which therefore did not happen.
      return 'refused';
    } finally {
      closeSync(fd);
    }
  }

  // ENXIO: nobody holds the FIFO open for reading, so the program is dead. Never blocks.
  #open(): number | undefined {
    try {
      return openSync(join(this.#options.directory, 'in.fifo'), constants.O_WRONLY | constants.O_NONBLOCK);
    } catch {
      return undefined;
    }
  }

  async #writeDetached(bytes: Buffer): Promise<WriteOutcome> {
    const fd = this.#open();
    if (fd === undefined) return 'refused';
    closeSync(fd);
    const { clock, patienceMs } = this.#options;
    const launched = await launchWriter(this.#options.directory, bytes, clock);
    if (!launched) return 'refused';
    const busy = this.#outcomeOf(launched).finally(() => {
      this.#busy = undefined;
    });
    this.#busy = busy;
    return within(clock, patienceMs, busy, 'uncertain', this.#closed.signal);
  }

  async #outcomeOf({ directory, identity, child }: DetachedWriter): Promise<WriteOutcome> {
    const over = new AbortController();
    child.once('exit', () => over.abort());
    const signal = AbortSignal.any([over.signal, this.#closed.signal]);
    await waitUntil(this.#options.clock, () => !isAlive(identity), Number.POSITIVE_INFINITY, signal, 500);
    // After `close` the writer belongs to whoever adopts.
    if (isAlive(identity)) return 'uncertain';
    const left = await collectWriter(directory);
    if (left === 'sent') return 'written';
    // The newline is the last byte: a program that died before it was written never had the line.
    if (!isAlive(this.#options.reader)) return 'refused';
    this.#isTorn = true;
    return 'uncertain';
  }
}

function writeWhole(fd: number, bytes: Buffer): boolean {
  try {
    return writeSync(fd, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return false;
    throw error;
  }
}

interface DetachedWriter {
  readonly directory: string;
  readonly identity: ProcessIdentity;
  readonly child: ChildProcess;
}

/** Starts the process that writes these bytes; undefined when it cannot be had, and then nothing is ever written. */
async function launchWriter(
  parent: string,
  bytes: Buffer,
  clock: Clock,
): Promise<DetachedWriter | undefined> {
  let directory: string | undefined;
  try {
    directory = await mkdtemp(join(parent, writePrefix));
    await writeFile(join(directory, 'message'), bytes, { mode: 0o600 });
    const launch = {
      directory,
      setUp: openFifo,
      body: deliver,
      parameters: [],
      env: minimalEnvironment(),
      clock,
    };
    const launched = await launchRecorded(launch);
    if (launched.ok) return { directory, identity: launched.identity, child: launched.child };
  } catch {
    // A full disk, most likely; the caller is told that nothing was written.
  }
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  return undefined;
}

/** Waits for the detached writers that an earlier owner left, and says whether one of them died within its line. */
async function waitForWriters(
  directory: string,
  clock: Clock,
  withinMs: number,
  signal: AbortSignal,
): Promise<'free' | 'torn' | 'busy'> {
  let isTorn = false;
  for (const name of await readdir(directory).catch((): string[] => [])) {
    if (!name.startsWith(writePrefix)) continue;
    const path = join(directory, name);
    await revokeLaunches(path);
    const writer = await readRecord(path);
    if (writer && !(await waitUntil(clock, () => !isAlive(writer), withinMs, signal))) return 'busy';
    if ((await collectWriter(path)) === 'torn' && writer) isTorn = true;
  }
  return isTorn ? 'torn' : 'free';
}

async function collectWriter(directory: string): Promise<'sent' | 'torn'> {
  const isSent = await stat(join(directory, 'sent')).then(
    () => true,
    () => false,
  );
  await rm(directory, { recursive: true, force: true });
  return isSent ? 'sent' : 'torn';
}
