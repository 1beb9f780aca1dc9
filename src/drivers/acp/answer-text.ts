const limitBytes = 1024 * 1024;
const cutMark = '\n[the rest of the answer was cut off]';

/**
 * Collects what the agent says in one turn. The answer is what it said after its last tool call, since text that goes
 * with a tool call is commentary; when it fell silent after that call, the answer is everything.
 */
export class AnswerText {
  readonly #all = new BoundedText();
  #last = new BoundedText();

  /** The agent said this. */
  say(text: string): void {
    this.#all.add(text);
    this.#last.add(text);
  }

  /** The agent began something else: what it said before was commentary. */
  tool(): void {
    if (this.#last.value() !== '') this.#last = new BoundedText();
  }

  /** At most 1 MiB, and a sentence when something was cut off. */
  value(): string {
    return this.#last.value().trim() === '' ? this.#all.value() : this.#last.value();
  }
}

class BoundedText {
  readonly #parts: string[] = [];
  #bytes = 0;
  #isCut = false;

  add(text: string): void {
    if (this.#isCut) return;
    const bytes = Buffer.byteLength(text);
    this.#isCut = this.#bytes + bytes > limitBytes;
    // A character that the cut splits is dropped.
    const kept = this.#isCut
      ? Buffer.from(text)
          .subarray(0, limitBytes - this.#bytes)
          .toString()
          .replace(/\uFFFD$/, '')
      : text;
    this.#parts.push(kept);
    this.#bytes += bytes;
  }

  value(): string {
    return this.#parts.join('') + (this.#isCut ? cutMark : '');
  }
}
