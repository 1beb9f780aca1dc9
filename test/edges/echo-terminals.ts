import type { Terminals, TerminalSize, TerminalView } from '../../src/api/ports.ts';

/**
 * Terminals without agents: each view tells its size first, then whatever is typed into it. `q` ends the terminal, `flood N`
 * makes it say N bytes in pieces of 64 KiB, which stop while the view is paused.
 */
export class EchoTerminals implements Terminals {
  readonly sizes: TerminalSize[] = [];
  /** Views that have begun and not ended. */
  open = 0;
  /** Whether the newest view is paused, and how many bytes it has said. */
  isPaused = false;
  said = 0;
  /** Whether there are terminals at all. */
  isThere = true;

  /** Whether a terminal is open, to be watched. */
  isOpen = true;

  async watch(...[id, viewer]: Parameters<Terminals['watch']>): ReturnType<Terminals['watch']> {
    if (!this.isOpen) return { ok: false, code: 'TERMINAL_UNAVAILABLE', message: 'It is not open.' };
    const attached = await this.attach(id, viewer);
    return attached.ok
      ? { ok: true, value: { ...attached.value, write: () => void this.dropped++ } }
      : attached;
  }

  /** How often somebody who only watches has typed. */
  dropped = 0;

  async attach(
    _id: Parameters<Terminals['attach']>[0],
    { size, onOutput, onEnd }: Parameters<Terminals['attach']>[1],
  ): ReturnType<Terminals['attach']> {
    if (!this.isThere) return { ok: false, code: 'TERMINAL_UNAVAILABLE', message: 'No screen here.' };
    this.open++;
    this.sizes.push(size);
    let rest = 0;
    const flood = (): void => {
      while (rest > 0 && !this.isPaused) {
        const piece = Math.min(rest, 65_536);
        rest -= piece;
        this.said += piece;
        onOutput(Buffer.alloc(piece, 'x'));
      }
    };
    const view: TerminalView = {
      write(bytes) {
        const text = Buffer.from(bytes).toString('utf8');
        if (text === 'q') return onEnd('The terminal has ended.');
        rest = Number(/^flood (\d+)$/.exec(text)?.[1] ?? 0);
        if (rest > 0) flood();
        else onOutput(bytes);
      },
      resize: (next) => void this.sizes.push(next),
      pause: () => {
        this.isPaused = true;
      },
      resume: () => {
        this.isPaused = false;
        flood();
      },
      end: () => {
        this.open--;
      },
    };
    onOutput(Buffer.from(`${size.columns}x${size.rows}`));
    return { ok: true, value: view };
  }
}
