import { assertNever } from '../../base/assert-never.ts';
import type { DriverEvent } from '../port.ts';
import { Draft } from './draft.ts';
import { countTokens, reduceChild, startTask } from './reduce-children.ts';
import type { AskedSignal, AssistantSignal, Signal, ToolSignal } from './signal.ts';
import { type DeliveryState, isOurs, type SessionState } from './state.ts';
import { bounded } from './transcript.ts';
import { begin, endTurn, failUnbegun, isOver, takeUp } from './turn-changes.ts';

/** The next state, and what is to be reported. */
export interface Reduced {
  readonly state: SessionState;
  readonly events: readonly DriverEvent[];
}

/**
 * What one signal means. Pure: no clock, no I/O. Everything may be heard twice, live and from the record: what is known
 * already changes nothing, and then the very same state comes back.
 */
export function reduce(state: SessionState, signal: Signal): Reduced {
  const draft = new Draft(state);
  reduceAny(draft, signal);
  return { state: draft.state, events: draft.events };
}

function reduceAny(draft: Draft, signal: Signal): void {
  switch (signal.type) {
    case 'sending':
      return noteSending(draft, signal);
    case 'notSent': {
      const { [signal.deliveryId]: _, ...deliveries } = draft.state.deliveries;
      return draft.set({ deliveries });
    }
    case 'known':
      return draft.addPast(...signal.messageIds.filter((id) => !draft.state.past.includes(id)));
    case 'closed':
      return close(draft, signal);
    case 'died':
      if (draft.state.turn) draft.emit({ type: 'exited', reason: 'its process died in the turn' });
      return forgetWork(draft);
    case 'exited':
      draft.emit({ type: 'exited', reason: signal.reason });
      return forgetWork(draft);
    case 'noise':
      return draft.emit({ type: 'noise', what: signal.what });
    case 'child':
      return noteChild(draft, signal);
    default:
      if (!isOurs(draft.state, signal.sessionId)) return;
      if (signal.type === 'asked') return ask(draft, signal);
      if (signal.type === 'settled') return settle(draft, signal.questionId);
      return signal.sessionId === draft.state.sessionId
        ? reduceOwn(draft, signal)
        : reduceChild(draft, signal);
  }
}

type OwnSignal = Exclude<
  Signal,
  {
    type:
      | 'sending'
      | 'notSent'
      | 'known'
      | 'closed'
      | 'died'
      | 'exited'
      | 'noise'
      | 'child'
      | 'asked'
      | 'settled';
  }
>;

function reduceOwn(draft: Draft, signal: OwnSignal): void {
  switch (signal.type) {
    case 'user':
      return hearUser(draft, signal.messageId);
    case 'userText':
      return hearUserText(draft, signal);
    case 'assistant':
      return hearAssistant(draft, signal);
    case 'text':
    case 'reasoning':
      return hearText(draft, signal);
    case 'tool':
      return hearTool(draft, signal);
    case 'busy':
      if (!draft.state.isBusy) draft.set({ isBusy: true });
      return;
    case 'retry':
      return hearRetry(draft, signal);
    case 'idle':
      return hearIdle(draft);
    case 'error':
      // What ends a turn is in its last message, too; only without one this is all there is.
      if (!draft.state.turn && draft.state.isBusy) draft.set({ error: signal.error });
      return;
    case 'removed':
      if (draft.state.waiting.some(({ messageId }) => messageId === signal.messageId))
        draft.set({ waiting: draft.state.waiting.filter(({ messageId }) => messageId !== signal.messageId) });
      return;
    default:
      assertNever(signal);
  }
}

function noteSending(draft: Draft, { deliveryId, messageId }: Extract<Signal, { type: 'sending' }>): void {
  const deliveries: Record<string, DeliveryState> = {
    ...draft.state.deliveries,
    [deliveryId]: { messageId, isSent: true, isHeard: false },
  };
  const settled = Object.keys(deliveries).filter((id) => deliveries[id]?.turnId !== undefined);
  for (const id of settled.slice(0, Math.max(0, settled.length - 1000))) delete deliveries[id];
  draft.set({ deliveries });
}

function noteChild(draft: Draft, { sessionId, parentId, title }: Extract<Signal, { type: 'child' }>): void {
  if (!isOurs(draft.state, parentId) || draft.state.children[sessionId]) return;
  draft.set({ children: { ...draft.state.children, [sessionId]: { parentId, title } } });
}

function hearUser(draft: Draft, messageId: string): void {
  const { waiting, past, turn, deliveries } = draft.state;
  if (past.includes(messageId) || turn?.id === messageId) return;
  if (waiting.some((text) => text.messageId === messageId)) return;
  draft.set({ waiting: [...waiting, { messageId, parts: {}, isSynthetic: true }] });
  const [id, delivery] = Object.entries(deliveries).find(([, d]) => d.messageId === messageId) ?? [];
  if (id === undefined || !delivery || delivery.isHeard) return;
  draft.set({ deliveries: { ...deliveries, [id]: { ...delivery, isHeard: true } } });
}

function hearUserText(draft: Draft, signal: Extract<Signal, { type: 'userText' }>): void {
  const found = draft.state.waiting.find(({ messageId }) => messageId === signal.messageId);
  if (!found || found.parts[signal.partId] === signal.text) return;
  const isSynthetic = found.isSynthetic && signal.isSynthetic;
  // Of what a person wrote, only that; of what the agent wrote in somebody's name, all of it.
  const kept = found.isSynthetic && !isSynthetic ? {} : found.parts;
  const isWanted = isSynthetic === signal.isSynthetic;
  const next = { ...found, isSynthetic, parts: isWanted ? { ...kept, [signal.partId]: signal.text } : kept };
  draft.set({ waiting: draft.state.waiting.map((text) => (text === found ? next : text)) });
}

function hearAssistant(draft: Draft, signal: AssistantSignal): void {
  if (isOver(draft.state, signal)) return;
  const known = draft.state.turn?.newest;
  if (known?.messageId === signal.messageId) {
    // What is whole stays whole, whatever an older word about it says.
    if (known.completedAt !== undefined && signal.completedAt === undefined) return;
    if (JSON.stringify(known) === JSON.stringify(signal)) return;
    draft.setTurn({ newest: signal });
  } else {
    if (draft.state.turn) takeUp(draft, signal.parentId);
    else begin(draft, signal.parentId);
    if (known) draft.addPast(known.messageId);
    stopLimit(draft);
    draft.setTurn({ newest: signal, answer: {} });
  }
  countTokens(draft, signal);
}

function hearText(draft: Draft, signal: Extract<Signal, { type: 'text' | 'reasoning' }>): void {
  const { turn } = draft.state;
  if (turn?.newest?.messageId !== signal.messageId || turn.told.includes(signal.partId)) return;
  stopLimit(draft);
  const isAnswer = signal.type === 'text' && !turn.newest.isSummary;
  if (isAnswer) draft.setTurn({ answer: { ...turn.answer, [signal.partId]: signal.text } });
  draft.setTurn({ told: [...turn.told, signal.partId] });
  if (signal.text === '') return;
  const kind = signal.type === 'text' ? 'text' : 'thought';
  const item = { kind, text: bounded(signal.text), id: signal.partId } as const;
  draft.emit({ type: 'item', nativeTurnId: turn.id, item });
}

function hearTool(draft: Draft, signal: ToolSignal): void {
  const { turn } = draft.state;
  if (turn?.newest?.messageId !== signal.messageId) return;
  const { partId, tool } = signal;
  if (signal.status === 'pending') return;
  stopLimit(draft);
  if (signal.isBackground && !turn.told.includes(`${partId}:task`)) {
    startTask(draft, signal);
    draft.setTurn({ told: [...turn.told, `${partId}:task`] });
  }
  const tell = (mark: string, kind: 'toolCall' | 'toolResult', text: string): void => {
    const told = draft.state.turn?.told ?? [];
    if (told.includes(mark)) return;
    draft.setTurn({ told: [...told, mark] });
    draft.emit({ type: 'item', nativeTurnId: turn.id, item: { kind, text: bounded(text), id: partId } });
  };
  if (!turn.told.includes(`${partId}:call`)) {
    // Text that goes with a call is not an answer.
    draft.setTurn({ answer: {}, calls: { ...turn.calls, [partId]: { sessionId: signal.sessionId, tool } } });
    tell(`${partId}:call`, 'toolCall', `${tool} ${signal.input}`);
  }
  if (signal.status === 'running') return;
  const { [partId]: _, ...calls } = draft.state.turn?.calls ?? {};
  if (_ !== undefined) draft.setTurn({ calls });
  tell(`${partId}:result`, 'toolResult', signal.output);
}

function hearRetry(draft: Draft, { message, next }: Extract<Signal, { type: 'retry' }>): void {
  const { turn } = draft.state;
  // A further try at another time is told again, so that the time that is shown stays true.
  if (!turn || (turn.isLimited && (next === undefined || next === turn.limitedUntil))) return;
  draft.setTurn({ isLimited: true, ...(next === undefined ? {} : { limitedUntil: next }) });
  draft.emit({
    type: 'waiting',
    waitsFor: 'capacity',
    text: message,
    ...(next === undefined ? {} : { until: next }),
  });
}

/** The provider answers again. */
function stopLimit(draft: Draft): void {
  if (!draft.state.turn?.isLimited) return;
  draft.setTurn({ isLimited: false });
  draft.emit({ type: 'resumed' });
}

/**
 * opencode is idle. After an abort or an error it says so twice, at first while the last message is still being closed: the
 * end is the one that comes behind the last message.
 */
function hearIdle(draft: Draft): void {
  const { turn, isBusy } = draft.state;
  if (turn && turn.newest?.completedAt === undefined) return;
  if (turn) endTurn(draft);
  else if (isBusy) failUnbegun(draft);
  if (draft.state.isBusy) draft.set({ isBusy: false });
}

/** A turn of which the record shows that it is over. */
function close(draft: Draft, { messageId, isBroken }: Extract<Signal, { type: 'closed' }>): void {
  const newest = draft.state.turn?.newest;
  if (newest?.messageId !== messageId || (newest.completedAt === undefined) !== isBroken) return;
  const error = { name: 'Broken', message: 'The agent stopped without finishing its message.' };
  endTurn(draft, isBroken ? error : undefined);
}

/** Whatever was at work or on its way went with the process. */
function forgetWork(draft: Draft): void {
  const { turn, isBusy, questions, tasks, deliveries } = draft.state;
  if (turn) {
    draft.addPast(...(turn.newest ? [turn.newest.messageId] : []));
    draft.closeTurn(turn.id);
  }
  const isAtRest = !isBusy && Object.keys(questions).length + Object.keys(tasks).length === 0;
  if (!isAtRest) draft.set({ isBusy: false, questions: {}, tasks: {} });
  const onItsWay = Object.entries(deliveries).filter(([, { isSent, isHeard }]) => isSent && !isHeard);
  if (onItsWay.length === 0) return;
  const lost = onItsWay.map(([id, delivery]) => [id, { ...delivery, isSent: false }] as const);
  draft.set({ deliveries: { ...deliveries, ...Object.fromEntries(lost) } });
}

function ask(draft: Draft, signal: Extract<Signal, { type: 'asked' }>): void {
  const { questions } = draft.state;
  if (questions[signal.questionId] !== undefined) return;
  draft.set({ questions: { ...questions, [signal.questionId]: signal } });
  tellQuestion(draft, signal);
}

function tellQuestion(draft: Draft, { questionId, text, choices }: AskedSignal): void {
  const declines = choices.includes('reject') ? { declines: 'reject' } : {};
  draft.emit({ type: 'waiting', waitsFor: 'input', questionId, text, choices, ...declines });
}

function settle(draft: Draft, questionId: string): void {
  const { [questionId]: found, ...questions } = draft.state.questions;
  if (found === undefined) return;
  draft.set({ questions });
  draft.emit({ type: 'resumed' });
  // Of several that were open, the others still are.
  const [next] = Object.values(questions);
  if (next) tellQuestion(draft, next);
}
