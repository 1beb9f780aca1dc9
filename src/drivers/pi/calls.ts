const mostCalls = 2000;

/** In which turn each of the newest tool calls was made. */
export class Calls {
  readonly #turns = new Map<string, string>();

  add(callId: string, turnId: string): void {
    this.#turns.set(callId, turnId);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > mostCalls && oldest !== undefined) this.#turns.delete(oldest);
  }

  turnOf(callId: string): string | undefined {
    return this.#turns.get(callId);
  }
}
