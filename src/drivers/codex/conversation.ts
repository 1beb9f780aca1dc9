import { Serial } from '../../base/serial.ts';
import { pause } from '../../base/pause.ts';
import { refused } from '../outcomes.ts';
import type {
  Conversation,
  Delivery,
  Evidence,
  Located,
  ScreenCommand,
  SendOutcome,
  ToolCall,
} from '../port.ts';
import { endThread, stopBackground } from './ending.ts';
import { evidenceOf } from './evidence.ts';
import { locateCall } from './locate.ts';
import { noteStartAnswer } from './reduce.ts';
import { screenOf } from './screen.ts';
import type { CodexThread } from './thread.ts';
import { withDelivery } from './thread-state.ts';
import { turnStartAnswer } from './wire.ts';

const sendMs = 30_000;
const readyMs = 20_000;
const resolveMs = 10_000;
const betweenLooksMs = 50;

/** A conversation with Codex: one thread of a shared app-server. */
export class CodexConversation implements Conversation {
  readonly nativeId: string;
  readonly #thread: CodexThread;
  // One text at a time: a turn that is started while another runs would be steered in silently.
  readonly #sending = new Serial();
  /** Texts that were sent, or may have been. */
  readonly #attempted: Set<string>;
  /** Texts that Codex accepted into a turn, and that turn. */
  readonly #accepted = new Map<string, string>();

  constructor(thread: CodexThread) {
    this.#thread = thread;
    this.nativeId = thread.id;
    this.#attempted = new Set(thread.request.unresolved);
  }

  start(delivery: Delivery): Promise<SendOutcome> {
    return this.#sending.run(() => this.#start(delivery));
  }

  steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome> {
    return this.#sending.run(() => this.#steer(delivery, nativeTurnId));
  }

  async withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    // Codex has no way to take a text back; the end of the turn without it is the proof that it is gone.
    return this.#thread.state.deliveries.get(deliveryId) === undefined ? 'unknown' : 'taken';
  }

  async interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    const thread = this.#thread;
    if (thread.hasExited) return 'idle';
    if (!(await thread.stream.flushed(readyMs))) return 'unknown';
    const turnId = thread.state.turn?.id ?? thread.state.starting?.turnId;
    if (turnId === undefined) return thread.state.starting ? 'unknown' : 'idle';
    if (nativeTurnId !== undefined && nativeTurnId !== turnId) return 'idle';
    const answer = await thread.call('turn/interrupt', { threadId: thread.id, turnId });
    if (answer.outcome === 'ok') return 'asked';
    if (answer.outcome !== 'refused') return 'unknown';
    await thread.doubtRunningTurn();
    return thread.state.turn?.id === turnId ? 'unknown' : 'idle';
  }

  evidence(deliveryId: string): Promise<Evidence> {
    return evidenceOf(this.#thread, deliveryId, this.#accepted.get(deliveryId));
  }

  locate(call: ToolCall): Promise<Located> {
    return locateCall(this.#thread, call);
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    return !this.#thread.hasExited && this.#thread.questions.answer(questionId, choice);
  }

  async screen(): Promise<ScreenCommand | undefined> {
    return this.#thread.hasExited ? undefined : screenOf(this.#thread);
  }

  async stopTasks(): Promise<void> {
    await stopBackground(this.#thread);
  }

  async detach(): Promise<void> {
    this.#thread.close();
  }

  async hasLeftWork(): Promise<boolean> {
    return this.#thread.link.hasLeftWork();
  }

  end(): Promise<'dead' | 'unkillable'> {
    return endThread(this.#thread);
  }

  async #start({ id, text }: Delivery): Promise<SendOutcome> {
    const thread = this.#thread;
    const refusal = await this.#refusal(id);
    if (refusal) return refusal;
    // Somebody else's turn is told with its first item: only then does whoever hears the refusal know why, and waits.
    await thread.stream.until(({ turn }) => (turn && !turn.isAnnounced ? undefined : true), readyMs);
    if (thread.state.turn || thread.state.starting) return refused('a turn is running');
    const toolless = await thread.refreshTools();
    if (toolless !== undefined) return refused(`the agent's tools cannot be reached: ${toolless}`);
    this.#attempted.add(id);
    thread.stream.update((state) => ({ ...withDelivery(state, id), starting: { deliveryId: id } }));
    const params = { threadId: thread.id, clientUserMessageId: id, input: toInput(text) };
    const answer = await thread.link.call('turn/start', params, sendMs);
    const read = turnStartAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
    if (read.success) {
      const turnId = read.data.turn.id;
      thread.stream.update((state) => noteStartAnswer(state, id, turnId));
      return { outcome: 'written' };
    }
    thread.stream.update((state) =>
      state.starting?.deliveryId === id ? { ...state, starting: undefined } : state,
    );
    if (answer.outcome === 'refused' || answer.outcome === 'unsent') return refused(answer.message);
    return this.#resolve(
      id,
      answer.outcome === 'lost' ? answer.message : 'turn/start was answered in an unknown shape',
    );
  }

  async #steer({ id, text }: Delivery, nativeTurnId: string | undefined): Promise<SendOutcome> {
    const thread = this.#thread;
    const refusal = await this.#refusal(id);
    if (refusal) return refused(refusal.outcome === 'written' ? 'it was taken up before' : refusal.reason);
    const { turn } = thread.state;
    if (!turn?.isAnnounced) return refused('no turn is running');
    if (nativeTurnId !== undefined && nativeTurnId !== turn.id) return refused('another turn is running');
    this.#attempted.add(id);
    thread.stream.update((state) => withDelivery(state, id));
    const params = {
      threadId: thread.id,
      expectedTurnId: turn.id,
      clientUserMessageId: id,
      input: toInput(text),
    };
    const answer = await thread.link.call('turn/steer', params, sendMs);
    if (answer.outcome === 'refused' || answer.outcome === 'unsent') return refused(answer.message);
    this.#accepted.set(id, turn.id);
    // Accepted is not taken: the proof is the text in the history of this turn.
    return answer.outcome === 'ok' ? { outcome: 'written' } : this.#resolve(id, answer.message);
  }

  /** Why a text is not sent now: the agent is gone or unreachable, or it has the text already. Codex sees no doubles. */
  async #refusal(id: string): Promise<SendOutcome | undefined> {
    const thread = this.#thread;
    if (thread.hasExited) return refused('the agent has ended');
    if (!(await thread.stream.flushed(readyMs))) return refused('the agent cannot be reached');
    if (!this.#attempted.has(id)) return undefined;
    const evidence = await this.evidence(id);
    if (evidence.state === 'absent') return undefined;
    if (evidence.state === 'consumed') return { outcome: 'written' };
    return { outcome: 'uncertain', reason: `an earlier attempt is ${evidence.state}` };
  }

  /** A request was written and not answered. On a new connection the record may say what became of it. */
  async #resolve(id: string, reason: string): Promise<SendOutcome> {
    const thread = this.#thread;
    thread.link.reset();
    const deadline = thread.clock.monotonic() + resolveMs;
    for (;;) {
      const evidence = await this.evidence(id);
      if (evidence.state === 'consumed') return { outcome: 'written' };
      if (evidence.state === 'absent') return refused(`${reason}; it never arrived`);
      const restMs = deadline - thread.clock.monotonic();
      if (restMs <= 0 || evidence.state === 'queued' || thread.hasExited)
        return { outcome: 'uncertain', reason };
      // A turn has begun, and what began it is not in the record yet.
      await thread.stream.until(
        (state) => (state.turn === undefined || state.turn.isAnnounced ? true : undefined),
        restMs,
      );
      await pause(thread.clock, betweenLooksMs);
    }
  }
}

function toInput(text: string): unknown {
  return [{ type: 'text', text, text_elements: [] }];
}
