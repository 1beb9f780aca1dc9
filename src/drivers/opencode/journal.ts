import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import type { DriverEvent } from '../port.ts';
import { reduce } from './reduce.ts';
import type { Signal } from './signal.ts';
import { newSessionState, type SessionState } from './state.ts';

/*
 * opencode numbers nothing that could be heard again, and what it keeps of a turn does not say when it ended. So what was
 * heard is kept here, before it is told: a state, and the signals since. Positions count the events that follow from them, so that
 * the next process of ours finds the same events at the same positions, and goes on behind them with what the record says.
 */

const header = z.object({
  version: z.literal(1),
  state: z.looseObject({ sessionId: z.string(), position: z.number() }),
});

/** What a session's directory keeps of what was heard. */
export class Journal {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * Opens the journal of a session. `state`: after everything in it. `unheard`: the events behind `position`, which may not
   * have been processed. What was processed is dropped from the file. Throws when the directory cannot be used.
   */
  static open(
    directory: string,
    sessionId: string,
    { position, unresolved }: { readonly position: number; readonly unresolved: readonly string[] },
  ): { journal: Journal; state: SessionState; unheard: DriverEvent[]; isNew: boolean } {
    const path = journalPath(directory);
    const known = read(path, sessionId);
    let base = known?.state ?? newSessionState(sessionId, position);
    const rest: Signal[] = [];
    let state = base;
    const unheard: DriverEvent[] = [];
    for (const signal of known?.signals ?? []) {
      const reduced = reduce(state, signal);
      state = reduced.state;
      if (rest.length === 0 && state.position <= position) base = state;
      else rest.push(signal);
      unheard.push(...reduced.events.filter((event) => event.position > position));
    }
    const isSent = known === undefined;
    if (rest.length === 0) base = behind(base, position, unresolved, isSent);
    state = behind(state, position, unresolved, isSent);
    const journal = new Journal(path);
    journal.#replace(base, rest);
    return { journal, state, unheard, isNew: known === undefined };
  }

  /** Keeps a signal. When this returns, our death cannot lose it. Throws when the disk refuses. */
  append(signal: Signal): void {
    appendFileSync(this.#path, `${JSON.stringify(signal)}\n`, { mode: 0o600 });
  }

  #replace(state: SessionState, signals: readonly Signal[]): void {
    const lines = [{ version: 1, state }, ...signals].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(`${this.#path}.new`, lines.join(''), { mode: 0o600 });
    renameSync(`${this.#path}.new`, this.#path);
  }
}

/** The conversation that the journal in a directory is about; undefined when there is none. */
export function sessionInJournal(directory: string): string | undefined {
  const text = readIfThere(journalPath(directory));
  return header.safeParse(parseJson(text?.slice(0, Math.max(0, text.indexOf('\n'))) ?? '')).data?.state
    .sessionId;
}

function journalPath(directory: string): string {
  return join(directory, 'opencode-journal.jsonl');
}

function read(path: string, sessionId: string): { state: SessionState; signals: Signal[] } | undefined {
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  // A last line without its end was cut by our death, before anybody was told of it.
  const lines = text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '');
  const first = header.safeParse(parseJson(lines[0] ?? ''));
  if (!first.success || first.data.state.sessionId !== sessionId) return undefined;
  // Only this program writes the file, and what follows the version is what it wrote.
  const state = first.data.state as unknown as SessionState;
  const signals = lines.slice(1).flatMap((line) => (parseJson(line) as Signal | undefined) ?? []);
  return { state, signals };
}

/** A state with texts of ours that it may not know, and not before what was processed. */
function behind(
  state: SessionState,
  position: number,
  unresolved: readonly string[],
  isSent: boolean,
): SessionState {
  const { deliveries } = newSessionState(state.sessionId, 0, unresolved, isSent);
  return {
    ...state,
    position: Math.max(state.position, position),
    deliveries: { ...deliveries, ...state.deliveries },
  };
}
