import type { Clock } from '../base/clock.ts';
import type { ExecutionId, OccurrenceId, TurnId } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import type { Committed, LedgerStore, StoredEvent } from '../ledger/store.ts';

/** Waits for what a commit says: pushed by the commit, never polled. */
export class Commits {
  readonly #store: LedgerStore;
  readonly #clock: Clock;
  readonly #closed = new Map<string, Set<() => void>>();
  readonly #stop: () => void;

  constructor(store: LedgerStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#stop = store.onCommit((committed) => this.#tell(committed));
  }

  /** Resolves true in the commit that closes the execution, false after `timeoutMs` or an abort. */
  closed(id: ExecutionId, timeoutMs: number, signal?: AbortSignal): Promise<boolean> {
    const isSo = async (): Promise<boolean> => {
      const row = await this.#store.read(() => ask('execution', id));
      return row === undefined || row.closed;
    };
    return this.#wait(`closed:${id}`, isSo, timeoutMs, signal);
  }

  /** Resolves true in the commit that ends the turn, false after `timeoutMs`. */
  turnEnded(id: TurnId, timeoutMs: number): Promise<boolean> {
    const isSo = async (): Promise<boolean> => {
      const turn = await this.#store.read(() => ask('turn', id));
      return turn === undefined || turn.state === 'ended';
    };
    return this.#wait(`turn:${id}`, isSo, timeoutMs);
  }

  /** Resolves true in the commit by which the occurrence has come to its end or waits, false after `timeoutMs`. */
  begun(id: OccurrenceId, timeoutMs: number): Promise<boolean> {
    const isSo = async (): Promise<boolean> => {
      const row = await this.#store.read(() => ask('occurrence', id));
      return row === undefined || !isBeingBegun(row.state);
    };
    return this.#wait(`begun:${id}`, isSo, timeoutMs);
  }

  /** Lets go of the store. Waits that are open end by their time. */
  stop(): void {
    this.#stop();
  }

  async #wait(
    key: string,
    isSo: () => Promise<boolean>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<boolean> {
    let cleanUp = (): void => undefined;
    const told = new Promise<boolean>((resolve) => {
      const yes = (): void => resolve(true);
      const no = (): void => resolve(false);
      this.#listen(key, yes);
      const cancelTimer = this.#clock.after(timeoutMs, no);
      signal?.addEventListener('abort', no, { once: true });
      cleanUp = () => {
        cancelTimer();
        this.#unlisten(key, yes);
        signal?.removeEventListener('abort', no);
      };
    });
    // Listening comes first: a commit between the look and the wait is heard.
    try {
      if (await isSo()) return true;
      if (signal?.aborted) return false;
      return await told;
    } finally {
      cleanUp();
    }
  }

  #listen(key: string, tell: () => void): void {
    const listeners = this.#closed.get(key) ?? new Set();
    listeners.add(tell);
    this.#closed.set(key, listeners);
  }

  #unlisten(key: string, tell: () => void): void {
    const listeners = this.#closed.get(key);
    listeners?.delete(tell);
    if (listeners?.size === 0) this.#closed.delete(key);
  }

  #tell(committed: Committed): void {
    if (this.#closed.size === 0) return;
    for (const event of committed.events) {
      const key = keyOf(event);
      if (key !== undefined) for (const tell of this.#closed.get(key) ?? []) tell();
    }
  }
}

/** What those who wait are told of by an event, if anything. */
function keyOf({ type, data }: StoredEvent): string | undefined {
  switch (type) {
    case 'execution.closed':
      return `closed:${String(data['executionId'])}`;
    case 'turn.ended':
      return `turn:${String(data['turnId'])}`;
    case 'occurrence.state':
      return isBeingBegun(String(data['state'])) ? undefined : `begun:${String(data['occurrenceId'])}`;
    default:
      return undefined;
  }
}

function isBeingBegun(state: string): boolean {
  return state === 'due' || state === 'claimed';
}
