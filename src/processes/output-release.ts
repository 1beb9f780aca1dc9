import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { minimalEnvironment } from './command.ts';

/** Whose output, and who hears when it cannot be released. */
export interface ReleaseOptions {
  readonly path: string;
  /** So much before the released offset stays on the disk, as the raw transcript. Bytes. */
  readonly keptBytes: number;
  /** Told once: this disk, or this machine, cannot give back a part of a file. A sentence. */
  readonly onRefused: (why: string) => void;
}

// A look at the disk for less is not worth a process.
const stepBytes = 1024 * 1024;

/**
 * Gives the beginning of a file back to the disk while its writer goes on appending to it. The file keeps its length and
 * every offset its meaning: what was released reads as zeros. So nothing is moved, copied or renamed, there is no moment
 * at which a death of ours, of the writer or of the reader could lose or repeat a byte behind the released offset, and
 * no byte that is written meanwhile can be hit, as it could by a truncation. Where that cannot be had (it takes Linux,
 * `fallocate` of util-linux and a file system with holes), the file just grows.
 */
export class OutputRelease {
  readonly #options: ReleaseOptions;
  /** The file itself: its name may belong to a successor by the time that a release runs. */
  readonly #fd: number;
  #releasedTo = 0;
  #wantedTo = 0;
  #running: Promise<void> | undefined;
  #isRefused = false;
  #isClosed = false;

  /** Throws when the file cannot be opened for writing. */
  constructor(options: ReleaseOptions) {
    this.#options = options;
    this.#fd = openSync(options.path, 'r+');
  }

  /** Nobody will ever read what lies before this offset, but for the transcript. Never throws, and comes back at once. */
  release(before: number): void {
    const to = Math.floor((before - this.#options.keptBytes) / stepBytes) * stepBytes;
    this.#wantedTo = Math.max(this.#wantedTo, to);
    if (this.#running || this.#isClosed || this.#isRefused || this.#wantedTo <= this.#releasedTo) return;
    this.#running = this.#punch(this.#wantedTo).finally(() => {
      this.#running = undefined;
      if (this.#isClosed) closeSync(this.#fd);
      else this.release(0);
    });
  }

  /** Resolves when no release runs. */
  settled(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  /** Lets go of the file. A release that runs ends by itself. Harmless when it is closed already. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (!this.#running) closeSync(this.#fd);
  }

  async #punch(to: number): Promise<void> {
    const failure = await punchHole(this.#fd, to);
    if (failure === undefined) this.#releasedTo = to;
    else {
      this.#isRefused = true;
      if (!this.#isClosed) this.#options.onRefused(`the output cannot be given back to the disk: ${failure}`);
    }
  }
}

/** Releases the first bytes of an open file. Undefined when it did, else why not. */
function punchHole(fd: number, length: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const args = ['--punch-hole', '--offset', '0', '--length', String(length), '/dev/fd/3'];
    const child = spawn('fallocate', args, {
      env: minimalEnvironment(),
      stdio: ['ignore', 'ignore', 'pipe', fd],
    });
    let said = '';
    child.stderr?.on('data', (data: Buffer) => {
      said = (said + data.toString()).slice(0, 300);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) =>
      resolve(code === 0 ? undefined : said.trim() || `fallocate ended with ${code}`),
    );
  });
}
