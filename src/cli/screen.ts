import type { Output } from './ports.ts';

const hideCursor = '\x1b[?25l';
const showCursor = '\x1b[?25h';
const clearToEnd = '\x1b[0J';
const clearLine = '\x1b[2K';

/**
 * Lines at the bottom of a terminal that are drawn again in place. Every line must fit the width and the lines the
 * height: a line that wraps, or that scrolled away, cannot be drawn over. The cursor is hidden from the first `draw`
 * until `close`, which must be called on every way out.
 */
export class Screen {
  readonly #output: Output;
  #drawn: readonly string[] = [];
  #isHidden = false;

  constructor(output: Output) {
    this.#output = output;
  }

  /** Replaces what the last call drew. Only lines that differ are written. */
  draw(lines: readonly string[]): void {
    const hide = this.#isHidden ? '' : hideCursor;
    this.#isHidden = true;
    this.#output.write(hide + this.#toTop() + this.#changed(lines));
    this.#drawn = lines;
  }

  /** Takes away what was drawn and leaves the cursor there, so that other lines can be printed; then `draw` again. */
  clear(): void {
    if (this.#drawn.length === 0) return;
    this.#output.write(this.#toTop() + clearToEnd);
    this.#drawn = [];
  }

  /** Shows the cursor again, below what stands. Closing twice is harmless. */
  close(): void {
    if (this.#isHidden) this.#output.write(showCursor);
    this.#isHidden = false;
    this.#drawn = [];
  }

  #toTop(): string {
    return this.#drawn.length > 0 ? `\x1b[${this.#drawn.length}A\r` : '';
  }

  #changed(lines: readonly string[]): string {
    const text = lines
      .map((line, row) => (this.#drawn[row] === line ? '\n' : `${clearLine}${line}\n`))
      .join('');
    return lines.length < this.#drawn.length ? text + clearToEnd : text;
  }
}
