import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import { type IPty, spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const program = fileURLToPath(new URL('../../dist/main/stemma.js', import.meta.url));
const size = { cols: 110, rows: 40 };

/** `stemma session attach` in a terminal of its own, as a person sees it. */
export class Attached {
  readonly #pty: IPty;
  readonly #terminal = new xterm.Terminal({ ...size, allowProposedApi: true });
  readonly exited: Promise<number>;

  readonly #patienceMs: number;

  /** `patienceMs`: how long the screen may take to show something. */
  constructor(dataDir: string, session: string, patienceMs: number) {
    this.#patienceMs = patienceMs;
    const argv = [program, 'session', 'attach', session, '--data', dataDir];
    this.#pty = spawn(process.execPath, argv, { ...size, name: 'xterm-256color' });
    this.#pty.onData((data) => this.#terminal.write(data));
    // A real terminal answers what a program asks of it.
    this.#terminal.onData((answer) => this.#pty.write(answer));
    this.exited = new Promise((resolve) => this.#pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  /** What is on the screen, without blanks at the ends of lines. */
  screen(): string {
    const { active } = this.#terminal.buffer;
    const lines = Array.from({ length: size.rows }, (_, row) =>
      active.getLine(active.viewportY + row)?.translateToString(true),
    );
    return lines.join('\n').trimEnd();
  }

  /** Waits until the screen fits. */
  async shows(what: string | RegExp, withinMs = this.#patienceMs): Promise<void> {
    const until = Date.now() + withinMs;
    const fits = (): boolean =>
      typeof what === 'string' ? this.screen().includes(what) : what.test(this.screen());
    while (!fits()) {
      if (Date.now() > until) throw new Error(`the screen does not show ${String(what)}:\n${this.screen()}`);
      await delay(30);
    }
  }

  /** Pastes a text, as terminals do it, waits until it is in the composer, and submits it. */
  async submit(text: string): Promise<void> {
    this.#pty.write(`\x1b[200~${text}\x1b[201~`);
    await this.shows(text.slice(0, 30));
    this.#pty.write('\r');
  }

  press(keys: string): void {
    this.#pty.write(keys);
  }

  /** Leaves by the key; resolves with the exit code. */
  detach(): Promise<number> {
    this.#pty.write('\x1d');
    return this.exited;
  }

  /** Ends it, if it has not ended. */
  close(): void {
    try {
      this.#pty.kill('SIGKILL');
    } catch {
      // It has ended.
    }
    this.#terminal.dispose();
  }
}
