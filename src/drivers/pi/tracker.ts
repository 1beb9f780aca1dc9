import { assertNever } from '../../base/assert-never.ts';
import type { DriverReport, Located } from '../port.ts';
import { readAgentError } from './agent-error.ts';
import { Calls } from './calls.ts';
import { Outbox } from './outbox.ts';
import { type Text, Texts } from './texts.ts';
import type { TrackerOwner } from './tracker-owner.ts';
import { PiTurn, turnIdOf } from './turn.ts';
import { brief, type Line, readState, wasCancelled } from './wire.ts';

const longestItem = 64 * 1024;
/** A text that pi gets behind the moment in which it looks at its queue stays there, so it is not waited for without end. */
const mostStalls = 5;

/**
 * Turns pi's output into events. It is told each line once, in order, and the texts as they are sent; it does no I/O and
 * reads no clock, so the same lines give the same events, also when an adopter reads them again.
 */
export class PiTracker {
  readonly #owner: TrackerOwner;
  readonly #outbox: Outbox;
  /** What was sent to this process, and what became of it. */
  readonly texts = new Texts();
  readonly #calls = new Calls();
  #turn: PiTurn | undefined;
  #reports: DriverReport[] = [];
  #isDead = false;
  /** Whether pi has said anything to its end: only then does it keep the conversation. */
  hasAnswered = false;

  constructor(owner: TrackerOwner, at: { readonly from: number; readonly floor: number }) {
    this.#owner = owner;
    this.#outbox = new Outbox(owner.emit, at.from, at.floor);
  }

  /** How far the output was read. */
  get position(): number {
    return this.#outbox.position;
  }

  /** The turn that was not told as ended. */
  get turn(): Readonly<PiTurn> | undefined {
    return this.#turn;
  }

  /** Whether this turn runs and no limit is waited for. */
  waitsForNoLimit(turnId: string): boolean {
    return this.#turn?.id === turnId && !this.#turn.isWaiting;
  }

  /** In which turn a call was made. */
  locate(callId: string | undefined): Located {
    const turnId = callId === undefined ? undefined : this.#calls.turnOf(callId);
    if (turnId === undefined) return { state: 'unknown' };
    if (this.#isDead || this.#turn?.id !== turnId) return { state: 'ended' };
    return { state: 'running', nativeTurnId: turnId };
  }

  /** One line of output; `end` is the position behind it. */
  take(line: Line, end: number): void {
    this.#reports = [];
    const after = this.#read(line, end);
    this.#outbox.tellLine(end, this.#reports);
    after?.();
  }

  /** Something that is not in the output: it is told at the position reached. */
  readonly say = (report: DriverReport): void => this.#outbox.tellNow(report);

  /** The process is dead and its output read to the end. Returns the position of that event, the last of this process. */
  exit(reason: string): number {
    this.#isDead = true;
    this.#reports = [];
    // Nothing can follow a run any more, so its end was the end of the turn.
    if (this.#turn?.ending !== undefined) this.#endTurn(this.#turn);
    this.#turn = undefined;
    this.texts.close();
    this.#reports.push({ type: 'exited', reason });
    return this.#outbox.tellLast(this.#reports);
  }

  // What is to be done comes back as a function, to be called when the line's events were told.
  #read(line: Line, end: number): (() => void) | undefined {
    switch (line.kind) {
      case 'response':
        return this.#readResponse(line, end);
      case 'agentStart':
        return this.#beginRun(end);
      case 'agentEnd':
        return this.#endRun(end);
      case 'userMessage':
        return this.#readUserMessage(line.text, end);
      case 'answer':
        return this.#readAnswer(line);
      case 'toolStart':
        return this.#readCall(line.callId, line.text);
      case 'toolEnd':
        this.#item('toolResult', line.text, line.callId);
        return undefined;
      case 'retryStart':
        return this.#waitForRetry(line.error);
      case 'retryEnd':
        return this.#endRetry(line, end);
      case 'compactionStart':
        if (this.#turn) this.#turn.ending = undefined;
        return undefined;
      case 'compactionEnd':
        return this.#endCompaction(line, end);
      case 'question':
        return () => this.#owner.onQuestion(line, this.#turn?.id);
      case 'complaint':
      case 'garbage':
        return this.#noise(line.what);
      case 'quiet':
        return undefined;
      default:
        return assertNever(line);
    }
  }

  #beginRun(end: number): undefined {
    if (this.#turn) {
      this.#turn.goOn();
      this.#resume(this.#turn);
      return;
    }
    const prompt = this.texts.waitingPrompt();
    this.#beginTurn(prompt?.fate === 'accepted' ? prompt : end);
  }

  #beginTurn(from: Readonly<Text> | number): PiTurn {
    const turn =
      typeof from === 'number'
        ? new PiTurn(`own:${from}`, undefined)
        : new PiTurn(turnIdOf(from.id), from.id);
    if (typeof from !== 'number') this.texts.consume(from.id, turn.id);
    this.#turn = turn;
    const ours = turn.deliveryId === undefined ? {} : { deliveryId: turn.deliveryId };
    this.#reports.push({ type: 'turnStarted', nativeTurnId: turn.id, ...ours });
    return turn;
  }

  #endRun(end: number): (() => void) | undefined {
    if (!this.#turn?.isActive) return this.#noise('an end of a run that never began');
    this.#turn.isActive = false;
    return this.#settleAt(this.#turn, end);
  }

  #settleAt(turn: PiTurn, end: number): () => void {
    turn.ending = end;
    return () => this.#owner.onMayBeIdle(end);
  }

  #endTurn(turn: PiTurn): void {
    this.#turn = undefined;
    // An adopter knows all texts from the start, also those of later turns.
    this.texts.closeSteers(turn.ending ?? 0);
    this.#reports.push(turn.report());
  }

  #readUserMessage(text: string, end: number): undefined {
    if (this.#turn?.expectsOwnText) this.#turn.expectsOwnText = false;
    else this.#take(text, end);
    this.#item('user', text);
  }

  #take(text: string, end: number): void {
    const steer = this.texts.steerOf(text, end);
    const turn = this.#turn;
    if (!steer || !turn) return;
    this.texts.consume(steer.id, turn.id);
    this.#reports.push({ type: 'taken', nativeTurnId: turn.id, deliveryId: steer.id });
  }

  #readAnswer(line: Extract<Line, { kind: 'answer' }>): undefined {
    this.hasAnswered = true;
    this.#turn?.hear(line);
    if (line.thought !== '') this.#item('thought', line.thought);
    if (line.text !== '') this.#item('text', line.text);
  }

  #readCall(callId: string, text: string): undefined {
    if (this.#turn) this.#calls.add(callId, this.#turn.id);
    this.#item('toolCall', text, callId);
  }

  #waitForRetry(error: string): undefined {
    const turn = this.#turn;
    if (!turn) return;
    turn.ending = undefined;
    if (readAgentError(error).kind !== 'capacity') return;
    turn.isWaiting = true;
    this.#reports.push({ type: 'waiting', waitsFor: 'capacity', text: brief(error, 500) });
  }

  #resume(turn: PiTurn): void {
    if (!turn.isWaiting) return;
    turn.isWaiting = false;
    this.#reports.push({ type: 'resumed' });
  }

  #endRetry(line: Extract<Line, { kind: 'retryEnd' }>, end: number): (() => void) | undefined {
    const turn = this.#turn;
    if (!turn || line.ok || turn.isActive) return undefined;
    if (line.error === 'Retry cancelled') turn.stopRetrying();
    this.#resume(turn);
    return this.#settleAt(turn, end);
  }

  #endCompaction(line: Extract<Line, { kind: 'compactionEnd' }>, end: number): (() => void) | undefined {
    const turn = this.#turn;
    if (!turn || turn.isActive || (line.ok && line.willRetry)) return undefined;
    turn.goesOn = line.ok;
    turn.timesStalled = 0;
    return this.#settleAt(turn, end);
  }

  #readResponse(line: Extract<Line, { kind: 'response' }>, end: number): () => void {
    const act = this.#readAnswerTo(line, end);
    return () => {
      act?.();
      this.#owner.onResponse(line.id);
    };
  }

  #readAnswerTo(line: Extract<Line, { kind: 'response' }>, end: number): (() => void) | undefined {
    const [, what = '', of = ''] = /^(\w*):?(.*)$/s.exec(line.id) ?? [];
    if (what === 'prompt') return this.#readPromptResponse(of, line);
    if (what === 'steer') this.texts.answer(of, 'steer', line.ok ? undefined : line.error);
    if (what === 'idle') return this.#readIdle(Number(of), line);
    if (what === 'drop') return this.#readDrop(Number(of), line);
    if (what === 'check') this.#readCheck(of, line, end);
    if (what === '' && !line.ok) return this.#noise(`pi refused a command: ${brief(line.error)}`);
    return undefined;
  }

  #readPromptResponse(
    id: string,
    { ok, error }: Extract<Line, { kind: 'response' }>,
  ): (() => void) | undefined {
    const needsLogin = !ok && !this.#turn && readAgentError(error).kind === 'login';
    if (!this.texts.answer(id, 'prompt', ok || needsLogin ? undefined : error)) return undefined;
    if (ok) return () => this.#owner.onAccepted(id);
    const prompt = this.texts.get(id);
    if (!needsLogin || !prompt) return undefined;
    // Without a sign-in pi takes no text at all; told as a turn, so that it is known what is waited for.
    const turn = this.#beginTurn(prompt);
    turn.fail(error);
    this.#endTurn(turn);
    return () => this.#owner.onTurnEnded(turn.id);
  }

  #readIdle(at: number, { data }: Extract<Line, { kind: 'response' }>): (() => void) | undefined {
    const turn = this.#turn;
    const state = readState(data);
    if (!turn || turn.ending !== at) return undefined;
    if (!state) return () => this.#owner.onStuck('it does not say whether it is idle');
    if (state.isStreaming || state.isCompacting) return undefined;
    if (state.pending > 0 && turn.goesOn && ++turn.timesStalled < mostStalls)
      return () => this.#owner.onStalled(at);
    if (state.pending > 0) return () => this.#owner.onLeftover(at);
    this.#endTurn(turn);
    return () => this.#owner.onTurnEnded(turn.id);
  }

  #readDrop(at: number, { ok, error, data }: Extract<Line, { kind: 'response' }>): (() => void) | undefined {
    const turn = this.#turn;
    if (!turn || turn.ending !== at) return undefined;
    if (!ok || wasCancelled(data))
      return () => this.#owner.onStuck(error === '' ? 'an extension forbids it' : error);
    this.#endTurn(turn);
    return () => this.#owner.onTurnEnded(turn.id);
  }

  // An extension of the user's may handle a text by itself: then no run begins, and that is all that will happen.
  #readCheck(id: string, { data }: Extract<Line, { kind: 'response' }>, end: number): void {
    const prompt = this.texts.get(id);
    const state = readState(data);
    if (!prompt || prompt.fate !== 'accepted' || this.#turn || !state || state.isStreaming) return;
    if (end <= prompt.at) return;
    this.#endTurn(this.#beginTurn(prompt));
  }

  #item(kind: 'text' | 'thought' | 'toolCall' | 'toolResult' | 'user', text: string, id?: string): void {
    const cut =
      text.length <= longestItem ? text : `${text.slice(0, longestItem)}… (${text.length} characters)`;
    const item = { kind, text: cut, ...(id === undefined ? {} : { id }) };
    this.#reports.push({ type: 'item', ...(this.#turn ? { nativeTurnId: this.#turn.id } : {}), item });
  }

  #noise(what: string): undefined {
    this.#reports.push({ type: 'noise', what });
  }
}
