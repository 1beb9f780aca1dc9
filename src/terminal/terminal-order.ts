import type { SessionId } from '../base/ids.ts';
import { Serial } from '../base/serial.ts';

/**
 * One thing at a time for the terminal of each session. All who begin and end terminals of a data directory share it: what
 * was to be closed is closed before another one begins in its place, and two who attach at once share one terminal.
 */
export class TerminalOrder {
  readonly #of = new Map<SessionId, Serial>();

  run<Value>(owner: SessionId, work: () => Promise<Value>): Promise<Value> {
    const order = this.#of.get(owner) ?? new Serial();
    this.#of.set(owner, order);
    return order.run(work);
  }
}
