import { hashOf, type SentText } from './sent-log.ts';

/**
 * What the output says of a text. `open`: nothing yet. `accepted`: pi has it. `consumed`: the model is told it. `refused`:
 * pi said no. `gone`: it was queued, and never will be taken up.
 */
export interface Text extends SentText {
  fate: 'open' | 'accepted' | 'consumed' | 'refused' | 'gone';
  turnId?: string;
  reason?: string;
}

/** The texts that were sent to one process, oldest first. */
export class Texts {
  readonly #all = new Map<string, Text>();

  add(text: SentText): void {
    // One that never arrived may come again; it is then the youngest.
    this.#all.delete(text.id);
    this.#all.set(text.id, { ...text, fate: 'open' });
  }

  /** The text was certainly not written. */
  drop(id: string): void {
    this.#all.delete(id);
  }

  get(id: string): Readonly<Text> | undefined {
    return this.#all.get(id);
  }

  /** pi answered the command that carried the text. True when that was news. */
  answer(id: string, kind: Text['kind'], refusal: string | undefined): boolean {
    const text = this.#all.get(id);
    if (text?.kind !== kind || text.fate !== 'open') return false;
    text.fate = refusal === undefined ? 'accepted' : 'refused';
    if (refusal !== undefined) text.reason = refusal;
    return true;
  }

  /** A turn began with this text, or took it up. */
  consume(id: string, turnId: string): void {
    const text = this.#all.get(id);
    if (text) Object.assign(text, { fate: 'consumed', turnId });
  }

  /** The prompt that is not answered yet, or whose run has not begun. */
  waitingPrompt(): Readonly<Text> | undefined {
    return this.#find((text) => text.kind === 'prompt' && isPending(text));
  }

  /**
   * The steered text that a message of this wording is. pi has no ids for texts and takes queued ones in their order, so
   * it is the oldest one.
   */
  steerOf(wording: string, before: number): Readonly<Text> | undefined {
    const hash = hashOf(wording);
    return this.#find(
      (one) => one.kind === 'steer' && one.hash === hash && one.at < before && isPending(one),
    );
  }

  /** What was steered in before this position and is still queued will never be taken up. */
  closeSteers(before: number): void {
    for (const text of this.#all.values()) {
      if (text.kind === 'steer' && text.at < before && isPending(text)) text.fate = 'gone';
    }
  }

  /** The process is dead: an accepted prompt may have been heard by the model, and nothing else will be. */
  close(): void {
    this.closeSteers(Number.POSITIVE_INFINITY);
    for (const text of this.#all.values()) {
      if (isPending(text)) text.fate = text.fate === 'accepted' ? 'consumed' : 'gone';
    }
  }

  /** Whether this text is known, and certain not to be taken up. */
  isAbsent(id: string): boolean {
    const fate = this.#all.get(id)?.fate;
    return fate === 'refused' || fate === 'gone';
  }

  /** Texts whose fate is certain. */
  decided(): { id: string; fate: 'consumed' | 'absent' }[] {
    const fates = { consumed: 'consumed', refused: 'absent', gone: 'absent' } as const;
    return [...this.#all.values()].flatMap(({ id, fate }) =>
      fate === 'open' || fate === 'accepted' ? [] : [{ id, fate: fates[fate] }],
    );
  }

  #find(fits: (text: Text) => boolean): Text | undefined {
    for (const text of this.#all.values()) if (fits(text)) return text;
    return undefined;
  }
}

function isPending({ fate }: Text): boolean {
  return fate === 'open' || fate === 'accepted';
}
