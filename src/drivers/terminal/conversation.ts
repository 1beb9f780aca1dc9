import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import { Serial } from '../../base/serial.ts';
import { isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import type { TmuxTerminals } from '../../terminal/tmux-terminals.ts';
import { refused } from '../outcomes.ts';
import type {
  Conversation,
  Delivery,
  DriverReport,
  Evidence,
  Located,
  OpenRequest,
  ScreenCommand,
  SendOutcome,
  ToolCall,
} from '../port.ts';
import type { ConversationLog } from './conversations.ts';
import { begunElsewhere, type Feed } from './feed.ts';
import type { Live } from './live.ts';
import { type AgentScreen, holds } from './screen.ts';
import type { SentLog } from './sent-log.ts';
import { unwrapped } from './transcript.ts';
import { typeable } from './typeable.ts';

const confirmWithinMs = 4_000;
const enterTries = 3;
const composerWithinMs = 10_000;
const turnToldWithinMs = 5_000;
const betweenLooksMs = 500;

/** What one conversation is made of. */
export interface Parts {
  readonly request: OpenRequest;
  readonly clock: Clock;
  readonly terminals: TmuxTerminals;
  readonly process: ProcessIdentity;
  /** The conversation closes it. */
  readonly screen: AgentScreen;
  readonly live: Live;
  readonly feed: Feed;
  readonly sentLog: SentLog;
  readonly conversations: ConversationLog;
}

/** A conversation with an agent at its own screen, which a person may use beside us. */
export class ScreenConversation implements Conversation {
  readonly #parts: Parts;
  readonly #screen: AgentScreen;
  readonly #sending = new Serial();
  readonly #over = new AbortController();
  /** A text of ours that waits until a person has submitted or deleted what stands in the composer. */
  #held: Delivery | undefined;
  #hasExited = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#screen = parts.screen;
    void this.#watch();
  }

  /** The one that it has now: at its screen, a person can begin another. */
  get nativeId(): string {
    return this.#parts.conversations.last.id;
  }

  start(delivery: Delivery): Promise<SendOutcome> {
    return this.#sending.run(() => this.#start(delivery));
  }

  async steer(): Promise<SendOutcome> {
    return refused('this agent takes no texts of ours into running turns');
  }

  async withdraw(): Promise<'unknown'> {
    return 'unknown';
  }

  async interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    await this.#parts.feed.drain();
    const { turn } = this.#parts.live.state;
    if (this.#hasExited || !turn) return this.#held && !this.#hasExited ? 'unknown' : 'idle';
    if (nativeTurnId !== undefined && nativeTurnId !== turn.id) return 'idle';
    return (await this.#screen.press('Escape')) ? 'asked' : 'unknown';
  }

  async evidence(deliveryId: string): Promise<Evidence> {
    const { live, feed, sentLog } = this.#parts;
    await feed.drain();
    const sent = live.state.sent.get(deliveryId);
    if (sent?.turnId !== undefined) return { state: 'consumed', nativeTurnId: sent.turnId };
    if (this.#held?.id === deliveryId && !this.#hasExited) return { state: 'queued' };
    const takenIn = sentLog.turnOf(deliveryId);
    if (takenIn !== undefined) return { state: 'consumed', nativeTurnId: takenIn };
    if (!sent) return { state: 'absent' };
    // It may have been taken up where we do not read.
    if (sent.isLost || feed.another !== undefined) return { state: 'unknown' };
    if (this.#hasExited) return this.#absent(deliveryId);
    if (live.state.queue.includes(sent.text)) return { state: 'queued' };
    // Typed and not in the transcript: it may stand in the composer, or a person has deleted it there.
    const seen = await this.#screen.look();
    const isIdle = !live.state.turn && live.state.queue.length === 0;
    return isIdle && seen?.composer.state === 'empty' && !seen.isBusy
      ? this.#absent(deliveryId)
      : { state: 'unknown' };
  }

  /** From now on the text is none of those that may be taken up. Until that is written down, nothing is said. */
  #absent(deliveryId: string): Evidence {
    const { live, sentLog } = this.#parts;
    try {
      sentLog.drop(deliveryId);
    } catch {
      return { state: 'unknown' };
    }
    live.forgetSent(deliveryId);
    return { state: 'absent' };
  }

  async locate({ meta }: ToolCall): Promise<Located> {
    const callId = meta['claudecode/toolUseId'];
    const { feed, live } = this.#parts;
    await feed.drain();
    const turnId = typeof callId === 'string' ? live.turnOfCall(callId) : undefined;
    if (turnId === undefined) return { state: 'unknown' };
    await live.until(
      ({ turn, ended }) => (turn?.id === turnId || ended.includes(turnId) ? true : undefined),
      turnToldWithinMs,
    );
    if (live.state.turn?.id === turnId) return { state: 'running', nativeTurnId: turnId };
    return live.state.ended.includes(turnId) ? { state: 'ended' } : { state: 'unknown' };
  }

  async answer(): Promise<boolean> {
    // Its questions are answered at its screen.
    return false;
  }

  async screen(): Promise<ScreenCommand | undefined> {
    // Its terminal lives already; the command would run only if it had just ended.
    return this.#hasExited ? undefined : { command: ['false'], cwd: '/', env: {} };
  }

  async detach(): Promise<void> {
    this.#close();
  }

  async end(): Promise<'dead' | 'unkillable'> {
    const { terminals, request, process } = this.#parts;
    this.#close();
    await terminals.close(request.sessionId);
    return isAlive(process) ? 'unkillable' : 'dead';
  }

  async #start({ id, text: given }: Delivery): Promise<SendOutcome> {
    const { live, feed, sentLog } = this.#parts;
    const text = unwrapped(typeable(given));
    if (this.#hasExited) return refused('the agent has ended');
    if (/^[/!#]/.test(text))
      return refused(`at this agent's screen "${text[0]}" begins a command, and no message`);
    await feed.drain();
    if (live.state.sent.has(id) || sentLog.turnOf(id) !== undefined) return this.#again(id);
    if (feed.another !== undefined)
      return refused(`${begunElsewhere(feed.another)}; stop the session, and send the text again`);
    if (this.#held) return refused('another text waits for the composer');
    if (live.state.turn || live.state.queue.length > 0) return refused('a turn is running');
    const seen = await this.#screen.composed(composerWithinMs, this.#over.signal);
    if (!seen) return refused('the terminal is gone');
    if (seen.composer.state === 'absent')
      return refused(`the agent's screen shows no composer: ${seen.excerpt}`);
    if (seen.composer.state === 'empty') return this.#type(id, text);
    this.#emit({
      type: 'noise',
      what: 'somebody has typed into the composer and not submitted it: a text of ours waits',
    });
    this.#held = { id, text };
    void this.#hold(this.#held);
    return { outcome: 'uncertain', reason: 'the text waits until the composer is free' };
  }

  async #again(id: string): Promise<SendOutcome> {
    const evidence = await this.evidence(id);
    if (evidence.state === 'consumed') return { outcome: 'written' };
    return { outcome: 'uncertain', reason: `an earlier attempt is ${evidence.state}` };
  }

  /** Types the text and sees to it that it was submitted: by the transcript, never by the screen. */
  async #type(id: string, text: string): Promise<SendOutcome> {
    const { live, sentLog } = this.#parts;
    try {
      this.#forgetSettled();
      sentLog.add(id, text, live.state.position);
    } catch (error) {
      return refused(`what is sent cannot be written down: ${String(error)}`);
    }
    live.send(id, text);
    if (!(await this.#screen.submit(text)))
      return { outcome: 'uncertain', reason: 'the terminal does not answer' };
    for (let i = 0; i < enterTries; i++) {
      const where = await live.until(({ sent, queue }) => {
        if (sent.get(id)?.turnId !== undefined) return 'turn';
        return queue.includes(text) ? 'queue' : undefined;
      }, confirmWithinMs);
      if (where === 'turn') return { outcome: 'written' };
      // A person can take it back from there.
      if (where === 'queue')
        return { outcome: 'uncertain', reason: "the text waits in the agent's own queue" };
      const seen = await this.#screen.look();
      if (seen && holds(seen, text)) await this.#screen.press('Enter');
    }
    return { outcome: 'uncertain', reason: 'the text was typed, and the agent has not said that it took it' };
  }

  /** Who sends a text has heard the ends of the turns before it: nobody is told again of what these took up. */
  #forgetSettled(): void {
    const { live, sentLog } = this.#parts;
    const { sent, turn } = live.state;
    const taken = new Map<string, string>();
    for (const [id, { turnId }] of sent)
      if (turnId !== undefined && turnId !== turn?.id) taken.set(id, turnId);
    if (sentLog.compact(taken)) for (const id of taken.keys()) live.forgetSent(id);
  }

  async #hold(delivery: Delivery): Promise<void> {
    const { clock, live } = this.#parts;
    const { signal } = this.#over;
    for (let empty = 0; !signal.aborted && !this.#hasExited; ) {
      await pause(clock, betweenLooksMs, signal);
      const isBusy = live.state.turn !== undefined || live.state.queue.length > 0;
      const seen = isBusy ? undefined : await this.#screen.look();
      empty = seen?.composer.state === 'empty' ? empty + 1 : 0;
      // Twice, since who has just deleted a word may go on.
      if (empty < 2) continue;
      await this.#sending.run(async () => {
        this.#held = undefined;
        // Of a text that is not typed, evidence says that it is absent.
        if (this.#parts.feed.another === undefined) await this.#type(delivery.id, delivery.text);
      });
      return;
    }
  }

  /** What neither hooks nor the transcript tell: that the process died, and that a turn was taken back. */
  async #watch(): Promise<void> {
    const { clock, process } = this.#parts;
    const { signal } = this.#over;
    while (!signal.aborted) {
      await pause(clock, betweenLooksMs, signal);
      if (signal.aborted) return;
      if (!isAlive(process)) return this.#die();
      await this.#noticeRewind();
    }
  }

  async #noticeRewind(): Promise<void> {
    const { live, feed } = this.#parts;
    const { turn } = live.state;
    if (!turn || turn.hasWorked) return;
    const seen = await this.#screen.look();
    if (!seen || seen.isBusy || !holds(seen, turn.text)) return;
    await feed.drain();
    if (live.state.turn?.id !== turn.id || live.state.turn.hasWorked) return;
    // Who hears of the end may send at once: that text comes when the composer is clear.
    await this.#sending.run(async () => {
      live.rewind(turn.id);
      if (turn.deliveryId !== undefined && !live.state.turn) await this.#screen.clear();
    });
  }

  async #die(): Promise<void> {
    const { feed, terminals, request } = this.#parts;
    await feed.drain();
    this.#hasExited = true;
    await terminals.close(request.sessionId);
    this.#emit({ type: 'exited', reason: 'the agent at its own screen has ended' });
    this.#close();
  }

  #emit(event: DriverReport): void {
    if (!this.#over.signal.aborted) this.#parts.live.emit(event);
  }

  #close(): void {
    this.#over.abort();
    this.#parts.live.close();
    this.#parts.feed.close();
    this.#screen.close();
  }
}
