import type { CancelTimer, Clock } from '../base/clock.ts';

/** What watching the clock needs. */
export interface ClockWatchOptions {
  readonly clock: Clock;
  /**
   * The wall clock went `byMs` milliseconds further than time did: it was set, or the machine slept; negative when it was
   * set back. Told once; again at the next look when this rejects, with all that came together.
   */
  readonly onJump: (byMs: number) => Promise<void>;
  /** Hears of an `onJump` that rejected, as an alarm. Must not throw. */
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** How often one looks, and how far the clocks may part before it counts: less is the correction of a time server. Milliseconds. */
const lookEveryMs = 30_000;
const toleratedMs = 5_000;

/**
 * Compares the wall clock with the monotonic one. Timers go by the latter, so that what is due by the former would be late
 * after a jump forward, and after one back would be taken for done. Where the monotonic clock counts the sleep of the
 * machine (macOS), timers are right after it, and there is nothing to tell.
 */
export class ClockWatch {
  readonly #options: ClockWatchOptions;
  #apartMs = 0;
  #isOn = false;
  #cancel: CancelTimer | undefined;
  #look: Promise<void> = Promise.resolve();

  constructor(options: ClockWatchOptions) {
    this.#options = options;
  }

  /** Begins to watch from what the clocks show now. A second call while it watches does nothing. */
  start(): void {
    if (this.#isOn) return;
    this.#isOn = true;
    this.#apartMs = this.#apart();
    this.#arm();
  }

  /** Ends it; resolves when no `onJump` runs. */
  async stop(): Promise<void> {
    this.#isOn = false;
    this.#cancel?.();
    await this.#look;
  }

  #arm(): void {
    if (!this.#isOn) return;
    this.#cancel = this.#options.clock.after(lookEveryMs, () => {
      this.#look = this.#compare().finally(() => this.#arm());
    });
  }

  async #compare(): Promise<void> {
    const apartMs = this.#apart();
    const byMs = Math.round(apartMs - this.#apartMs);
    if (Math.abs(byMs) <= toleratedMs) return;
    try {
      await this.#options.onJump(byMs);
      this.#apartMs = apartMs;
    } catch (error) {
      this.#options.report('clock.untold', { byMs, error: String(error) });
    }
  }

  #apart(): number {
    return this.#options.clock.now() - this.#options.clock.monotonic();
  }
}
