import type { Heard } from './read-event.ts';

/** Beyond this many the record is read anew instead, and the stream opened again. */
const longestHeld = 10_000;

/**
 * What is heard while the record is read. Each gap in the stream begins a generation of its own: only a reading of the newest
 * one, made behind the gap, may let go of what is held.
 */
export class HeldEvents {
  #events: Heard[] | undefined = [];
  #generation = 0;

  get isHolding(): boolean {
    return this.#events !== undefined;
  }

  get generation(): number {
    return this.#generation;
  }

  /** There is a gap: whatever was held is in the record that is read behind it. */
  restart(): void {
    this.#generation++;
    this.#events = [];
  }

  /** Holds from now on. The generation whose reading may let go. */
  hold(): number {
    this.#events ??= [];
    return this.#generation;
  }

  /** Holds an event, if events are held now. `full`: too many, there is a gap now. */
  add(heard: Heard): 'held' | 'free' | 'full' {
    if (!this.#events) return 'free';
    if (this.#events.push(heard) <= longestHeld) return 'held';
    this.restart();
    return 'full';
  }

  /**
   * Hands over what was held, and holds no more. From the first stale event on, only what says the same in any order is handed
   * over, and events are held still: the answer is false, and the record has to be read again.
   */
  handOver(take: (heard: Heard) => void, isStale: (heard: Heard) => boolean = () => false): boolean {
    const events = this.#events ?? [];
    let mustRead = false;
    for (const heard of events) {
      mustRead ||= isStale(heard);
      if (!mustRead || isTimeless(heard)) take(heard);
    }
    this.#events = mustRead ? [] : undefined;
    return !mustRead;
  }
}

/** Whether this says that the session is idle. */
export function isIdleOf(heard: Heard, sessionId: string): boolean {
  return Array.isArray(heard) && heard.some((s) => s.type === 'idle' && s.sessionId === sessionId);
}

/** Whether this says the same in any order, so that a reading behind it cannot make it wrong, and may not show it. */
function isTimeless(heard: Heard): boolean {
  if (!Array.isArray(heard)) return 'mark' in heard;
  return heard.every(({ type }) => ['error', 'removed', 'child', 'settled', 'noise'].includes(type));
}
