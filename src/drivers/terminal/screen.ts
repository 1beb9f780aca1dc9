import type { Clock } from '../../base/clock.ts';
import type { SessionId } from '../../base/ids.ts';
import { pause } from '../../base/pause.ts';
import type { Keyboard } from '../../terminal/keyboard.ts';
import type { Mirror } from '../../terminal/mirror.ts';
import type { TmuxTerminals } from '../../terminal/tmux-terminals.ts';
import { readScreen, type Seen } from './composer.ts';

const betweenLooksMs = 200;
/** How often its last line may be deleted before a composer is given up. */
const mostDeletions = 40;

/** The agent's screen, and what we do at it. Whoever made it closes it. */
export class AgentScreen {
  readonly #keyboard: Keyboard;
  readonly #mirror: Mirror;
  readonly #clock: Clock;

  constructor(terminals: TmuxTerminals, owner: SessionId, clock: Clock) {
    this.#keyboard = terminals.keyboard(owner);
    this.#mirror = terminals.mirror(owner);
    this.#clock = clock;
  }

  /** What is on it; undefined when the terminal is gone. */
  async look(): Promise<Seen | undefined> {
    const lines = await this.#mirror.look();
    return lines && readScreen(lines);
  }

  /** Nobody looks at it any more. */
  close(): void {
    this.#mirror.end();
  }

  /** Waits for a composer, at most so long; what was seen last. */
  async composed(withinMs: number, signal: AbortSignal): Promise<Seen | undefined> {
    const deadline = this.#clock.monotonic() + withinMs;
    for (;;) {
      const seen = await this.look();
      const isOver = seen === undefined || seen.composer.state !== 'absent' || signal.aborted;
      if (isOver || this.#clock.monotonic() >= deadline) return seen;
      await pause(this.#clock, betweenLooksMs, signal);
    }
  }

  /** Empties the composer of a text of ours; false when something stays in it. */
  async clear(): Promise<boolean> {
    for (let i = 0; i < mostDeletions; i++) {
      const seen = await this.look();
      if (seen?.composer.state !== 'text') return seen?.composer.state === 'empty';
      await this.#keyboard.press('C-u');
      await pause(this.#clock, 50);
    }
    return false;
  }

  submit(text: string): Promise<boolean> {
    return this.#keyboard.submit(text);
  }

  press(key: 'Enter' | 'Escape'): Promise<boolean> {
    return this.#keyboard.press(key);
  }
}

/** Whether the composer holds this very text, as far as it shows it: wrapped, or, where it is long, as a mark. */
export function holds({ composer }: Seen, text: string): boolean {
  if (composer.state !== 'text') return false;
  const shown = composer.text.replace(/\s+/g, '');
  const whole = text.replace(/\s+/g, '');
  if (shown.startsWith('[Pastedtext#')) return text.includes('\n') || text.length > 500;
  return shown !== '' && (whole.startsWith(shown) || shown.startsWith(whole));
}
