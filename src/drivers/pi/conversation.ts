import { within } from '../../base/pause.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import { refused } from '../outcomes.ts';
import type {
  Conversation,
  Delivery,
  Evidence,
  Located,
  OpenRequest,
  SendOutcome,
  ToolCall,
} from '../port.ts';
import { Dialogs } from './dialogs.ts';
import { evidenceOf } from './evidence.ts';
import { Flood } from './flood.ts';
import { Leftover } from './leftover.ts';
import type { ConversationParts } from './parts.ts';
import { releaseRead } from './release.ts';
import { hashOf, type SentEntry } from './sent-log.ts';
import { callIdKey } from './tool-client.ts';
import { PiTracker } from './tracker.ts';
import { turnIdOf } from './turn.ts';
import { type Line, readLine } from './wire.ts';

const graceMs = 2000;
/** How long an answer of pi to a text is waited for; it answers at once unless it compacts first. Milliseconds. */
const answerMs = 5000;

/** One conversation with a living pi, or with one that has just died. The driver's `open` makes them. */
export class PiConversation implements Conversation {
  readonly nativeId: string;
  readonly #parts: ConversationParts;
  readonly #tracker: PiTracker;
  readonly #dialogs: Dialogs;
  readonly #leftover: Leftover;
  readonly #flood: Flood;
  /** The write of the last text: until it is over nobody knows. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #answered = new Map<string, () => void>();
  /** What was asked for while an old output was read again; it is asked when that is done. */
  #isLive = false;
  #isDead = false;
  #isMuted = false;

  constructor(parts: ConversationParts) {
    this.nativeId = parts.file;
    this.#parts = parts;
    this.#dialogs = this.#makeDialogs();
    this.#leftover = this.#makeLeftover();
    this.#flood = new Flood((why) => {
      this.noise(`pi is ended: ${why}`);
      parts.process.passOver();
      void parts.process.end({ graceMs });
    });
    this.#tracker = this.#makeTracker();
  }

  /** One line of output; `end` is how far into the output file it goes. */
  take(line: string, end: number): void {
    const read = readLine(line);
    if (read.kind !== 'garbage') this.#flood.understood();
    else if (!this.#flood.mayTell(line.length)) return;
    this.takeRead(read, end);
  }

  /** The same for a line that was read already. */
  takeRead(line: Line, end: number): void {
    const waited = this.#tracker.turn?.isWaiting;
    this.#tracker.take(line, this.#parts.log.base + end);
    if (waited === true) this.#dialogs.askAgain();
    if (this.#tracker.hasAnswered && !this.#parts.log.isKept) this.#note({ t: 'kept' });
  }

  /** Something in the output was no line; so many bytes of it. */
  hearNoise(what: string, bytes: number): void {
    if (this.#flood.mayTell(bytes)) this.noise(what);
  }

  /** Something that a person should see: it is told, and changes nothing. */
  noise(what: string): void {
    this.#tracker.say({ type: 'noise', what });
  }

  /** The process is dead and its output was read to the end. */
  exit(reason: string): void {
    this.#isDead = true;
    this.#leftover.stop();
    this.#dialogs.forget();
    this.#tracker.exit(this.#flood.explain(reason));
    for (const answer of this.#answered.values()) answer();
  }

  /** The old output has been read to its end: what it leaves to be asked is asked now. */
  goLive(): void {
    this.#isLive = true;
    this.#dialogs.goLive();
    const prompt = this.#tracker.texts.waitingPrompt();
    if (prompt?.fate === 'accepted') this.#ask(`check:${prompt.id}`, { type: 'get_state' });
    const at = this.#tracker.turn?.ending;
    if (at === undefined) return;
    if (!this.#leftover.resume(at)) this.#ask(`idle:${at}`, { type: 'get_state' });
  }

  /** What is certain of the texts, and how far the output was read. */
  summary(): { readonly decided: ReturnType<PiTracker['texts']['decided']>; readonly position: number } {
    return { decided: this.#tracker.texts.decided(), position: this.#tracker.position };
  }

  async start(delivery: Delivery): Promise<SendOutcome> {
    await this.#parts.process.drain();
    const { turn, texts } = this.#tracker;
    const open = turn?.id ?? texts.waitingPrompt()?.id;
    if (open !== undefined) return refused(`pi is still at work on ${open}`);
    const id = turnIdOf(delivery.id);
    const outcome = await this.#sendText(delivery, 'prompt', id, { type: 'prompt' });
    const text = texts.get(delivery.id);
    return text?.fate === 'refused' ? refused(text.reason ?? 'pi refused it') : outcome;
  }

  async steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome> {
    await this.#parts.process.drain();
    const { turn, texts } = this.#tracker;
    if (!turn || (nativeTurnId !== undefined && turn.id !== nativeTurnId))
      return refused('that turn does not run');
    if (turn.ending !== undefined) return refused('the turn is ending');
    const outcome = await this.#sendText(delivery, 'steer', `steer:${delivery.id}`, { type: 'steer' });
    const text = texts.get(delivery.id);
    if (text?.fate === 'refused') return refused(text.reason ?? 'pi refused it');
    if (outcome.outcome !== 'written' || text?.fate !== 'open') return outcome;
    return { outcome: 'uncertain', reason: 'pi has not said that it has the text' };
  }

  async withdraw(): Promise<'unknown'> {
    return 'unknown';
  }

  async interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#parts.process.drain();
    const { turn } = this.#tracker;
    if (this.#isDead || !turn || (nativeTurnId !== undefined && turn.id !== nativeTurnId)) return 'idle';
    if (turn.ending !== undefined) return 'asked';
    this.#dialogs.dismissAll();
    const outcome = await this.#write({ id: `abort:${turn.id}`, type: 'abort' });
    return outcome === 'written' ? 'asked' : 'unknown';
  }

  async evidence(deliveryId: string): Promise<Evidence> {
    await this.#writing;
    await this.#parts.process.drain();
    return evidenceOf(deliveryId, this.#tracker.texts, this.#parts.log);
  }

  async locate({ meta }: ToolCall): Promise<Located> {
    await this.#parts.process.drain();
    const callId = meta[callIdKey];
    return this.#tracker.locate(typeof callId === 'string' ? callId : undefined);
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    await this.#parts.process.drain();
    return !this.#isDead && this.#dialogs.answer(questionId, choice);
  }

  async detach(): Promise<void> {
    this.#isMuted = true;
    this.#leftover.stop();
    this.#parts.process.close();
  }

  hasLeftWork(): Promise<boolean> {
    return this.#parts.process.hasLeftWork();
  }

  async end(): Promise<'dead' | 'unkillable'> {
    this.#leftover.stop();
    const outcome = await this.#parts.process.end({ graceMs });
    this.#isMuted = true;
    this.#parts.process.close();
    return outcome;
  }

  async #sendText(
    { id, text }: Delivery,
    kind: 'prompt' | 'steer',
    commandId: string,
    command: { readonly type: string },
  ): Promise<SendOutcome> {
    const { log } = this.#parts;
    if (this.#isDead) return refused('the process of pi is dead');
    if (log.mayHaveArrived(id) && !this.#tracker.texts.isAbsent(id)) return refused(`${id} was sent before`);
    // pi would take a text that begins so for a command of its own.
    const message = text.startsWith('/') ? ` ${text}` : text;
    const noted = { id, kind, at: this.#tracker.position, hash: hashOf(message) };
    try {
      if (kind === 'prompt') releaseRead(this.#parts, this.summary());
      log.append({ t: 'text', ...noted });
    } catch (error) {
      return refused(`the text could not be noted: ${String(error)}`);
    }
    this.#tracker.texts.add(noted);
    const answered = new Promise<void>((resolve) => this.#answered.set(commandId, resolve));
    const sent = this.#write({ id: commandId, ...command, message }).then((outcome) =>
      this.#settleWrite(id, outcome),
    );
    this.#writing = sent;
    const outcome = await sent;
    if (outcome.outcome === 'written') await within(this.#parts.clock, answerMs, answered, undefined);
    this.#answered.delete(commandId);
    return outcome;
  }

  #settleWrite(id: string, outcome: 'written' | 'refused' | 'uncertain'): SendOutcome {
    if (outcome === 'uncertain') return { outcome, reason: 'pi did not read its input in time' };
    this.#note({ t: 'wrote', id, outcome });
    if (outcome === 'written') return { outcome };
    this.#tracker.texts.drop(id);
    return refused('the process of pi takes no more input');
  }

  #write(command: Readonly<Record<string, unknown>>): ReturnType<StdioProcess['writeLine']> {
    return this.#parts.process.writeLine(JSON.stringify(command));
  }

  /** Asks for something that an adopter would ask for again. */
  #ask(id: string, command: Readonly<Record<string, unknown>>): void {
    if (this.#isLive && !this.#isDead && !this.#isMuted) void this.#write({ id, ...command });
  }

  /** What cannot be noted is only less certain after a restart; that must not stop a running turn. */
  #note(noted: SentEntry): void {
    try {
      this.#parts.log.append(noted);
    } catch (error) {
      this.noise(`the log of what was sent cannot be written: ${String(error)}`);
    }
  }

  #makeTracker(): PiTracker {
    const { request, log, from, floor } = this.#parts;
    const owner = {
      emit: (event: Parameters<OpenRequest['emit']>[0]) => {
        if (!this.#isMuted) request.emit(event);
      },
      onMayBeIdle: (at: number) => this.#ask(`idle:${at}`, { type: 'get_state' }),
      onLeftover: (at: number) => {
        if (this.#isLive) this.#leftover.drop(at);
      },
      onStalled: (at: number) => this.#leftover.lookAgain(at),
      onStuck: (why: string) => {
        if (this.#isLive) this.#leftover.giveUp(why);
      },
      onAccepted: (id: string) => this.#ask(`check:${id}`, { type: 'get_state' }),
      onQuestion: this.#dialogs.take.bind(this.#dialogs),
      onTurnEnded: (turnId: string) => {
        this.#leftover.stop();
        this.#dialogs.forget(turnId);
      },
      onResponse: (id: string) => this.#answered.get(id)?.(),
    };
    const tracker = new PiTracker(owner, { from, floor });
    for (const text of log.texts.values()) if (text.outcome !== 'refused') tracker.texts.add(text);
    return tracker;
  }

  #makeLeftover(): Leftover {
    const { clock, log, file, process } = this.#parts;
    return new Leftover(clock, {
      wasAsked: (at) => log.drops.has(at),
      ask: (at) => {
        this.#note({ t: 'drop', at });
        this.#ask(`drop:${at}`, { type: 'switch_session', sessionPath: file });
      },
      look: (at) => {
        if (this.#tracker.turn?.ending === at) this.#ask(`idle:${at}`, { type: 'get_state' });
      },
      end: (why) => {
        if (this.#isDead || this.#isMuted) return;
        this.noise(`pi is ended, because its queue cannot be dropped: ${why}`);
        void process.end({ graceMs });
      },
    });
  }

  #makeDialogs(): Dialogs {
    return new Dialogs({
      policy: this.#parts.request.profile.onQuestion ?? 'deny',
      onAsk: (asked) => this.#tracker.say({ type: 'waiting', waitsFor: 'input', ...asked }),
      onSettled: () => this.#tracker.say({ type: 'resumed' }),
      wasReplied: (id) => this.#parts.log.replied.has(id),
      mayTell: (turnId) => this.#tracker.waitsForNoLimit(turnId),
      reply: (id, said) => {
        if (this.#isDead) return;
        void this.#write(said).then((outcome) => {
          if (outcome === 'written') this.#note({ t: 'replied', id });
        });
      },
    });
  }
}
