import type { DriverEvent, DriverReport, TranscriptItem } from '../port.ts';
import { AnswerText } from './answer-text.ts';

const longestItem = 64 * 1024;
/** So many items of a late turn are kept; it is told when the agent falls silent, and an agent may never do so. */
const mostLateItems = 200;

/** A late turn: what the agent does while it was asked nothing. It is told as a whole, since ACP has no word for its end. */
interface LateTurn {
  readonly turnId: string;
  readonly start: number;
  readonly firstEnd: number;
  end: number;
  readonly answer: AnswerText;
  readonly items: TranscriptItem[];
}

/**
 * Gives events their positions and their order. Pieces of one text that arrive together become one item; everything late
 * that arrives together becomes one late turn. Events at or before the floor were processed before and are kept back.
 */
export class Outbox {
  readonly #emit: (event: DriverEvent) => void;
  readonly #floor: number;
  #position: number;
  #lineStart: number;
  #lineEnd: number;
  /** How many events this line has had that were not its last. */
  #within = 0;
  #held: { readonly item: TranscriptItem; readonly turnId: string; readonly end: number } | undefined;
  #late: LateTurn | undefined;

  constructor(emit: (event: DriverEvent) => void, from: number, floor: number) {
    this.#emit = emit;
    this.#floor = floor;
    this.#position = from;
    this.#lineStart = from;
    this.#lineEnd = from;
  }

  /** How far the output was read: the end of the line that is being taken. */
  get position(): number {
    return this.#lineEnd;
  }

  /** Where the line that is being taken begins. */
  get lineStart(): number {
    return this.#lineStart;
  }

  /** The next line is taken; `end` is the position behind it. */
  beginLine(end: number): void {
    this.#lineStart = this.#lineEnd;
    this.#lineEnd = end;
    this.#within = 0;
  }

  /** An event of this line that others of this line follow. */
  sayWithin(event: DriverReport): void {
    this.#flushHeld();
    this.#endLate();
    this.#place(event, Math.min(this.#lineStart + ++this.#within, this.#lineEnd - 1));
  }

  /** The last event of this line. */
  sayAtEnd(event: DriverReport): void {
    this.#flushHeld();
    this.#endLate();
    this.#place(event, this.#lineEnd);
  }

  /** An event that is not in the output. The floor says nothing about it. */
  sayNow(event: DriverReport): void {
    this.flush();
    this.#send(event, this.#lineEnd);
  }

  /** The last event of all: it lies behind the output, so that it is not told again to somebody who knows it. */
  sayLast(event: DriverReport): number {
    this.flush();
    this.#place(event, this.#lineEnd + 1);
    return this.#lineEnd + 1;
  }

  /** This line is late activity. The answer of the late turn that it belongs to. */
  late(): AnswerText {
    this.#flushHeld();
    if (this.#lineEnd <= this.#floor) return new AnswerText();
    this.#late ??= this.#beginLate();
    this.#late.end = this.#lineEnd;
    return this.#late.answer;
  }

  /** An item of this line, of the turn with this id, or of the late turn. */
  hold(item: TranscriptItem, turnId: string | undefined): void {
    if (this.#lineEnd <= this.#floor) return;
    const bounded = { ...item, text: cut(item.text) };
    if (turnId === undefined) {
      if (this.#late) addItem(this.#late.items, bounded);
      return;
    }
    const held = this.#held;
    const joined = held?.turnId === turnId ? join(held.item, bounded) : undefined;
    if (!joined) this.#flushHeld();
    this.#held = { item: joined ?? bounded, turnId, end: this.#lineEnd };
  }

  /** Emits what is held back: a text that may go on, a late turn. */
  flush(): void {
    this.#flushHeld();
    this.#endLate();
  }

  #flushHeld(): void {
    const held = this.#held;
    if (!held) return;
    this.#held = undefined;
    this.#place({ type: 'item', nativeTurnId: held.turnId, item: held.item }, held.end);
  }

  #beginLate(): LateTurn {
    const turnId = `late:${this.#lineStart}`;
    this.#place({ type: 'turnStarted', nativeTurnId: turnId }, this.#lineStart + 1);
    const [start, firstEnd] = [this.#lineStart, this.#lineEnd];
    return { turnId, start, firstEnd, end: firstEnd, answer: new AnswerText(), items: [] };
  }

  // All but the end lie within the first line: whoever dies among them reads all of them again, under the same turn id.
  #endLate(): void {
    const late = this.#late;
    if (!late) return;
    this.#late = undefined;
    for (const [index, item] of late.items.entries()) {
      const position = Math.min(late.start + 2 + index, late.firstEnd - 1);
      this.#place({ type: 'item', nativeTurnId: late.turnId, item }, position);
    }
    const end = { type: 'turnEnded', nativeTurnId: late.turnId, status: 'succeeded', tasks: [] } as const;
    this.#place({ ...end, answer: late.answer.value() }, late.end);
  }

  #place(event: DriverReport, position: number): void {
    if (position > this.#floor) this.#send(event, position);
  }

  #send(event: DriverReport, position: number): void {
    this.#position = Math.max(this.#position, position);
    this.#emit({ ...event, position: this.#position });
  }
}

function addItem(items: TranscriptItem[], item: TranscriptItem): void {
  const last = items.at(-1);
  const joined = last && join(last, item);
  if (joined) items[items.length - 1] = joined;
  else if (items.length < mostLateItems) items.push(item);
}

/** Two pieces of one text as one, unless they are of two texts or too long. */
function join(first: TranscriptItem, second: TranscriptItem): TranscriptItem | undefined {
  const isText = first.kind === second.kind && first.id === undefined && second.id === undefined;
  if (!isText || first.text.length + second.text.length > longestItem) return undefined;
  return { kind: first.kind, text: first.text + second.text };
}

function cut(text: string): string {
  return text.length <= longestItem ? text : `${text.slice(0, longestItem)}… (${text.length} characters)`;
}
