import type { DriverEvent, DriverReport } from '../port.ts';

/**
 * Gives events their positions: bytes of output, counted on over the processes of a session. The last event of a line
 * lies at its end, those before it within it, so no two events share a position and whoever dies among them is told the
 * rest exactly. Events at or before the floor were processed before and are kept back.
 */
export class Outbox {
  readonly #emit: (event: DriverEvent) => void;
  readonly #floor: number;
  #last: number;
  #start: number;
  #end: number;

  constructor(emit: (event: DriverEvent) => void, from: number, floor: number) {
    this.#emit = emit;
    this.#floor = floor;
    this.#last = from;
    this.#start = from;
    this.#end = from;
  }

  /** How far the output was read. */
  get position(): number {
    return this.#end;
  }

  /** Everything that one line says; `end` is the position behind it. */
  tellLine(end: number, reports: readonly DriverReport[]): void {
    this.#start = this.#end;
    this.#end = end;
    for (const [index, report] of reports.entries()) {
      const isLast = index === reports.length - 1;
      this.#place(report, isLast ? end : Math.min(this.#start + 1 + index, end - 1));
    }
  }

  /** An event that is not in the output; the floor says nothing about it. */
  tellNow(report: DriverReport): void {
    this.#send(report, this.#end);
  }

  /** Events behind the whole output, the last ones of this process. Returns the position of the last. */
  tellLast(reports: readonly DriverReport[]): number {
    for (const report of reports) this.#place(report, ++this.#end);
    return this.#end;
  }

  #place(report: DriverReport, position: number): void {
    if (position > this.#floor) this.#send(report, position);
  }

  #send(report: DriverReport, position: number): void {
    this.#last = Math.max(this.#last, position);
    this.#emit({ ...report, position: this.#last });
  }
}
