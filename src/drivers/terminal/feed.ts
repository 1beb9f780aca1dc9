import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LineTail } from '../../processes/line-tail.ts';
import { type Hook, readHook } from './hooks.ts';
import { readLine, type Signal } from './transcript.ts';

/** What is heard of a conversation, and who hears it. None of the callbacks may throw. */
export interface FeedOptions {
  readonly clock: Clock;
  readonly hooksFile: string;
  /** The transcript, if it is known, and from where on it is news. */
  readonly transcript: { readonly path: string; readonly from: number } | undefined;
  readonly onHook: (hook: Hook, endOffset: number) => void;
  readonly onSignal: (signal: Signal, endOffset: number) => void;
  readonly onNoise: (what: string) => void;
}

const lookAgainMs = 200;

/** Follows the two files that an agent at its own screen writes: what its hooks tell, and its transcript. */
export class Feed {
  readonly #options: FeedOptions;
  readonly #hooks: LineTail;
  #transcript: { path: string; from: number } | undefined;
  #lines: LineTail | undefined;
  #cancelLook: CancelTimer | undefined;
  #isClosed = false;
  #another: string | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#transcript = options.transcript;
    const { hooksFile: path, clock, onNoise } = options;
    const onLine = (line: string, endOffset: number): void => this.#hear(line, endOffset);
    this.#hooks = new LineTail({ path, from: 0, clock, onLine, onNoise });
  }

  /**
   * The transcript of a conversation that somebody began at the screen in the place of ours. It stays so: what was typed
   * meanwhile is nowhere where we read.
   */
  get another(): string | undefined {
    return this.#another;
  }

  start(): void {
    this.#hooks.start();
    this.#look();
  }

  /** Resolves when all that was told at the time of the call was heard. */
  async drain(): Promise<void> {
    await this.#hooks.drain();
    this.#follow();
    await this.#lines?.drain();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelLook?.();
    this.#hooks.close();
    this.#lines?.close();
  }

  #hear(line: string, endOffset: number): void {
    // Between what two hooks write there is an empty line, so that neither can tear the other's.
    if (line.trim() === '') return;
    const hook = readHook(line);
    if (!hook) return this.#options.onNoise('a hook told something that is not known');
    const { transcript_path: path } = hook;
    if (path !== undefined) this.#transcript ??= { path, from: 0 };
    if (path !== undefined && this.#transcript && basename(path) !== basename(this.#transcript.path)) {
      if (this.#another === undefined) this.#options.onNoise(begunElsewhere(path));
      this.#another ??= path;
    }
    this.#options.onHook(hook, endOffset);
    this.#follow();
  }

  // The file comes into being with the first text.
  #look(): void {
    this.#follow();
    if (this.#lines || this.#isClosed) return;
    this.#cancelLook = this.#options.clock.after(lookAgainMs, () => this.#look());
  }

  #follow(): void {
    const transcript = this.#transcript;
    if (this.#lines || this.#isClosed || !transcript || !existsSync(transcript.path)) return;
    const { clock, onNoise } = this.#options;
    const onLine = (line: string, endOffset: number): void => this.#tell(line, endOffset);
    this.#lines = new LineTail({ ...transcript, clock, onLine, onNoise });
    this.#lines.start();
  }

  #tell(line: string, endOffset: number): void {
    const signals = readLine(line);
    if (!signals) this.#options.onNoise('the transcript has a line that is not known');
    for (const signal of signals ?? []) this.#options.onSignal(signal, endOffset);
  }
}

/** What is the matter once a hook has named the transcript of another conversation; a sentence for a person. */
export function begunElsewhere(path: string): string {
  return `somebody began another conversation at the agent's screen (${path}), and it is not followed`;
}

/** Everything that a transcript tells so far, each signal with the offset behind its line, and where it goes on. */
export function readTranscript(path: string): {
  readonly signals: readonly { readonly signal: Signal; readonly endOffset: number }[];
  readonly end: number;
} {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const signals: { signal: Signal; endOffset: number }[] = [];
  let start = 0;
  for (let newline = bytes.indexOf(10); newline >= 0; newline = bytes.indexOf(10, start)) {
    const endOffset = newline + 1;
    for (const signal of readLine(bytes.toString('utf8', start, newline)) ?? [])
      signals.push({ signal, endOffset });
    start = endOffset;
  }
  return { signals, end: start };
}
