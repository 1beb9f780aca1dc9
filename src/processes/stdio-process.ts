import type { ChildProcess } from 'node:child_process';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../base/clock.ts';
import { emptyIfLarger } from './empty-if-larger.ts';
import { FifoWriter, type WriteOutcome } from './fifo-writer.ts';
import { endGroup } from './group.ts';
import { LineTail } from './line-tail.ts';
import { OutputRelease } from './output-release.ts';
import { pause } from '../base/pause.ts';
import { hasLeftBehind } from './left-behind.ts';
import { isAlive, type ProcessIdentity } from './process-identity.ts';

/** Which program, and where its files are. `child` when this process is its parent. */
export interface StdioProcessOptions {
  readonly identity: ProcessIdentity;
  readonly directory: string;
  readonly clock: Clock;
  readonly child?: ChildProcess;
  /** How long the program may leave its input unread before a write gives up. Milliseconds, default one minute. */
  readonly patienceMs?: number;
}

/** What the owner of a program hears. The callbacks must not throw; none is called after `close`. */
export interface StdioListener {
  /** Offset in bytes in the program's output, as given by an earlier `endOffset`; 0 for all of it. */
  readonly from: number;
  /** A line without its newline; invalid UTF-8 is replaced. Listening again from `endOffset` gives the next one. */
  readonly onLine: (line: string, endOffset: number) => void;
  /** Exactly once, when the program is verified dead and everything it wrote has been delivered. */
  readonly onExit: (reason: string) => void;
  /**
   * Something in the output is no line that can be delivered (too long, torn, truncated), or more is unread than anybody can
   * read (1 GiB): a sentence, and its size.
   */
  readonly onNoise?: (what: string, bytes: number) => void;
  /** Everything that the program has written so far was delivered. Called again and again. */
  readonly onCaughtUp?: () => void;
  /** Longer lines are skipped and reported as noise, each time that so much was skipped. Bytes, default 32 MiB. */
  readonly maxLineBytes?: number;
  /** So much of what was released stays on the disk, as the raw transcript. Bytes, default 8 MiB. */
  readonly keptBytes?: number;
}

// Our own child's death is an event; an adopted program's is only in the table.
const mostStderrBytes = 64 * 1024 * 1024;
const mostTranscriptBytes = 8 * 1024 * 1024;
const childLivenessMs = 5000;
const adoptedLivenessMs = 500;

/**
 * A program on a FIFO and an output file; see `durable-stdio.ts`. It lives on after `close` and after our death.
 * One owner at a time, one `listen` for each object.
 */
export class StdioProcess {
  readonly identity: ProcessIdentity;
  readonly directory: string;
  readonly #clock: Clock;
  readonly #child: ChildProcess | undefined;
  readonly #writer: FifoWriter;
  #tail: LineTail | undefined;
  #release: OutputRelease | undefined;
  #listener: StdioListener | undefined;
  #cancelCheck: CancelTimer | undefined;
  #exit: Promise<void> | undefined;
  #isClosed = false;
  #isPassedOver = false;

  constructor({ identity, directory, clock, child, patienceMs = 60_000 }: StdioProcessOptions) {
    this.identity = identity;
    this.directory = directory;
    this.#clock = clock;
    this.#child = child;
    this.#writer = new FifoWriter({ directory, reader: identity, clock, patienceMs });
  }

  /** Whether the program lives, by the process table. */
  isAlive(): boolean {
    return isAlive(this.identity);
  }

  /** Whether something that the program started and left goes on; it would end with the program. */
  async hasLeftWork(): Promise<boolean> {
    return hasLeftBehind(this.identity);
  }

  /**
   * Hands one line to the program, without its newline. `written`: it is in the program's input. `refused`: it never will
   * be. Throws when the line contains a newline.
   */
  writeLine(line: string): Promise<WriteOutcome> {
    return this.#writer.write(line);
  }

  /** Delivers the program's output from an offset on, what is there already included. Throws on a second call. */
  listen(listener: StdioListener): void {
    if (this.#listener || this.#isClosed)
      throw new Error('a program is listened to once, and not after close');
    this.#listener = listener;
    const { from, onLine, onCaughtUp, maxLineBytes } = listener;
    this.#tail = new LineTail({
      path: join(this.directory, 'out.log'),
      from,
      clock: this.#clock,
      onLine,
      onNoise: (what, bytes) => listener.onNoise?.(what, bytes),
      ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
      ...(onCaughtUp === undefined ? {} : { onCaughtUp }),
    });
    this.#release = this.#makeRelease(listener);
    this.#tail.start();
    this.#child?.once('exit', this.#onChildExit);
    this.#check();
  }

  /** Resolves when everything that the program had written at the time of the call was delivered. */
  drain(): Promise<void> {
    return this.#tail?.drain() ?? Promise.resolve();
  }

  /**
   * Everything before this offset was processed durably, so that nobody will ever listen from before it: that part of the
   * output is given back to the disk, but for its last bytes, which stay as the raw transcript (see `OutputRelease`).
   * Offsets keep their meaning. Never throws, and comes back at once; where the disk cannot do it, the output just grows.
   */
  release(before: number): void {
    this.#release?.release(before);
  }

  /** No line is delivered any more: the output is of no use. `onExit` still comes. */
  passOver(): void {
    this.#isPassedOver = true;
    this.#tail?.passOver();
  }

  /** The last bytes of the program's stderr, as text. */
  async stderrTail(maxBytes = 4096): Promise<string> {
    const file = await open(join(this.directory, 'err.log'), 'r').catch(() => undefined);
    if (!file) return '';
    try {
      const { size } = await file.stat();
      const length = Math.min(size, maxBytes);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length);
      return buffer.subarray(0, bytesRead).toString();
    } finally {
      await file.close();
    }
  }

  /** Stops listening and releases every descriptor, watch and timer. The program lives on and can be adopted. */
  close(): void {
    this.#isClosed = true;
    this.#cancelCheck?.();
    this.#child?.off('exit', this.#onChildExit);
    this.#tail?.close();
    this.#release?.close();
    this.#writer.close();
  }

  /**
   * Ends the program and everything it started. When it is dead, the rest of its output and `onExit` are delivered before
   * this resolves, and the object is closed. Harmless when it is dead already.
   */
  async end({ graceMs, killMs }: { graceMs: number; killMs?: number }): Promise<'dead' | 'unkillable'> {
    const options = { graceMs, clock: this.#clock, ...(killMs === undefined ? {} : { killMs }) };
    const outcome = await endGroup(this.identity, options);
    if (!this.isAlive() && this.#listener) await this.#finish();
    if (outcome === 'dead') {
      this.close();
      this.#clearUp();
    }
    return outcome;
  }

  #makeRelease({ onNoise, keptBytes = mostTranscriptBytes }: StdioListener): OutputRelease | undefined {
    const onRefused = (why: string): void => onNoise?.(why, 0);
    try {
      return new OutputRelease({ path: join(this.directory, 'out.log'), keptBytes, onRefused });
    } catch {
      // It can be read and not written: then it is somebody else's, and stays as it is.
      return undefined;
    }
  }

  // What a program that printed without end has left; nobody reads it any more.
  #clearUp(): void {
    emptyIfLarger(join(this.directory, 'err.log'), mostStderrBytes);
    if (this.#isPassedOver) emptyIfLarger(join(this.directory, 'out.log'), 0);
  }

  // The table is asked, not the event: what counts is that the process is gone.
  readonly #onChildExit = (): void => {
    this.#cancelCheck?.();
    this.#check();
  };

  #check(): void {
    if (this.#isClosed) return;
    if (!this.isAlive()) void this.#finish();
    else {
      emptyIfLarger(join(this.directory, 'err.log'), mostStderrBytes);
      const delayMs = this.#child ? childLivenessMs : adoptedLivenessMs;
      this.#cancelCheck = this.#clock.after(delayMs, () => this.#check());
    }
  }

  #finish(): Promise<void> {
    this.#exit ??= this.#deliverExit();
    return this.#exit;
  }

  async #deliverExit(): Promise<void> {
    this.#cancelCheck?.();
    await this.#hearExitCode();
    await this.drain();
    if (this.#isClosed) return;
    const torn = this.#tail?.dropTail() ?? 0;
    if (torn > 0) this.#listener?.onNoise?.(`the program died within a line; ${torn} bytes dropped`, torn);
    // What it has started may still write to its output, and nobody is asked for that any more.
    this.#tail?.passOver();
    this.#listener?.onExit(this.#reason());
  }

  // The table shows a child as dead some moments before its `exit` event tells how it died.
  async #hearExitCode(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const heard = new AbortController();
    child.once('exit', () => heard.abort());
    await pause(this.#clock, 1000, heard.signal);
  }

  #reason(): string {
    const { exitCode, signalCode } = this.#child ?? {};
    if (typeof signalCode === 'string') return `ended by ${signalCode}`;
    if (typeof exitCode === 'number') return `exited with code ${exitCode}`;
    return 'the process is gone';
  }
}
