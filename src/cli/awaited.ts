import type { Holding } from '../contract/execution.ts';
import { heldBy } from '../words/held-by.ts';
import { holdingWords } from '../words/tree-words.ts';
import type { CliContext } from './context.ts';
import { adviceFor } from './why.ts';

/** What goes on only when a person does something. */
const people: ReadonlySet<string> = new Set(['waiting_input', 'waiting_capacity', 'waiting_login']);

/** Tells whoever waits silently that a person is waited for, and what to do: once for each question. */
export class Awaited {
  readonly #context: CliContext;
  readonly #told = new Set<string>();

  constructor(context: CliContext) {
    this.#context = context;
  }

  /** With `--json` nothing is said: the answer has it. */
  tell(holding: readonly Holding[] = []): void {
    if (this.#context.isJson) return;
    for (const held of holding) {
      const print = `${held.executionId} ${held.noticeId} ${held.evidence}`;
      if (!people.has(heldBy(held)) || this.#told.has(print)) continue;
      this.#told.add(print);
      for (const line of heldLines(this.#context, held, 'waits for: ')) this.#context.talk(line);
    }
  }
}

/** `name (waiting 14s for input: Which one?)`, and below it what can be done. */
export function heldLines({ deps }: CliContext, held: Holding, mark = '- '): string[] {
  return [`${mark}${holdingWords(held, new Map(), deps.clock.now())}`, `    -> ${adviceFor(held)}`];
}
