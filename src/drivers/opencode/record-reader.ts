import { type OpencodeApi, Unreadable } from './api.ts';
import { openQuestions, pastOf, readSession, readTasks, replay, settledQuestions } from './catch-up.ts';
import type { AskedQuestion } from './read-event.ts';
import type { Signal } from './signal.ts';
import type { SessionState } from './state.ts';

/** Whose record is read, and who takes in what it tells. None of it may throw. */
export interface RecordHost {
  readonly api: OpencodeApi;
  readonly state: () => SessionState;
  readonly take: (signal: Signal) => void;
  readonly takeQuestion: (asked: AskedQuestion) => void;
}

/** Reads the record of one session, again and again, as what would have been heard. */
export class RecordReader {
  /** Whether the last reading showed the session at work. */
  isAtWork = false;
  readonly #host: RecordHost;
  readonly #toldUnread = new Set<string>();
  #isPast: boolean;
  #isNewProcess: boolean;

  /** `isNew`: what the record has so far is past, but for our open texts. `isNewProcess`: it works on nothing yet. */
  constructor(host: RecordHost, isNew: boolean, isNewProcess: boolean) {
    this.#host = host;
    this.#isPast = isNew;
    this.#isNewProcess = isNewProcess;
  }

  /** Reads the record and takes in what it tells; false when it cannot be read now. */
  async read(): Promise<boolean> {
    try {
      await this.#read();
      return true;
    } catch (error) {
      if (error instanceof Unreadable) return false;
      throw error;
    }
  }

  async #read(): Promise<void> {
    const { api, state, take, takeQuestion } = this.#host;
    const reading = await readSession(api, state());
    this.isAtWork = reading.status.length > 0;
    for (const signal of reading.unread) this.#tellUnread(signal);
    if (this.#isPast) take(pastOf(reading, state()));
    this.#isPast = false;
    for (const signal of replay(reading, this.#isNewProcess)) take(signal);
    const found = Object.keys(state().tasks).filter(
      (id) => !reading.tasks.some((s) => 'sessionId' in s && s.sessionId === id),
    );
    for (const signal of await readTasks(api, found)) take(signal);
    this.#isNewProcess = false;
    for (const signal of settledQuestions(reading, state())) take(signal);
    for (const asked of openQuestions(reading, state())) takeQuestion(asked);
  }

  /** What is read again and again is told once. */
  #tellUnread(signal: Signal): void {
    const key = JSON.stringify(signal);
    if (this.#toldUnread.has(key)) return;
    this.#toldUnread.add(key);
    this.#host.take(signal);
  }
}
