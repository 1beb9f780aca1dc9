import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/pause.ts';
import type { Call } from './history.ts';

const passMs = 5_000;
const mark = 'stemma-barrier-';

/**
 * Makes sure that everything which was submitted to a thread before has begun. Codex answers `turn/start` before the turn
 * is in any list, so a list without it proves nothing: read within some 20 ms of the answer it was wrong 13 of 180 times.
 * A change of the thread's settings goes through the same queue as its turns, and is announced when its place has come:
 * read behind that, 300 of 300 lists were right. What is changed is a list that has no effect here, and it is put back.
 */
export class Barrier {
  /** As the thread has them without us. */
  disabledPlugins: readonly string[] = [];
  readonly #threadId: string;
  readonly #clock: Clock;
  readonly #call: Call;
  readonly #waiting = new Map<string, () => void>();
  #count = 0;

  constructor(threadId: string, clock: Clock, call: Call) {
    this.#threadId = threadId;
    this.#clock = clock;
    this.#call = call;
  }

  /** The settings were announced as changed. */
  heard(threadId: string, disabledPlugins: readonly string[]): void {
    if (threadId !== this.#threadId) return;
    for (const plugin of disabledPlugins) this.#waiting.get(plugin)?.();
  }

  /** True once everything before has begun; false when that cannot be learned in time. */
  async pass(): Promise<boolean> {
    const own = `${mark}${Math.floor(this.#clock.monotonic())}-${++this.#count}`;
    const others = this.disabledPlugins.filter((plugin) => !plugin.startsWith(mark));
    const announced = new Promise<true>((resolve) => this.#waiting.set(own, () => resolve(true)));
    const answer = await this.#change([...others, own]);
    const isPassed = answer.outcome === 'ok' && (await within(this.#clock, passMs, announced, false));
    this.#waiting.delete(own);
    await this.#change(others);
    return isPassed;
  }

  #change(disabledPluginIds: readonly string[]): ReturnType<Call> {
    return this.#call('thread/settings/update', { threadId: this.#threadId, disabledPluginIds });
  }
}
