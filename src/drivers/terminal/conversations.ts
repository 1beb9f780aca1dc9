import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';

const entry = z.object({ from: z.string(), id: z.string(), path: z.string(), base: z.number() });

/** One conversation that a session's agent had. */
export interface Followed {
  readonly id: string;
  /** Its transcript, where that is not the one that the id alone says. */
  readonly path?: string;
  /** The position at which its transcript begins: positions count on over the conversations of a session. */
  readonly base: number;
}

/**
 * The conversations of a session, each begun at the screen in the place of the one before. A new one is written down before
 * anything is read of it, so that a later process of ours counts positions as this one did.
 */
export class ConversationLog {
  readonly #file: string;
  #all: readonly Followed[];

  /** `nativeId`: any conversation of the session. Throws when the log cannot be read. */
  constructor(directory: string, nativeId: string) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#file = join(directory, 'conversations.jsonl');
    const lines = (readIfThere(this.#file) ?? '').split('\n');
    const entries = lines.flatMap((line) => entry.safeParse(parseJson(line)).data ?? []);
    const [first] = entries;
    const isOurs = first && [first.from, ...entries.map(({ id }) => id)].includes(nativeId);
    const followed = entries.map(({ id, path, base }) => ({ id, path, base }));
    this.#all = isOurs ? [{ id: first.from, base: 0 }, ...followed] : [{ id: nativeId, base: 0 }];
  }

  /** Oldest first; never empty. */
  get all(): readonly Followed[] {
    return this.#all;
  }

  get last(): Followed {
    return this.#all.at(-1) as Followed;
  }

  /** From now on the agent has this one. Throws when it cannot be written down: then it must not be followed. */
  add(next: Required<Followed>): void {
    const line = JSON.stringify({ from: this.last.id, ...next });
    // Half a line of an earlier process must not swallow it.
    appendFileSync(this.#file, `\n${line}\n`, { mode: 0o600 });
    this.#all = [...this.#all, next];
  }
}
