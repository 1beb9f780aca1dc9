import { AGENT_METHODS } from '@agentclientprotocol/sdk';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import type {
  Capabilities,
  Conversation,
  Delivery,
  Evidence,
  Located,
  OpenRequest,
  SendOutcome,
} from '../port.ts';
import { Garbage, mostUnheardBytes } from '../../processes/garbage.ts';
import { capabilities } from './capabilities.ts';
import { type Message, readMessage, writeMessage } from './messages.ts';
import { refusal } from './opening.ts';
import { Permissions } from './permissions.ts';
import { hashOf, type SentEntry, type SentLog } from './sent-log.ts';
import { turnIdOf, TurnTracker } from './tracker.ts';

const graceMs = 2000;

/** One conversation with a living agent process, or with one that has just died. The driver's `open` makes them. */
export class AcpConversation implements Conversation {
  readonly nativeId: string;
  readonly #process: StdioProcess;
  readonly #log: SentLog;
  readonly #request: OpenRequest;
  readonly #tracker: TurnTracker;
  readonly #permissions: Permissions;
  /** The write of the last prompt: until it is over nobody can say whether the agent has it. */
  #writing: Promise<unknown> = Promise.resolve();
  readonly #garbage = new Garbage();
  /** Why the agent was ended by us, when it was. */
  #flood: string | undefined;
  #isDead = false;
  #isMuted = false;

  /** `from` is a position at which no turn is open, or at which the open one began; events up to `floor` are known. */
  constructor(
    process: StdioProcess,
    log: SentLog,
    request: OpenRequest,
    session: { id: string; from: number; floor: number },
  ) {
    this.nativeId = session.id;
    this.#process = process;
    this.#log = log;
    this.#request = request;
    this.#permissions = this.#makePermissions();
    this.#tracker = this.#makeTracker(session);
  }

  /** One line of output; `end` is the position behind it. */
  take(line: string, end: number): void {
    const message = readMessage(line);
    if (message.kind === 'garbage' && !this.#mayTell(line.length)) return;
    if (message.kind !== 'garbage') this.#garbage.understood();
    this.takeMessage(message, end);
  }

  /** The same for a line that was read already. */
  takeMessage(message: Message, end: number): void {
    this.#tracker.take(message, end);
  }

  /** Nothing more is to be read for now: what was held back to be told together is told. */
  caughtUp(): void {
    this.#tracker.flush();
  }

  /** Something about the process made no sense: it is told, and changes nothing. */
  noise(what: string): void {
    this.#tracker.noise(what);
  }

  /** Something in the output was no line that can be read; so many bytes of it. */
  hearNoise(what: string, bytes: number): void {
    if (this.#mayTell(bytes, what)) this.noise(what);
  }

  /** The process is dead and its output was read to the end. */
  exit(reason: string): void {
    this.#isDead = true;
    this.#permissions.forget();
    this.#tracker.exit(this.#flood === undefined ? reason : `${reason}: ${this.#flood}`);
  }

  /** The old output has been read to its end: from now on the agent's requests are answered as they come. */
  goLive(): void {
    this.#permissions.goLive();
  }

  /** Prompts without an answer that the agent shows work on: their texts were taken up. */
  takenUp(): string[] {
    return [...this.#log.prompts.keys()].filter((id) => this.#tracker.get(id)?.hasStarted);
  }

  get capabilities(): Capabilities {
    return { ...capabilities, resume: this.#log.session?.isKept ? 'always' : 'never' };
  }

  hasLeftWork(): Promise<boolean> {
    return this.#process.hasLeftWork();
  }

  /** How far the output was read. */
  get position(): number {
    return this.#tracker.position;
  }

  async start({ id, text }: Delivery): Promise<SendOutcome> {
    await this.#drain();
    if (this.#isDead) return { outcome: 'refused', reason: 'the agent process is dead' };
    const open = this.#tracker.outstanding();
    if (open) return { outcome: 'refused', reason: `the agent has not answered ${open.id} yet` };
    if (this.#log.mayHaveArrived(id)) return { outcome: 'refused', reason: `${id} was sent before` };
    const params = { sessionId: this.nativeId, prompt: [{ type: 'text', text }] };
    const line = writeMessage({
      jsonrpc: '2.0',
      id: turnIdOf(id),
      method: AGENT_METHODS.session_prompt,
      params,
    });
    const at = this.#tracker.position;
    try {
      this.#log.append({ t: 'prompt', id, at, hash: hashOf(text) });
    } catch (error) {
      return { outcome: 'refused', reason: `the prompt could not be noted: ${String(error)}` };
    }
    this.#tracker.add({ id, at, isWritten: false });
    this.#letGo(id);
    const sent = this.#process.writeLine(line).then((outcome) => this.#settleWrite(id, outcome));
    this.#writing = sent;
    return sent;
  }

  steer(): Promise<SendOutcome> {
    return Promise.resolve({
      outcome: 'refused',
      reason: 'ACP does not say what becomes of a text during a turn',
    });
  }

  withdraw(): Promise<'unknown'> {
    return Promise.resolve('unknown');
  }

  async interrupt(): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#drain();
    if (this.#isDead || !this.#tracker.outstanding()) return 'idle';
    this.#permissions.cancelAll();
    const params = { sessionId: this.nativeId };
    const line = writeMessage({ jsonrpc: '2.0', method: AGENT_METHODS.session_cancel, params });
    return (await this.#process.writeLine(line)) === 'written' ? 'asked' : 'unknown';
  }

  async evidence(deliveryId: string): Promise<Evidence> {
    await this.#writing;
    await this.#drain();
    const prompt = this.#log.prompts.get(deliveryId);
    if (!prompt) return this.#pastEvidence(deliveryId);
    const nativeTurnId = turnIdOf(deliveryId);
    const isShown = prompt.end !== undefined || this.#tracker.get(deliveryId)?.hasStarted === true;
    if (isShown) return { state: 'consumed', nativeTurnId };
    if (prompt.outcome === 'refused' || this.#isDead) return { state: 'absent' };
    return { state: prompt.outcome === 'written' ? 'queued' : 'unknown' };
  }

  async locate(): Promise<Located> {
    await this.#writing;
    await this.#drain();
    const prompt = this.#tracker.outstanding();
    if (!prompt || this.#isDead) return { state: 'ended' };
    if (!prompt.hasStarted && !prompt.isWritten) return { state: 'unknown' };
    // One prompt was written and nothing else goes on, so the call itself proves that the agent is at work on it.
    this.#tracker.start(prompt);
    return { state: 'running', nativeTurnId: turnIdOf(prompt.id) };
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    await this.#drain();
    return !this.#isDead && this.#permissions.answer(questionId, choice);
  }

  async detach(): Promise<void> {
    this.#isMuted = true;
    this.#process.close();
  }

  async end(): Promise<'dead' | 'unkillable'> {
    const outcome = await this.#process.end({ graceMs });
    this.#isMuted = true;
    this.#process.close();
    return outcome;
  }

  /** Counts what nobody understands; too much of it in a row, and the agent is ended. */
  #mayTell(bytes: number, what = ''): boolean {
    const verdict = this.#garbage.hear(bytes);
    if (verdict === 'flood' && this.#flood === undefined) {
      this.#flood = bytes > mostUnheardBytes ? what : this.#garbage.sentence('ACP');
      this.#tracker.noise(`the agent is ended: ${this.#flood}`);
      this.#process.passOver();
      void this.#process.end({ graceMs });
    }
    return verdict === 'told';
  }

  // A next turn is begun only when the end of the one before is durable: nobody will be told to read before it again.
  #letGo(id: string): void {
    const ended = [...this.#log.prompts.values()].findLast((prompt) => prompt.end !== undefined);
    if (ended?.end === undefined || ended.id === id) return;
    this.#process.release(ended.end - this.#log.base);
    try {
      this.#log.compact();
    } catch (error) {
      this.#tracker.noise(`the log of what was sent cannot be made shorter: ${String(error)}`);
    }
  }

  async #drain(): Promise<void> {
    await this.#process.drain();
    this.#tracker.flush();
  }

  #settleWrite(id: string, outcome: 'written' | 'refused' | 'uncertain'): SendOutcome {
    if (outcome === 'uncertain') return { outcome, reason: 'the agent did not read its input in time' };
    this.#note({ t: 'wrote', id, outcome });
    if (outcome === 'written') {
      this.#tracker.confirm(id);
      return { outcome };
    }
    this.#tracker.drop(id);
    return { outcome, reason: 'the agent process takes no more input' };
  }

  /** What cannot be noted is only less certain after a restart; that must not stop a running turn. */
  #note(noted: SentEntry): void {
    try {
      this.#log.append(noted);
    } catch (error) {
      this.#tracker.noise(`the log of what was sent cannot be written: ${String(error)}`);
    }
  }

  #pastEvidence(id: string): Evidence {
    const past = this.#log.past.get(id);
    // Its turn was over a hundred turns ago; whether it was taken up or refused is not known any more.
    if (this.#log.isForgotten(id)) return { state: 'unknown' };
    // What is to be written is noted before, so a text without a note never left us.
    if (past?.fate === 'consumed') return { state: 'consumed', nativeTurnId: turnIdOf(id) };
    return { state: 'absent' };
  }

  #makeTracker(session: { id: string; from: number; floor: number }): TurnTracker {
    const isBefore = (end: number | undefined): boolean => end !== undefined && end <= session.from;
    const prompts = [...this.#log.prompts.values()];
    const usd = prompts.findLast(({ end }) => isBefore(end))?.usd;
    const tracker = new TurnTracker(
      {
        emit: (event) => {
          if (!this.#isMuted) this.#request.emit(event);
        },
        onPromptEnded: (id, end, cost) => {
          this.#permissions.forget(turnIdOf(id));
          if (this.#log.prompts.get(id)?.end !== undefined) return;
          this.#note({ t: 'ended', id, end, ...(cost === undefined ? {} : { usd: cost }) });
        },
        onQuestion: (id, question, turnId) => this.#permissions.take(id, question, turnId),
        onUnservable: (id, method) => this.#permissions.refuse(id, refusal(id, method)),
        onWithdrawn: (id) => this.#permissions.withdraw(id),
      },
      { sessionId: session.id, from: session.from, floor: session.floor, usd },
    );
    for (const { id, at, outcome, end } of prompts) {
      if (isBefore(end)) tracker.addAnswered(id);
      else if (outcome !== 'refused') tracker.add({ id, at, isWritten: outcome === 'written' });
    }
    return tracker;
  }

  #makePermissions(): Permissions {
    return new Permissions({
      policy: this.#request.profile.onQuestion ?? 'deny',
      onAsk: (asked) => this.#tracker.sayAtEnd({ type: 'waiting', waitsFor: 'input', ...asked }),
      onSettled: () => this.#tracker.say({ type: 'resumed' }),
      wasReplied: (key) => this.#log.replied.has(key),
      reply: (key, line) => {
        if (this.#isDead) return;
        void this.#process.writeLine(line).then((outcome) => {
          if (outcome === 'written') this.#note({ t: 'replied', request: key, at: this.#tracker.position });
        });
      },
    });
  }
}
