import type { SessionId } from '../base/ids.ts';
import type { Tmux } from './tmux.ts';

/** What we type at a terminal of ours, beside whoever else looks at it. Nothing throws; false: it is gone. */
export class Keyboard {
  readonly #tmux: Tmux;
  readonly #target: string;

  constructor(tmux: Tmux, owner: SessionId) {
    this.#tmux = tmux;
    this.#target = `=${owner}:`;
  }

  /**
   * Pastes a text, marked as a paste, and submits it, in one go: what a person types at the same moment comes before or after
   * it, never between.
   */
  async submit(text: string): Promise<boolean> {
    // Its name is its own, so that two at once do not take each other's text.
    const buffer = `stemma${this.#target}`;
    const loaded = await this.#tmux.run(['load-buffer', '-b', buffer, '-'], text);
    if (!loaded.ok) return false;
    const paste = ['paste-buffer', '-p', '-d', '-b', buffer, '-t', this.#target];
    return (await this.#tmux.run([...paste, ';', 'send-keys', '-t', this.#target, 'Enter'])).ok;
  }

  /** Presses a key, by its name in tmux: `Enter`, `Escape`, `C-u`. */
  async press(key: string): Promise<boolean> {
    return (await this.#tmux.run(['send-keys', '-t', this.#target, key])).ok;
  }
}
