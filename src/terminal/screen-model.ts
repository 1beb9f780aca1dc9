import xterm from '@xterm/headless';
import type { ScreenSize } from './port.ts';

/** One line of a screen. `lit`: the same, with blanks in the place of what is drawn dim; as long as `text`. */
export interface ScreenLine {
  readonly text: string;
  readonly lit: string;
}

/** A terminal that nobody looks at: fed with what a program writes, it knows what its screen shows. It keeps no history. */
export class ScreenModel {
  readonly #terminal: xterm.Terminal;
  #waitingBytes = 0;

  constructor({ columns, rows }: ScreenSize) {
    // Nobody hears what it would answer to a program: the program's own terminal does that.
    this.#terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
  }

  get size(): ScreenSize {
    return { columns: this.#terminal.cols, rows: this.#terminal.rows };
  }

  /** How much it was fed with and has not drawn yet, in bytes. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /** Feeds it; resolves when it is drawn. */
  write(bytes: Uint8Array | string): Promise<void> {
    this.#waitingBytes += bytes.length;
    return new Promise((resolve) =>
      this.#terminal.write(bytes, () => {
        this.#waitingBytes -= bytes.length;
        resolve();
      }),
    );
  }

  resize({ columns, rows }: ScreenSize): void {
    this.#terminal.resize(columns, rows);
  }

  /** What is drawn now, each line without the blanks at its end. */
  lines(): ScreenLine[] {
    const { active } = this.#terminal.buffer;
    return Array.from({ length: this.#terminal.rows }, (_, row) =>
      lineOf(active.getLine(active.baseY + row)),
    );
  }

  end(): void {
    this.#terminal.dispose();
  }
}

function lineOf(line: xterm.IBufferLine | undefined): ScreenLine {
  let text = '';
  let lit = '';
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column);
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue;
    const characters = cell.getChars() || ' ';
    text += characters;
    lit += cell.isDim() ? ' '.repeat(characters.length) : characters;
  }
  const { length } = text.trimEnd();
  return { text: text.slice(0, length), lit: lit.slice(0, length) };
}
