import { existsSync, readFileSync } from 'node:fs';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { LineTail } from '../../processes/line-tail.ts';
import { HookTrail } from './hook-trail.ts';
import { type Hook, readHook } from './hooks.ts';
import { readLine, type Signal } from './transcript.ts';

/** A transcript, from where on it is news, and the position at which it begins. */
export interface Followable {
  readonly path: string;
  readonly from: number;
  readonly base: number;
}

/** What is heard of a conversation, and who hears it. None of the callbacks may throw, but for `onNext`. */
export interface FeedOptions {
  readonly clock: Clock;
  readonly hooksFile: string;
  /** The transcripts of the conversations that the agent had before this one. */
  readonly earlier: readonly string[];
  /** The transcript, if it is known. */
  readonly transcript: Followable | undefined;
  readonly onHook: (hook: Hook, endOffset: number) => void;
  /** `position`: behind the line that tells it. */
  readonly onSignal: (signal: Signal, position: number) => void;
  /** A conversation is left for a new one: resolves when no more of it is expected. */
  readonly onLeave: () => Promise<void>;
  /** The new one is read next. Throws when it cannot be followed. */
  readonly onNext: (next: { readonly id: string; readonly path: string; readonly base: number }) => void;
  readonly onNoise: (what: string) => void;
}

const lookAgainMs = 200;

/**
 * Follows what an agent at its own screen writes: what its hooks tell, and its transcript; after a `/clear`, the transcript of
 * the conversation that was begun by it.
 */
export class Feed {
  readonly #options: FeedOptions;
  readonly #hooks: LineTail;
  readonly #trail: HookTrail;
  #transcript: Followable | undefined;
  /** How far the transcript was read. */
  #readTo: number;
  #lines: LineTail | undefined;
  #moving: Promise<void> = Promise.resolve();
  #cancelLook: CancelTimer | undefined;
  #isClosed = false;
  #another: string | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#transcript = options.transcript;
    this.#readTo = options.transcript?.from ?? 0;
    const current = options.transcript ? [options.transcript.path] : [];
    this.#trail = new HookTrail([...options.earlier, ...current]);
    const { hooksFile: path, clock, onNoise } = options;
    const onLine = (line: string, endOffset: number): void => this.#hear(line, endOffset);
    this.#hooks = new LineTail({ path, from: 0, clock, onLine, onNoise });
  }

  /**
   * The transcript of a conversation in the place of ours that cannot be followed. It stays so: what was typed meanwhile is
   * nowhere where we read.
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
    await this.#moving;
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
    if (path !== undefined) this.#transcript ??= { path, from: 0, base: 0 };
    const step = this.#trail.hear(hook);
    if (step.step === 'strayed') this.#stray(step.path);
    if (step.step === 'cleared') this.#moving = this.#moving.then(() => this.#move(step));
    this.#options.onHook(hook, endOffset);
    this.#follow();
  }

  async #move({ id, path }: { readonly id: string; readonly path: string }): Promise<void> {
    this.#follow();
    await this.#lines?.drain();
    await this.#options.onLeave();
    await this.#lines?.drain();
    if (this.#isClosed) return;
    const base = (this.#transcript?.base ?? 0) + this.#readTo;
    try {
      this.#options.onNext({ id, path, base });
    } catch {
      return this.#stray(path);
    }
    this.#lines?.close();
    this.#lines = undefined;
    this.#cancelLook?.();
    this.#transcript = { path, from: 0, base };
    this.#readTo = 0;
    this.#look();
  }

  #stray(path: string): void {
    this.#another ??= path;
    this.#options.onNoise(begunElsewhere(path));
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
    const { path, from, base } = transcript;
    const onLine = (line: string, endOffset: number): void => this.#tell(line, endOffset, base);
    this.#lines = new LineTail({ path, from, clock, onLine, onNoise });
    this.#lines.start();
  }

  #tell(line: string, endOffset: number, base: number): void {
    this.#readTo = endOffset;
    const signals = readLine(line);
    if (!signals) this.#options.onNoise('the transcript has a line that is not known');
    for (const signal of signals ?? []) this.#options.onSignal(signal, base + endOffset);
  }
}

/** What is the matter once the agent has a conversation that cannot be followed; a sentence for a person. */
export function begunElsewhere(path: string): string {
  return `somebody turned to another conversation at the agent's screen (${path}), which cannot be followed`;
}

/**
 * Everything that a transcript tells so far, each signal with the offset behind its line, and where it goes on. `until`: only so
 * much of it is read, in bytes.
 */
export function readTranscript(
  path: string,
  until = Number.POSITIVE_INFINITY,
): {
  readonly signals: readonly { readonly signal: Signal; readonly endOffset: number }[];
  readonly end: number;
} {
  const bytes = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
  const signals: { signal: Signal; endOffset: number }[] = [];
  let start = 0;
  for (let newline = bytes.indexOf(10); newline >= 0 && newline < until; newline = bytes.indexOf(10, start)) {
    const endOffset = newline + 1;
    for (const signal of readLine(bytes.toString('utf8', start, newline)) ?? [])
      signals.push({ signal, endOffset });
    start = endOffset;
  }
  return { signals, end: start };
}
