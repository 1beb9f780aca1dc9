import { basename } from 'node:path';
import type { Hook } from './hooks.ts';

/**
 * What a hook says of the conversation that the agent has. `cleared`: a person began a new, empty one with `/clear`, which can
 * be followed. `strayed`: the agent has one that cannot be, since what it holds is not known.
 */
export type Step =
  | { readonly step: 'none' }
  | { readonly step: 'cleared'; readonly id: string; readonly path: string }
  | { readonly step: 'strayed'; readonly path: string };

const none: Step = { step: 'none' };

/** Follows from hook to hook which conversation the agent has. Once it has strayed, nothing more is followed. */
export class HookTrail {
  /** The files of the transcripts that are followed. */
  readonly #known: Set<string>;
  /** The conversation that the agent said last that it began or resumed. */
  #current: string | undefined;
  #isLost = false;

  constructor(known: readonly string[]) {
    this.#known = new Set(known.map((path) => basename(path)));
  }

  hear({ hook_event_name: name, source, transcript_path: path, session_id: id }: Hook): Step {
    if (path === undefined || this.#isLost) return none;
    const file = basename(path);
    if (this.#known.size === 0) this.#known.add(file);
    if (name !== 'SessionStart') return this.#known.has(file) ? none : this.#stray(path);
    const isFirst = this.#current === undefined;
    const isSame = this.#current === file;
    const isKnown = this.#known.has(file);
    if (isSame || (isKnown && (isFirst || source === 'clear'))) {
      this.#current = file;
      return none;
    }
    // The same file is never begun twice, so what is in it is all news.
    if (source !== 'clear' || id === undefined || isKnown) return this.#stray(path);
    this.#known.add(file);
    this.#current = file;
    return { step: 'cleared', id, path };
  }

  #stray(path: string): Step {
    this.#isLost = true;
    return { step: 'strayed', path };
  }
}
