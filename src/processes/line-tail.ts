import { closeSync, constants, type FSWatcher, fstatSync, openSync, readSync, watch } from 'node:fs';
import type { CancelTimer, Clock } from '../base/clock.ts';

/** What to read, from where, and who hears of it. The callbacks must not throw. */
export interface TailOptions {
  readonly path: string;
  /** Offset in bytes of the first line wanted; the start of a line. */
  readonly from: number;
  readonly clock: Clock;
  /** A line without its newline, and the offset behind it: reading again from there gives the next line. */
  readonly onLine: (line: string, endOffset: number) => void;
  /** Something in the file is not a line that can be delivered; a sentence, and how many bytes were skipped. */
  readonly onNoise: (what: string, bytes: number) => void;
  /** Longer lines are skipped and reported, each time that so much was skipped. Bytes, default 32 MiB. */
  readonly maxLineBytes?: number;
  /** Everything that is there was delivered; called after each reading, also after one that found nothing. */
  readonly onCaughtUp?: () => void;
}

const chunkBytes = 64 * 1024;
// So much is read without giving other work a turn.
const burstBytes = 1024 * 1024;
const safetyCheckMs = 1000;
// So much unread is told: whoever writes it is faster than any reader.
const muchBytes = 1024 * 1024 * 1024;
// Where the machine has no watch left to give.
const pollMs = 50;

/**
 * Follows a file that somebody else appends to and delivers its lines, each once, in order, exact to the byte. A change
 * is heard at once by `fs.watch`; a look every second catches what a watch may miss. Reads are synchronous because they
 * come from the page cache; long ones are cut into bursts. `close` releases everything; afterwards nothing is delivered.
 */
export class LineTail {
  readonly #options: TailOptions;
  readonly #maxLineBytes: number;
  readonly #chunk = Buffer.allocUnsafe(chunkBytes);
  readonly #fd: number;
  #watcher: FSWatcher | undefined;
  #cancelCheck: CancelTimer | undefined;
  /** The start of the line that is not complete yet, and how far was read. */
  #lineStart: number;
  #readTo: number;
  #parts: Buffer[] = [];
  #isSkipping = false;
  /** How far the bytes of the line that is being skipped were reported. */
  #reportedTo = 0;
  #isPassing = false;
  #isReading = false;
  #hasToldBacklog = false;
  #isClosed = false;
  #drains: { target: number; resolve: () => void }[] = [];

  /** A missing file is created empty; throws when that cannot be. Nothing is delivered before `start`. */
  constructor(options: TailOptions) {
    this.#options = options;
    this.#maxLineBytes = options.maxLineBytes ?? 32 * 1024 * 1024;
    this.#lineStart = options.from;
    this.#readTo = options.from;
    this.#fd = openSync(options.path, constants.O_RDONLY | constants.O_CREAT, 0o600);
  }

  /** Begins to deliver: what is there already before this returns, up to the first burst. */
  start(): void {
    try {
      this.#watcher = watch(this.#options.path, { persistent: false }, () => this.#read());
      this.#watcher.on('error', () => this.#stopWatching());
    } catch {
      this.#stopWatching();
    }
    this.#check();
  }

  /** Resolves when everything that was in the file at the time of the call has been delivered, or after `close`. */
  drain(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#drains.push({ target: fstatSync(this.#fd).size, resolve });
      this.#read();
    });
  }

  /** Delivers nothing more: what is there, and what still comes, is passed over unread. */
  passOver(): void {
    this.#isPassing = true;
  }

  /** Says how many bytes of a line without an end are left, and forgets them: the writer is dead. */
  dropTail(): number {
    const bytes = this.#readTo - this.#lineStart;
    this.#forgetLine(this.#readTo);
    return bytes;
  }

  /** Releases descriptor, watch and timer, and settles every drain. Harmless when it is closed already. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelCheck?.();
    this.#watcher?.close();
    this.#parts = [];
    this.#settleDrains();
    if (!this.#isReading) closeSync(this.#fd);
  }

  #stopWatching(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    if (!this.#isClosed) this.#options.onNoise('the output cannot be watched; it is polled instead', 0);
  }

  #check(): void {
    this.#read();
    if (this.#isClosed) return;
    this.#cancelCheck = this.#options.clock.after(this.#watcher ? safetyCheckMs : pollMs, () =>
      this.#check(),
    );
  }

  #read(): void {
    // A call from within a callback, or while a burst is pending, is answered by the read that is under way.
    if (this.#isReading || this.#isClosed) return;
    this.#isReading = true;
    this.#burst();
  }

  #burst(): void {
    this.#noticeTruncation();
    this.#noticeBacklog();
    const limit = this.#readTo + burstBytes;
    while (!this.#isClosed) {
      if (this.#isPassing) {
        this.#forgetLine(fstatSync(this.#fd).size);
        return this.#finish();
      }
      const count = readSync(this.#fd, this.#chunk, 0, chunkBytes, this.#readTo);
      if (count === 0) return this.#finish();
      this.#take(this.#chunk.subarray(0, count));
      if (this.#drains.length) this.#settleDrains(this.#readTo);
      if (this.#readTo >= limit) {
        setImmediate(() => this.#burst());
        return;
      }
    }
    this.#finish();
  }

  // At the end of the file everything that any drain asked for has been delivered, also when the file was truncated.
  #finish(): void {
    this.#isReading = false;
    if (this.#isClosed) return closeSync(this.#fd);
    if (!this.#isPassing) this.#options.onCaughtUp?.();
    this.#settleDrains();
  }

  #settleDrains(upTo = Number.POSITIVE_INFINITY): void {
    const isDone = ({ target }: { target: number }): boolean => target <= upTo;
    const done = this.#drains.filter(isDone);
    this.#drains = this.#drains.filter((drain) => !isDone(drain));
    for (const { resolve } of done) resolve();
  }

  #noticeTruncation(): void {
    if (this.#isClosed || fstatSync(this.#fd).size >= this.#readTo) return;
    this.#options.onNoise(`the output was truncated below offset ${this.#readTo}; reading from its start`, 0);
    this.#isSkipping = false;
    this.#forgetLine(0);
  }

  #noticeBacklog(): void {
    if (this.#isClosed || this.#isPassing) return;
    const unread = fstatSync(this.#fd).size - this.#readTo;
    if (unread > muchBytes && !this.#hasToldBacklog)
      this.#options.onNoise(
        `it writes faster than anybody can read: ${unread} bytes of its output are unread`,
        unread,
      );
    this.#hasToldBacklog = unread > muchBytes;
  }

  #take(bytes: Buffer): void {
    const base = this.#readTo;
    let position = 0;
    for (let end = bytes.indexOf(10); end >= 0 && !this.#isOver; end = bytes.indexOf(10, position)) {
      this.#finishLine(bytes.subarray(position, end), base + end + 1);
      position = end + 1;
    }
    if (this.#isOver) return;
    this.#readTo = base + bytes.length;
    if (position < bytes.length) this.#keep(bytes.subarray(position));
  }

  #finishLine(rest: Buffer, endOffset: number): void {
    const isTooLong = endOffset - 1 - this.#lineStart > this.#maxLineBytes;
    if (isTooLong && !this.#isSkipping) this.#reportOversize();
    const wasSkipping = this.#isSkipping || isTooLong;
    const line = wasSkipping
      ? ''
      : this.#parts.length
        ? Buffer.concat([...this.#parts, rest]).toString()
        : rest.toString();
    this.#isSkipping = false;
    this.#forgetLine(endOffset);
    if (!wasSkipping) this.#options.onLine(line, endOffset);
  }

  #keep(bytes: Buffer): void {
    if (this.#isSkipping) {
      if (this.#readTo - this.#reportedTo > this.#maxLineBytes) this.#reportOversize();
      return;
    }
    if (this.#readTo - this.#lineStart > this.#maxLineBytes) {
      this.#isSkipping = true;
      this.#parts = [];
      this.#reportedTo = this.#lineStart;
      this.#reportOversize();
      return;
    }
    // The chunk is read into again.
    this.#parts.push(Buffer.from(bytes));
  }

  // Again and again while it goes on, so that whoever listens can tell a long line from one without an end.
  #reportOversize(): void {
    this.#reportedTo = this.#readTo;
    this.#options.onNoise(
      `a line at offset ${this.#lineStart} is longer than ${this.#maxLineBytes} bytes; skipped`,
      this.#maxLineBytes,
    );
  }

  get #isOver(): boolean {
    return this.#isClosed || this.#isPassing;
  }

  #forgetLine(offset: number): void {
    this.#parts = [];
    this.#lineStart = offset;
    this.#readTo = offset;
  }
}
