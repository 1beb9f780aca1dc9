import type { Clock } from '../../base/clock.ts';
import { within } from '../../base/pause.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import { Flood } from './flood.ts';
import { dismissed } from './questions.ts';
import { type Line, readLine, readState } from './wire.ts';

/** What came of an opening: the conversation's file and where its output begins, or why nothing did. */
export type OpeningOutcome =
  | { readonly ok: true; readonly file: string; readonly end: number }
  | { readonly ok: false; readonly code: 'AGENT_FAILED' | 'AGENT_UNAVAILABLE'; readonly message: string };

const stateId = 'open:state';

/** The time between the launch of pi and its first answer. What it writes behind that is `rest`. */
export class Opening {
  /** What a person should know. */
  readonly noise: string[] = [];
  readonly rest: { readonly line: Line; readonly end: number }[] = [];
  readonly #process: StdioProcess;
  readonly #clock: Clock;
  readonly #withinMs: number;
  #answer: ((answer: OpeningAnswer) => void) | undefined;
  #early: OpeningAnswer | undefined;
  #isOver = false;
  readonly #flood = new Flood((why) => {
    this.#process.passOver();
    this.exit(why);
  });
  /** It died behind its answer, so that nothing can be said to it any more. */
  lateExit: Extract<OpeningOutcome, { ok: false }> | undefined;

  constructor(process: StdioProcess, clock: Clock, withinMs: number) {
    this.#process = process;
    this.#clock = clock;
    this.#withinMs = withinMs;
  }

  /** One line of output; `end` is how far into the output file it goes. */
  take(text: string, end: number): void {
    const line = readLine(text);
    const isNoise = line.kind === 'complaint' || line.kind === 'garbage';
    if (!isNoise) this.#flood.understood();
    if (this.#isOver) this.rest.push({ line, end });
    else if (line.kind === 'response' && line.id === stateId) this.#settle({ line, end });
    else if (line.kind === 'question') void this.#process.writeLine(JSON.stringify(dismissed(line.id)));
    else if (isNoise) this.hearNoise(line.what, text.length);
  }

  /** Something in the output that says nothing; too much of it ends the opening. */
  hearNoise(what: string, bytes: number): void {
    if (this.#flood.mayTell(bytes)) this.noise.push(what);
  }

  /** The process is dead. */
  exit(reason: string): void {
    if (this.#isOver) this.lateExit = unavailable(reason);
    else this.#settle({ failure: unavailable(reason) });
  }

  /** Nobody waits for this opening any more; pi is not to blame. */
  interrupt(why: string): void {
    this.#settle({ failure: { ok: false, code: 'AGENT_FAILED', message: why } });
  }

  /** Asks pi where it keeps the conversation. `expected`: the file of the one that was to be loaded. */
  async open(expected: string | undefined): Promise<OpeningOutcome> {
    const answered = new Promise<OpeningAnswer>((resolve) => {
      this.#answer = resolve;
    });
    if (this.#early) return outcomeOf(this.#early, expected);
    const sent = this.#process.writeLine(JSON.stringify({ id: stateId, type: 'get_state' }));
    const silent = { failure: unavailable(`no answer within ${this.#withinMs / 1000} seconds`) };
    const answer = await within(
      this.#clock,
      this.#withinMs,
      sent.then(() => answered),
      silent,
    );
    return outcomeOf(answer, expected);
  }

  #settle(answer: OpeningAnswer): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#early = answer;
    this.#answer?.(answer);
  }
}

type OpeningAnswer =
  | { readonly line: Extract<Line, { kind: 'response' }>; readonly end: number }
  | { readonly failure: Extract<OpeningOutcome, { ok: false }> };

function outcomeOf(answer: OpeningAnswer, expected: string | undefined): OpeningOutcome {
  if ('failure' in answer) return answer.failure;
  const state = readState(answer.line.data);
  if (!state) return unavailable('its answer to get_state has an unknown shape');
  const { sessionFile, model } = state;
  if (sessionFile === undefined) return unavailable('it keeps no file; take --no-session out of the command');
  if (model === undefined) {
    const message = 'it has no model that it may use; sign in with pi itself (/login), or set an API key';
    return { ok: false, code: 'AGENT_FAILED', message };
  }
  if (expected !== undefined && sessionFile !== expected) {
    return { ok: false, code: 'AGENT_FAILED', message: `it opened ${sessionFile} instead of ${expected}` };
  }
  return { ok: true, file: sessionFile, end: answer.end };
}

function unavailable(message: string): Extract<OpeningOutcome, { ok: false }> {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
