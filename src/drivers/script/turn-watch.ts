import type { ChildProcess } from 'node:child_process';
import { type FSWatcher, watch } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { CancelTimer, Clock } from '../../base/clock.ts';
import { endGroup } from '../../processes/group.ts';
import { isAlive } from '../../processes/process-identity.ts';
import { readBounded, readLastLines, sizeOf, truncate } from './bounded-output.ts';
import { exitCodeOf, isInterrupted, markInterrupted, type TurnRecord } from './turn-record.ts';

/** How a turn ended, and what it printed. */
export interface TurnEnd {
  readonly status: 'succeeded' | 'failed' | 'interrupted';
  readonly answer: string;
  /** For a person; absent when it succeeded. */
  readonly message?: string;
}

/** What a watch needs. `onEnd` is called once, must not throw, and is not called after `stop`. */
export interface TurnWatchOptions {
  readonly clock: Clock;
  readonly graceMs: number;
  /** A program that has printed more than this is ended. Bytes, default 256 MiB. */
  readonly mostOutputBytes?: number;
  /** The turn's process when we are its parent. */
  readonly child?: ChildProcess;
  readonly onEnd: (end: TurnEnd) => void;
}

const pollMs = 500;
const answerBytes = 1024 * 1024;
const messageBytes = 4096;
const usualMostOutputBytes = 256 * 1024 * 1024;

/**
 * Waits for the end of a turn: by the noted exit code, which is heard through a watch on the turn's directory, or by the
 * death of the wrapper without one. In the second case what is left of the turn is ended first, so that no end is ever
 * reported for a program that still runs.
 */
export class TurnWatch {
  readonly turn: TurnRecord;
  readonly #options: TurnWatchOptions;
  #watcher: FSWatcher | undefined;
  #cancelPoll: CancelTimer | undefined;
  #ending: Promise<'dead' | 'unkillable'> | undefined;
  #isOver = false;
  #isFlooding = false;

  constructor(turn: TurnRecord, options: TurnWatchOptions) {
    this.turn = turn;
    this.#options = options;
  }

  /** Begins to watch; an end that is there already is reported before this returns. */
  start(): void {
    try {
      // The directory also reports every write to the output.
      const onChange = (_: string, name: string | null): void => {
        if (name === null || name === 'status') this.check();
      };
      this.#watcher = watch(this.turn.directory, { persistent: false }, onChange);
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // Without a watch the poll still hears it.
    }
    this.#options.child?.once('exit', this.#onChildExit);
    // An earlier owner died between its wish to end the turn and the end.
    if (exitCodeOf(this.turn) === undefined && isInterrupted(this.turn)) void this.#endProcesses();
    this.#poll();
  }

  /** Looks now; an end that is found is reported before this returns. */
  check(): void {
    if (this.#isOver) return;
    // In this order: the code is noted before the wrapper dies.
    const isDead = !isAlive(this.turn.identity);
    const code = exitCodeOf(this.turn);
    if (code !== undefined) this.#finish(this.#endOf(code));
    else if (isDead) void this.#endProcesses();
    else if (!this.#isFlooding) this.#checkOutput();
  }

  /** Ends the turn's processes. A turn that ended by itself meanwhile keeps its own outcome. */
  interrupt(): Promise<'dead' | 'unkillable'> {
    if (!this.#isOver) markInterrupted(this.turn);
    return this.#endProcesses();
  }

  /** Stops watching and releases everything; the turn goes on. Harmless when it is over. */
  stop(): void {
    this.#isOver = true;
    this.#cancelPoll?.();
    this.#watcher?.close();
    this.#options.child?.off('exit', this.#onChildExit);
  }

  readonly #onChildExit = (): void => this.check();

  // What prints without end fills the disk; of an answer so long nobody would read more than its beginning and its end.
  #checkOutput(): void {
    const most = this.#options.mostOutputBytes ?? usualMostOutputBytes;
    const size = sizeOf(join(this.turn.directory, 'out')) + sizeOf(join(this.turn.directory, 'err'));
    if (size <= most) return;
    this.#isFlooding = true;
    void this.#endProcesses();
  }

  #poll(): void {
    this.check();
    if (!this.#isOver) this.#cancelPoll = this.#options.clock.after(pollMs, () => this.#poll());
  }

  #endProcesses(): Promise<'dead' | 'unkillable'> {
    this.#ending ??= this.#endOnce().finally(() => {
      this.#ending = undefined;
    });
    return this.#ending;
  }

  async #endOnce(): Promise<'dead' | 'unkillable'> {
    const { clock, graceMs } = this.#options;
    const outcome = await endGroup(this.turn.identity, { clock, graceMs });
    if (outcome === 'dead' && !this.#isOver) this.#finish(this.#endOf(exitCodeOf(this.turn)));
    return outcome;
  }

  #finish(end: TurnEnd): void {
    this.stop();
    this.#options.onEnd(end);
  }

  #endOf(code: number | undefined): TurnEnd {
    const answer = readBounded(join(this.turn.directory, 'out'), answerBytes);
    if (code === 0) return { status: 'succeeded', answer };
    if (code === undefined && isInterrupted(this.turn)) {
      return { status: 'interrupted', answer, message: 'the program was ended on request' };
    }
    if (this.#isFlooding) {
      for (const name of ['out', 'err']) truncate(join(this.turn.directory, name), answerBytes);
      return { status: 'failed', answer, message: 'the program was ended: it printed without end' };
    }
    const said = readLastLines(join(this.turn.directory, 'err'), messageBytes);
    return { status: 'failed', answer, message: said === '' ? describe(code) : `${describe(code)}: ${said}` };
  }
}

function describe(code: number | undefined): string {
  if (code === undefined) return 'the program died without leaving an exit code';
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return signal === undefined ? `exit code ${code}` : `exit code ${code} (${signal})`;
}
