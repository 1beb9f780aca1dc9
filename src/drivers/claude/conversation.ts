import type { Clock } from '../../base/clock.ts';
import { Garbage } from '../../processes/garbage.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import { refused } from '../outcomes.ts';
import type {
  Capabilities,
  Conversation,
  Delivery,
  Evidence,
  Located,
  OpenRequest,
  SendOutcome,
  ToolCall,
} from '../port.ts';
import { capabilitiesOf } from './capabilities.ts';
import { toolsName } from './command-line.ts';
import { Controls, type WriteLine } from './controls.ts';
import { locateCall } from './locate.ts';
import { Questions } from './questions.ts';
import type { SentLog } from './sent-log.ts';
import { hasQueued, liveTasks } from './state.ts';
import { ClaudeStream } from './stream.ts';
import { Texts } from './texts.ts';
import { readLine, type Signal } from './wire.ts';

/** What a conversation is made of. `from` is where its output is read on from; events up to `floor` are known. */
export interface ConversationParts {
  readonly process: StdioProcess;
  readonly log: SentLog;
  readonly request: OpenRequest;
  readonly clock: Clock;
  /** Where the agent keeps its records. */
  readonly configDirectory: string;
  readonly id: string;
  readonly floor: number;
}

const controlMs = 5000;
const sessionEndMs = 3000;
const graceMs = 2000;

/** One conversation with a living process, or with one that has just died. The driver's `open` makes them. */
export class ClaudeConversation implements Conversation {
  readonly nativeId: string;
  readonly #parts: ConversationParts;
  readonly #stream: ClaudeStream;
  readonly #controls: Controls;
  readonly #questions: Questions;
  readonly #texts: Texts;
  readonly #garbage = new Garbage();
  #flood: string | undefined;
  #isDead = false;
  #isMuted = false;

  constructor(parts: ConversationParts) {
    const { log, request, clock, process, floor } = parts;
    this.#parts = parts;
    this.nativeId = parts.id;
    const rest = log.replayFrom(floor);
    const owner = {
      emit: (event: Parameters<OpenRequest['emit']>[0]) => {
        if (!this.#isMuted) request.emit(event);
      },
      onTaken: (signal: Signal, end: number) => this.#onTaken(signal, end),
      asks: request.profile.onQuestion === 'ask',
    };
    this.#stream = new ClaudeStream(owner, clock, { state: rest.state, from: rest.at, floor });
    const write: WriteLine = (line) => process.writeLine(line);
    this.#controls = new Controls(write, clock);
    const policy = request.profile.onQuestion ?? 'deny';
    this.#questions = new Questions({ policy, write, open: () => this.#stream.state.questions });
    this.#texts = new Texts({
      log,
      process,
      stream: this.#stream,
      controls: this.#controls,
      record: { configDirectory: parts.configDirectory, id: parts.id },
      isDead: () => this.#isDead,
    });
  }

  get capabilities(): Capabilities {
    return capabilitiesOf(this.#stream.state);
  }

  /** Whether its process is dead and its output was read to the end. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** How far the output was read. */
  get position(): number {
    return this.#stream.end;
  }

  /** The next line of output; `end` is the position behind it. */
  take(line: string, end: number): void {
    const signal = readLine(line);
    if (signal.type !== 'garbage') this.#garbage.understood();
    else if (!this.#mayTell(line.length)) return;
    this.#stream.take(signal, end);
  }

  /** Something in the output was no line that can be read; so many bytes of it. */
  hearNoise(what: string, bytes: number): void {
    if (this.#mayTell(bytes)) this.noise(what);
  }

  /** Something about the program made no sense: it is told, and changes nothing. */
  noise(what: string): void {
    this.#stream.say({ type: 'noise', what });
  }

  /** The process is dead and its output was read to the end. */
  exit(reason: string): void {
    this.#isDead = true;
    this.#controls.giveUp();
    const question = this.#questions
      .unanswered()
      .map((text) => `; its question is gone with it and must be asked again: ${text}`);
    const flood = this.#flood === undefined ? '' : `: ${this.#flood}`;
    this.#stream.exit(`${reason}${flood}${question.join('')}`);
  }

  /** The old output has been read to its end: from now on the agent's questions are answered as they come. */
  goLive(): void {
    this.#questions.goLive();
  }

  /** Asks the program itself, beside the texts for the model. */
  control(request: Readonly<Record<string, unknown>>, ms: number): ReturnType<Controls['ask']> {
    return this.#controls.ask(request, ms);
  }

  async start(delivery: Delivery): Promise<SendOutcome> {
    await this.#parts.process.drain();
    const { turn } = this.#stream.state;
    if (turn) return refused(`the agent is at work on ${turn.id}`);
    if (hasQueued(this.#stream.state)) return refused('the agent has a text that it has not begun with');
    return this.#texts.send(delivery, 'started');
  }

  async steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome> {
    await this.#parts.process.drain();
    const { turn, hasLifecycle } = this.#stream.state;
    if (!hasLifecycle) return refused('this version does not say what becomes of a text during a turn');
    if (!turn?.isAnnounced || turn.verdict) return refused('no turn is running');
    if (nativeTurnId !== undefined && nativeTurnId !== turn.id)
      return refused(`the agent is at work on ${turn.id}`);
    return this.#texts.send(delivery, 'steered');
  }

  withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    return this.#texts.withdraw(deliveryId);
  }

  async interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#parts.process.drain();
    const { turn } = this.#stream.state;
    if (this.#isDead || !turn || turn.verdict) return 'idle';
    if (nativeTurnId !== undefined && nativeTurnId !== turn.id) return 'idle';
    // A steered text that waits would run after the interruption, as a turn of its own: it comes back instead, and is sent
    // again when it is due. (To cancel all that is queued would also drop the ends of background tasks.)
    await this.#texts.withdrawSteered();
    const answer = await this.#controls.ask({ subtype: 'interrupt' }, controlMs);
    return answer?.ok ? 'asked' : 'unknown';
  }

  evidence(deliveryId: string): Promise<Evidence> {
    return this.#texts.evidence(deliveryId);
  }

  async locate(call: ToolCall): Promise<Located> {
    await this.#parts.process.drain();
    return this.#isDead ? { state: 'ended' } : locateCall(this.#stream, call);
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    await this.#parts.process.drain();
    return !this.#isDead && this.#questions.answer(questionId, choice);
  }

  async stopTasks(): Promise<void> {
    if (this.#isDead) return;
    const tasks = liveTasks(this.#stream.state);
    await Promise.all(
      tasks.map(({ taskId }) => this.#controls.ask({ subtype: 'stop_task', task_id: taskId }, controlMs)),
    );
    await this.#parts.process.drain();
  }

  async detach(): Promise<void> {
    this.#isMuted = true;
    this.#controls.giveUp();
    this.#parts.process.close();
  }

  hasLeftWork(): Promise<boolean> {
    return this.#parts.process.hasLeftWork();
  }

  async end(): Promise<'dead' | 'unkillable'> {
    const { process } = this.#parts;
    // It ends its turn and its background shells by itself, and says so; the signals are for what remains.
    if (!this.#isDead) {
      await this.#controls.ask({ subtype: 'end_session' }, sessionEndMs);
      await this.#stream.until(() => (this.#isDead ? true : undefined), sessionEndMs);
    }
    const outcome = await process.end({ graceMs });
    this.#isMuted = true;
    process.close();
    return outcome;
  }

  #onTaken(signal: Signal, end: number): void {
    if (signal.type === 'answer') this.#controls.take(signal.requestId, signal.answer);
    if (signal.type === 'ask') this.#questions.take(signal.requestId);
    if (signal.type === 'init') this.#lookAtServers(signal.servers);
    const { state } = this.#stream;
    const { turn, questions } = state;
    const { log, process } = this.#parts;
    if (signal.type === 'lifecycle' || signal.type === 'replay') this.#tryNote(() => log.settle(end, state));
    if (signal.type !== 'state' || signal.state !== 'idle' || turn || questions.size > 0) return;
    if (this.#tryNote(() => this.#noteRest(end))) process.release(log.oldestRest - log.base);
  }

  #noteRest(end: number): void {
    const { log } = this.#parts;
    // First the fates: a rest carries only the last of them.
    log.settle(end, this.#stream.state);
    log.rest(end, this.#stream.state);
  }

  /** What cannot be noted is read again in the output after a restart. */
  #tryNote(note: () => void): boolean {
    try {
      note();
      return true;
    } catch {
      return false;
    }
  }

  #lookAtServers(servers: readonly string[]): void {
    const ours = servers.find((server) => server.startsWith(`${toolsName} `));
    if (this.#parts.request.tools === undefined || ours === `${toolsName} connected`) return;
    this.noise(`the agent does not have its tools: ${ours ?? `no server ${toolsName}`}`);
  }

  /** Counts what nobody understands; too much of it in a row, and the agent is ended. */
  #mayTell(bytes: number): boolean {
    const verdict = this.#garbage.hear(bytes);
    if (verdict === 'flood' && this.#flood === undefined) {
      this.#flood = this.#garbage.sentence('Claude Code');
      this.noise(`the agent is ended: ${this.#flood}`);
      this.#parts.process.passOver();
      void this.#parts.process.end({ graceMs });
    }
    return verdict === 'told';
  }
}
