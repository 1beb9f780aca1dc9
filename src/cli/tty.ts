/** The terminal in which the command line runs, as it is needed to hand it over to another program's screen. */
export interface Tty {
  size(): { readonly columns: number; readonly rows: number };
  /** Every key goes to `onInput`, as the bytes that the terminal sends, until `restore`. Once. */
  takeOver(listeners: { readonly onInput: (bytes: Uint8Array) => void; readonly onResize: () => void }): void;
  write(bytes: Uint8Array): void;
  /** Gives the terminal back as a shell expects it. Idempotent; it also happens when the process ends by itself. */
  restore(): void;
}

/**
 * What undoes whatever a full-screen program may have switched on: synchronized output, reporting of mouse, focus and pastes,
 * keypad and cursor modes, extended keys, the other screen, colours, a hidden cursor.
 */
const undo =
  '\x1b[?2026l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>\x1b[>4;0m\x1b[?1049l\x1b[0m\x1b[?25h';

/** The terminal of this process, or undefined when its input or its output is none. */
export function ttyOf(input: NodeJS.ReadStream, output: NodeJS.WriteStream): Tty | undefined {
  if (!input.isTTY || !output.isTTY) return undefined;
  let release: (() => void) | undefined;
  return {
    size: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    takeOver({ onInput, onResize }) {
      const restore = (): void => {
        release = undefined;
        input.off('data', onInput);
        output.off('resize', onResize);
        process.off('exit', restore);
        try {
          input.setRawMode(false);
          output.write(undo);
        } catch {
          // The terminal is gone: there is nothing to give back.
        }
        input.pause();
      };
      release = restore;
      process.on('exit', restore);
      input.setRawMode(true);
      input.on('data', onInput);
      output.on('resize', onResize);
      input.resume();
    },
    write(bytes) {
      output.write(bytes);
    },
    restore: () => release?.(),
  };
}
