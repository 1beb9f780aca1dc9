import { assertNever } from '../../base/assert-never.ts';
import type { DriverEvent, DriverReport, TranscriptItem, Usage } from '../port.ts';
import type { RunningTurn, ScreenState, SentText } from './state.ts';
import type { Signal, Tokens } from './transcript.ts';

/** The next state, and what is to be reported. */
export interface Reduced {
  readonly state: ScreenState;
  readonly events: readonly DriverEvent[];
}

/** Why a turn failed; and where it ended, if that was before the line that says so. */
interface End {
  readonly failure?: Of<'failed'>;
  readonly position?: number;
}

type Of<Type extends Signal['type']> = Extract<Signal, { type: Type }>;

const endedKept = 300;

/**
 * What one signal of the transcript means; `position`: the offset behind its line. Pure. The agent runs one turn at a time, so
 * a text that begins one while another is not over says that the other was interrupted: nothing else tells it when it was
 * interrupted before the model had answered, or while texts waited.
 */
export function reduce(before: ScreenState, signal: Signal, position: number): Reduced {
  const draft = new Draft(before, position);
  draft.take(signal);
  return draft;
}

/** The agent put the text of its turn back into the composer, as it does when it is interrupted before the model answers. */
export function reduceRewound(before: ScreenState, turnId: string): Reduced {
  if (before.turn?.id !== turnId || before.turn.hasWorked) return { state: before, events: [] };
  return reduce(before, { type: 'interrupted' }, before.position);
}

/** The next state while it is being made. The state it began with stays as it was. */
class Draft implements Reduced {
  state: ScreenState;
  readonly events: DriverEvent[] = [];
  readonly #before: number;

  constructor(before: ScreenState, position: number) {
    this.#before = before.position;
    this.state = { ...before, position: Math.max(before.position, position) };
  }

  take(signal: Signal): void {
    switch (signal.type) {
      case 'prompt':
        return this.#begin(signal);
      case 'queued':
        return this.#set({ queue: [...this.state.queue, signal.text] });
      case 'absorbed':
        return this.#absorb(signal);
      case 'told':
        return this.#tellTask(signal);
      case 'unqueued':
        return this.#unqueue(signal.text);
      case 'said':
        this.#note(signal, signal.text);
        return this.#item({ kind: 'text', text: signal.text });
      case 'called':
        // Text that goes with a call is not an answer.
        this.#note(signal, '');
        return this.#item({ kind: 'toolCall', text: signal.text, id: signal.callId });
      case 'returned':
        return this.#return(signal);
      case 'taskOver':
        return this.#endTask(signal);
      case 'failed':
        return this.#end('failed', { failure: signal });
      case 'interrupted':
        return this.#interrupt(signal);
      case 'ended':
        return this.#end('succeeded');
      default:
        assertNever(signal);
    }
  }

  #begin({ promptId, id, text, taskId }: Of<'prompt'>): void {
    if (this.state.ended.includes(promptId) || this.state.turn?.id === promptId)
      return this.#emit({ type: 'noise', what: `turn ${promptId} began a second time` });
    // It was over before this line; at the line's own position, nobody could tell its end from one of the turn that begins here.
    this.#end('interrupted', { position: this.#before });
    const nativeTurnId = promptId;
    const startedAt = this.state.position;
    const common = { id: promptId, startedAt, text, answer: '', hasWorked: false, messages: new Map() };
    if (taskId !== undefined) {
      this.#set({ turn: common });
      return this.#emit({ type: 'turnStarted', nativeTurnId, taskId });
    }
    const deliveryId = this.#ours(text);
    if (deliveryId === undefined) {
      this.#set({ turn: common });
      this.#emit({ type: 'turnStarted', nativeTurnId, typed: { id, text } });
    } else {
      this.#set({ turn: { ...common, deliveryId } });
      this.#markTaken(deliveryId, promptId);
      this.#emit({ type: 'turnStarted', nativeTurnId, deliveryId });
    }
    this.#item({ kind: 'user', text, id });
  }

  #absorb({ id, text }: Of<'absorbed'>): void {
    this.#unqueue(text);
    const nativeTurnId = this.state.turn?.id;
    if (nativeTurnId === undefined)
      return this.#emit({ type: 'noise', what: 'a text was taken up in no turn' });
    const deliveryId = this.#ours(text);
    if (deliveryId === undefined) this.#emit({ type: 'typed', nativeTurnId, typed: { id, text } });
    else {
      this.#markTaken(deliveryId, nativeTurnId);
      this.#emit({ type: 'taken', nativeTurnId, deliveryId });
    }
    this.#item({ kind: 'user', text, id });
  }

  #tellTask({ taskId }: Of<'told'>): void {
    this.#unqueue(taskId);
    const nativeTurnId = this.state.turn?.id;
    if (nativeTurnId !== undefined) this.#emit({ type: 'taskTold', nativeTurnId, taskId });
  }

  #return({ taskId, callId, text }: Of<'returned'>): void {
    if (taskId !== undefined) {
      const task = { taskId, name: `background command ${taskId}`, isTold: false };
      this.#set({ tasks: new Map(this.state.tasks).set(taskId, task) });
    }
    this.#item({ kind: 'toolResult', text, id: callId });
  }

  /** The note of it waits now, to be taken up in the running turn or to begin one. */
  #endTask({ taskId, status, text }: Of<'taskOver'>): void {
    const isTold = this.state.tasks.get(taskId)?.isTold;
    const tasks = new Map(this.state.tasks);
    tasks.delete(taskId);
    this.#set({ tasks, queue: [...this.state.queue, taskId] });
    if (isTold) this.#emit({ type: 'taskEnded', taskId, status, result: text });
  }

  #interrupt({ messageId }: Of<'interrupted'>): void {
    // The line may come behind the text that the turn after it began with: then it speaks of a message before that.
    const isOfBefore = messageId !== undefined && this.state.turn?.messages.has(messageId) === false;
    if (!isOfBefore) this.#end('interrupted');
  }

  #end(status: 'succeeded' | 'failed' | 'interrupted', { failure, position }: End = {}): void {
    const { turn } = this.state;
    if (!turn) return;
    const tasks = new Map([...this.state.tasks].map(([id, task]) => [id, { ...task, isTold: true }]));
    this.#set({ turn: undefined, tasks, ended: [...this.state.ended, turn.id].slice(-endedKept) });
    const usage = usageOf(turn);
    const end: DriverReport = {
      type: 'turnEnded',
      nativeTurnId: turn.id,
      status,
      answer: turn.answer,
      ...(failure ? { error: { kind: failure.kind, message: failure.text } } : {}),
      ...(usage ? { usage } : {}),
      tasks: [...tasks.values()].map(({ taskId, name }) => ({ taskId, name })),
    };
    this.events.push({ ...end, position: position ?? this.state.position });
  }

  #note({ messageId, usage }: { messageId: string; usage?: Tokens }, answer: string): void {
    const { turn } = this.state;
    if (!turn) return;
    const messages = new Map(turn.messages).set(messageId, usage ?? turn.messages.get(messageId));
    this.#set({ turn: { ...turn, hasWorked: true, messages, answer } });
  }

  #unqueue(text: string | undefined): void {
    const { queue } = this.state;
    const at = text === undefined ? 0 : queue.indexOf(text);
    if (at >= 0) this.#set({ queue: [...queue.slice(0, at), ...queue.slice(at + 1)] });
  }

  /** The newest that had been typed by then: an older one that says the same was not taken when it could be. */
  #ours(text: string): string | undefined {
    const isMeant = (sent: SentText): boolean =>
      sent.turnId === undefined && sent.text === text && sent.sentAt < this.state.position;
    return [...this.state.sent].findLast(([, sent]) => isMeant(sent))?.[0];
  }

  #markTaken(deliveryId: string, turnId: string): void {
    const sent = this.state.sent.get(deliveryId);
    if (sent) this.#set({ sent: new Map(this.state.sent).set(deliveryId, { ...sent, turnId }) });
  }

  #item(item: TranscriptItem): void {
    const nativeTurnId = this.state.turn?.id;
    if (nativeTurnId !== undefined) this.#emit({ type: 'item', nativeTurnId, item });
  }

  #set(change: Partial<ScreenState>): void {
    this.state = { ...this.state, ...change };
  }

  #emit(event: DriverReport): void {
    this.events.push({ ...event, position: this.state.position });
  }
}

function usageOf({ messages }: RunningTurn): Usage | undefined {
  const known = [...messages.values()].flatMap((tokens) => tokens ?? []);
  if (known.length === 0) return undefined;
  const sum = (of: keyof Tokens): number => known.reduce((total, tokens) => total + tokens[of], 0);
  return { inputTokens: sum('input'), outputTokens: sum('output') };
}
