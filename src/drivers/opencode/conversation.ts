import { pause } from '../../base/pause.ts';
import { hasLeftBehind } from '../../processes/left-behind.ts';
import { refused } from '../outcomes.ts';
import type {
  Capabilities,
  Conversation,
  Delivery,
  Evidence,
  Located,
  ScreenCommand,
  SendOutcome,
} from '../port.ts';
import { evidenceOf, remove } from './evidence.ts';
import { locateCall } from './locate.ts';
import type { OpencodeSession } from './session.ts';
import { screenOf } from './screen.ts';
import { messageIdOf } from './state.ts';

const heardMs = 20_000;
const resolveMs = 10_000;
const betweenLooksMs = 100;

/** A conversation with opencode, on a server of its own. */
export class OpencodeConversation implements Conversation {
  readonly nativeId: string;
  readonly #session: OpencodeSession;

  readonly capabilities: Capabilities;

  constructor(session: OpencodeSession, provable: Capabilities) {
    this.#session = session;
    this.capabilities = provable;
    this.nativeId = session.id;
  }

  start(delivery: Delivery): Promise<SendOutcome> {
    return this.#session.serial.run(() => this.#start(delivery));
  }

  steer(delivery: Delivery, nativeTurnId?: string): Promise<SendOutcome> {
    return this.#session.serial.run(() => this.#steer(delivery, nativeTurnId));
  }

  withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    return this.#session.serial.run(() => this.#withdraw(deliveryId));
  }

  interrupt(nativeTurnId?: string): Promise<'asked' | 'idle' | 'unknown'> {
    return this.#session.serial.run(() => this.#interrupt(nativeTurnId));
  }

  evidence(deliveryId: string): Promise<Evidence> {
    return this.#session.serial.run(() => evidenceOf(this.#session, deliveryId));
  }

  locate(): Promise<Located> {
    return locateCall(this.#session);
  }

  async answer(questionId: string, choice: string): Promise<boolean> {
    return !this.#session.hasExited && this.#session.questions.answer(questionId, choice);
  }

  async screen(): Promise<ScreenCommand | undefined> {
    return this.#session.hasExited ? undefined : screenOf(this.#session.request);
  }

  async stopTasks(): Promise<void> {
    for (const taskId of Object.keys(this.#session.state.tasks))
      await this.#session.api.call('POST', `/session/${taskId}/abort`);
  }

  async hasLeftWork(): Promise<boolean> {
    return hasLeftBehind(this.#session.server.identity);
  }

  async detach(): Promise<void> {
    await this.#session.close();
  }

  end(): Promise<'dead' | 'unkillable'> {
    return this.#session.end();
  }

  async #start({ id, text }: Delivery): Promise<SendOutcome> {
    const session = this.#session;
    const refusal = await this.#refusal(id);
    if (refusal) return refusal;
    if (session.state.turn || session.state.isBusy) return refused('a turn is running');
    return this.#send(id, text);
  }

  async #steer({ id, text }: Delivery, nativeTurnId: string | undefined): Promise<SendOutcome> {
    const session = this.#session;
    const refusal = await this.#refusal(id);
    if (refusal) return refused(refusal.outcome === 'written' ? 'it was taken up before' : refusal.reason);
    const { turn } = session.state;
    if (!turn) return refused('no turn is running');
    if (nativeTurnId !== undefined && nativeTurnId !== turn.id) return refused('another turn is running');
    return this.#send(id, text);
  }

  async #withdraw(deliveryId: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    const session = this.#session;
    if (session.state.deliveries[deliveryId]?.turnId !== undefined) return 'taken';
    if (session.hasExited || !(await session.flushed())) return 'unknown';
    if (session.state.deliveries[deliveryId]?.turnId !== undefined) return 'taken';
    // A text in the record of an agent at work may be read at any moment.
    if (session.state.turn || session.state.isBusy) return 'unknown';
    const evidence = await remove(session, deliveryId);
    if (evidence.state === 'absent') return 'withdrawn';
    return evidence.state === 'consumed' ? 'taken' : 'unknown';
  }

  async #interrupt(nativeTurnId: string | undefined): Promise<'asked' | 'idle' | 'unknown'> {
    const session = this.#session;
    if (session.hasExited) return 'idle';
    if (!(await session.flushed())) return session.hasExited ? 'idle' : 'unknown';
    const { turn, isBusy } = session.state;
    if (!turn && !isBusy) return 'idle';
    if (nativeTurnId !== undefined && nativeTurnId !== turn?.id) return 'idle';
    // It is answered when the turn is over, which may take as long as a command takes to die.
    const answer = await session.api.call('POST', `/session/${session.id}/abort`);
    return answer.outcome === 'ok' ? 'asked' : 'unknown';
  }

  /** Why a text is not sent now: the agent is gone or unreachable, or it has the text already. */
  async #refusal(id: string): Promise<SendOutcome | undefined> {
    const session = this.#session;
    if (session.hasExited) return refused('the agent has ended');
    if (!(await session.flushed())) return refused('the agent cannot be reached');
    if (session.state.deliveries[id] === undefined) return undefined;
    // Under a name that it knows, opencode would add the text to what it has.
    const evidence = await evidenceOf(session, id);
    if (evidence.state === 'absent') return undefined;
    if (evidence.state === 'consumed') return { outcome: 'written' };
    return { outcome: 'uncertain', reason: `an earlier attempt is ${evidence.state}` };
  }

  async #send(id: string, text: string): Promise<SendOutcome> {
    const session = this.#session;
    const messageId = messageIdOf(id);
    session.take({ type: 'sending', deliveryId: id, messageId });
    const body = { messageID: messageId, parts: [{ type: 'text', text }] };
    const answer = await session.api.call('POST', `/session/${session.id}/prompt_async`, body);
    if (answer.outcome === 'refused') {
      session.take({ type: 'notSent', deliveryId: id });
      return refused(answer.message);
    }
    if (answer.outcome === 'lost') return this.#resolve(id, answer.message);
    // Accepted is not yet in the record.
    const isHeard = (): true | undefined => {
      const delivery = session.state.deliveries[id];
      return delivery?.isHeard || delivery?.turnId !== undefined ? true : undefined;
    };
    const heard = await session.until(isHeard, heardMs);
    return heard
      ? { outcome: 'written' }
      : this.#resolve(id, 'opencode accepted the text and does not show it');
  }

  async #resolve(id: string, reason: string): Promise<SendOutcome> {
    const session = this.#session;
    const deadline = session.clock.monotonic() + resolveMs;
    for (;;) {
      const evidence = await evidenceOf(session, id);
      if (evidence.state === 'consumed' || evidence.state === 'queued') return { outcome: 'written' };
      if (evidence.state === 'absent') {
        session.take({ type: 'notSent', deliveryId: id });
        return refused(`${reason}; it never arrived`);
      }
      if (session.hasExited || session.clock.monotonic() >= deadline) return { outcome: 'uncertain', reason };
      await pause(session.clock, betweenLooksMs);
    }
  }
}
