import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { CancelTimer, Clock } from '../base/clock.ts';
import type { SessionId } from '../base/ids.ts';
import { readControlLine } from './control-lines.ts';
import type { Tmux } from './tmux.ts';

/** What is told of a terminal. Neither callback may throw. */
export interface ControlHearer {
  /** The program has written something. False: no more can be taken until the client is told to go on. */
  readonly onOutput: (bytes: Buffer) => boolean;
  /** What was told may not be all: something was left out, or the size is another. */
  readonly onDoubt: () => void;
}

interface Question {
  /** How many answers are still to come: one for each command of the line. */
  missing: number;
  readonly answers: string[];
  readonly onAnswers: (answers: readonly string[] | undefined) => void;
  readonly cancel: CancelTimer;
}

const answerWithinMs = 10_000;
/** tmux leaves out what a client is so many seconds late with, and says so. */
const flags = 'ignore-size,pause-after=5';
/** No line is longer: tmux cuts what a program writes into pieces, and a screen is bounded. */
const longestLine = 16 * 1024 * 1024;

/**
 * A client of our tmux in control mode, attached to one terminal: it hears everything that the program there writes, and may
 * give commands, whose answers come in the order of what is heard. It has no size and draws nothing. It ends with the
 * terminal, with us, and when it does not answer.
 */
export class ControlClient {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #clock: Clock;
  readonly #hearer: ControlHearer;
  readonly #questions: Question[] = [];
  /** Resolves with whether it is attached. */
  readonly attached: Promise<boolean>;
  #settleAttached: (isAttached: boolean) => void = () => undefined;
  #parts: string[] = [];
  #block: { readonly number: string; readonly isOurs: boolean; readonly lines: string[] } | undefined;
  #isOver = false;

  /** `program`: the path of tmux. */
  constructor(tmux: Tmux, program: string, owner: SessionId, clock: Clock, hearer: ControlHearer) {
    this.#clock = clock;
    this.#hearer = hearer;
    const command = tmux.arguments('-C', 'attach-session', '-t', `=${owner}`, '-f', flags);
    this.#child = spawn(program, command, { env: { ...tmux.env }, cwd: '/', stdio: 'pipe' });
    this.attached = new Promise((resolve) => {
      this.#settleAttached = resolve;
    });
    const cancel = clock.after(answerWithinMs, () => this.end());
    void this.attached.then(cancel);
    this.#child.stdout.setEncoding('latin1');
    this.#child.stdout.on('data', (text: string) => this.#hear(text));
    this.#child.stderr.resume();
    this.#child.stdin.on('error', () => this.end());
    this.#child.on('error', () => this.end());
    this.#child.on('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Gives commands, as one line. `onAnswers` hears the answer of each, before anything that was written after them;
   * undefined when one fails, or the client is over.
   */
  ask(commands: readonly string[], onAnswers: (answers: readonly string[] | undefined) => void): void {
    if (this.#isOver) return onAnswers(undefined);
    const cancel = this.#clock.after(answerWithinMs, () => this.end());
    this.#questions.push({ missing: commands.length, answers: [], onAnswers, cancel });
    this.#child.stdin.write(`${commands.join(' ; ')}\n`);
  }

  /** Whoever hears can take more. */
  goOn(): void {
    this.#child.stdout.resume();
  }

  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#settleAttached(false);
    this.#child.kill('SIGTERM');
    this.#child.stdout.destroy();
    for (const { onAnswers, cancel } of this.#questions.splice(0)) {
      cancel();
      onAnswers(undefined);
    }
  }

  #hear(text: string): void {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#take(this.#parts.length > 0 ? [...this.#parts.splice(0), line].join('') : line);
      if (this.#isOver) return;
    }
    if (rest !== '') this.#parts.push(rest);
    if (this.#parts.reduce((total, part) => total + part.length, 0) > longestLine) this.end();
  }

  #take(raw: string): void {
    const line = readControlLine(raw);
    if (this.#block) {
      // What is on a screen may look like an end, but not like this one.
      if (line.type !== 'end' || line.number !== this.#block.number) return void this.#block.lines.push(raw);
      const { isOurs, lines } = this.#block;
      this.#block = undefined;
      if (isOurs) return this.#answer(lines, line.isOk);
      return line.isOk ? this.#settleAttached(true) : this.end();
    }
    if (line.type === 'begin') this.#block = { number: line.number, isOurs: line.isOurs, lines: [] };
    else if (line.type === 'output') {
      if (!this.#hearer.onOutput(line.bytes)) this.#child.stdout.pause();
    } else if (line.type === 'resized') this.#hearer.onDoubt();
    else if (line.type === 'paused') {
      this.ask([`refresh-client -A ${line.pane}:continue`], () => undefined);
      this.#hearer.onDoubt();
    }
  }

  #answer(lines: readonly string[], isOk: boolean): void {
    const [question] = this.#questions;
    if (!question) return;
    question.answers.push(lines.join('\n'));
    // A command that fails ends its line: there is nothing to wait for behind it.
    if (--question.missing > 0 && isOk) return;
    this.#questions.shift();
    question.cancel();
    question.onAnswers(isOk ? question.answers : undefined);
  }
}
