import type { StdioProcess } from '../../processes/stdio-process.ts';
import { refused } from '../outcomes.ts';
import type { Delivery, Evidence, SendOutcome } from '../port.ts';
import type { Controls } from './controls.ts';
import { evidenceOf } from './evidence.ts';
import { uuidOfDelivery } from './ids.ts';
import type { SentEntry, SentLog } from './sent-log.ts';
import { textOf } from './state.ts';
import type { ClaudeStream } from './stream.ts';

/** What the texts of a conversation go through. */
export interface TextsOwner {
  readonly log: SentLog;
  readonly process: StdioProcess;
  readonly stream: ClaudeStream;
  readonly controls: Controls;
  /** The agent's own record of the conversation. */
  readonly record: { readonly configDirectory: string; readonly id: string };
  readonly isDead: () => boolean;
}

const controlMs = 5000;

/** Our texts on their way to the agent, and what became of them. */
export class Texts {
  readonly #owner: TextsOwner;
  /** The write of the last text: until it is over nobody can say whether the agent has it. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(owner: TextsOwner) {
    this.#owner = owner;
    for (const { id, uuid } of owner.log.expectedFrom(owner.stream.end)) owner.stream.expect(uuid, id);
  }

  /** Hands a text to the agent: it begins a turn, or, steered, is taken up in the one that runs. */
  send({ id, text }: Delivery, how: 'started' | 'steered'): Promise<SendOutcome> {
    const { log, process, stream, isDead } = this.#owner;
    if (isDead()) return Promise.resolve(refused('the agent process is dead'));
    const isBack = textOf(stream.state, id)?.state === 'withdrawn';
    if (!isBack && log.mayHaveArrived(id)) return Promise.resolve(refused(`${id} was sent before`));
    const uuid = uuidOfDelivery(id, log.attempts.get(id) ?? 0);
    try {
      log.append({ t: 'text', id, uuid, ...(how === 'steered' ? { steered: true } : {}) });
    } catch (error) {
      return Promise.resolve(refused(`the text could not be noted: ${String(error)}`));
    }
    stream.expect(uuid, id);
    const message = { role: 'user', content: text };
    const line = JSON.stringify({ type: 'user', message, parent_tool_use_id: null, session_id: '', uuid });
    const sent = process.writeLine(line).then((outcome): SendOutcome => {
      if (outcome === 'uncertain') return { outcome, reason: 'the agent did not read its input in time' };
      this.#note({ t: 'wrote', id, outcome });
      if (outcome === 'written') return { outcome };
      stream.forget(uuid);
      return refused('the agent process takes no more input');
    });
    this.#writing = sent;
    return sent;
  }

  /**
   * Takes back the steered texts that wait in the agent's queue. What it has taken up meanwhile stays, and so does what is
   * to begin a turn: whoever sent it was told that it will.
   */
  async withdrawSteered(): Promise<void> {
    const { log, stream } = this.#owner;
    const queued = [...stream.state.texts].filter(
      ([uuid, { id, state }]) =>
        (state === 'sent' || state === 'queued') &&
        log.texts.get(id)?.uuid === uuid &&
        log.texts.get(id)?.isSteered === true,
    );
    await Promise.all(queued.map(([uuid]) => this.#cancel(uuid)));
  }

  /** Takes one back. */
  async withdraw(id: string): Promise<'withdrawn' | 'taken' | 'unknown'> {
    await this.#settle();
    const known = this.#fateOf(id);
    if (known !== 'open') return known;
    if (this.#owner.isDead()) {
      const { state } = await this.evidence(id);
      return state === 'consumed' ? 'taken' : state === 'absent' ? 'withdrawn' : 'unknown';
    }
    const uuid = this.#owner.log.texts.get(id)?.uuid;
    if (uuid !== undefined && (await this.#cancel(uuid))) return 'withdrawn';
    await this.#owner.process.drain();
    const fate = this.#fateOf(id);
    return fate === 'open' ? 'unknown' : fate;
  }

  /** What is proven of one. */
  async evidence(id: string): Promise<Evidence> {
    await this.#settle();
    const { log, stream, controls, process, record, isDead } = this.#owner;
    const ask = (): Evidence => evidenceOf(id, { state: stream.state, log, isDead: isDead(), record });
    const evidence = ask();
    const text = log.texts.get(id);
    if (evidence.state !== 'unknown' || isDead() || !text) return evidence;
    // Whatever was written before this request is read before it: then the agent has the text, or it never got it.
    const answer = await controls.ask(cancellation(text.uuid), controlMs);
    await process.drain();
    const after = ask();
    const { hasLifecycle, turn } = stream.state;
    if (!answer?.ok || after.state !== 'unknown' || (!hasLifecycle && turn)) return after;
    this.#note({ t: 'wrote', id, outcome: 'refused' });
    stream.forget(text.uuid);
    return { state: 'absent' };
  }

  async #settle(): Promise<void> {
    await this.#writing;
    await this.#owner.process.drain();
  }

  #fateOf(id: string): 'withdrawn' | 'taken' | 'open' {
    const { log, stream } = this.#owner;
    const text = textOf(stream.state, id);
    if (text?.state === 'taken') return 'taken';
    const sent = log.texts.get(id);
    // What is to be written is noted before, so a text without a note never left us.
    const past = log.past.get(id);
    if (past?.fate === 'consumed') return 'taken';
    if (past?.fate === 'absent') return 'withdrawn';
    const isNowhere = !sent && !past;
    return text?.state === 'withdrawn' || sent?.outcome === 'refused' || isNowhere ? 'withdrawn' : 'open';
  }

  /** Takes a text out of the agent's queue. False: it was not there, or nobody can say. */
  async #cancel(uuid: string): Promise<boolean> {
    const answer = await this.#owner.controls.ask(cancellation(uuid), controlMs);
    return answer?.ok === true && answer.response['cancelled'] === true;
  }

  /** What cannot be noted is only less certain after a restart; that must not stop a running turn. */
  #note(noted: SentEntry): void {
    try {
      this.#owner.log.append(noted);
    } catch (error) {
      const what = `the log of what was sent cannot be written: ${String(error)}`;
      this.#owner.stream.say({ type: 'noise', what });
    }
  }
}

function cancellation(uuid: string): Readonly<Record<string, unknown>> {
  return { subtype: 'cancel_async_message', message_uuid: uuid };
}
