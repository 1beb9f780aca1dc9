import { assertNever } from '../../base/assert-never.ts';
import type { DriverEvent } from '../port.ts';
import { Draft } from './draft.ts';
import { closeCommand, findCommand, noteAgents, openCommand, reduceAgent } from './reduce-background.ts';
import { type RunningTurn, type ThreadState, withTaken } from './thread-state.ts';
import { isCall, transcriptOfEnd, transcriptOfStart } from './transcript.ts';
import { announce, begin, type Context, endTurn, isNewer } from './turn-changes.ts';
import { type CodexItem, type Signal, userText } from './wire.ts';

/** The next state, and what is to be reported. */
export interface Reduced {
  readonly state: ThreadState;
  readonly events: readonly DriverEvent[];
}

/**
 * What one signal means. Pure: no clock, no I/O. Everything Codex says of a turn names the turn, so an end belongs to
 * its turn and to no other, in whatever order signals come: a second end, a start after its end, or an end of a turn
 * older than the running one change nothing and are reported as noise.
 */
export function reduce(state: ThreadState, signal: Signal, context: Context = {}): Reduced {
  const draft = new Draft(state);
  if (signal.type === 'limits') draft.set({ resetsAt: signal.resetsAt });
  else if (signal.threadId !== state.threadId) reduceAgent(draft, signal, context);
  else reduceOwn(draft, signal, context);
  return { state: draft.state, events: draft.events };
}

/** Codex answered our `turn/start` with this turn. */
export function noteStartAnswer(state: ThreadState, deliveryId: string, turnId: string): Reduced {
  const draft = new Draft(state);
  // An answer that names a turn which ran before means that the text was put into it: then it is taken, not started.
  if (state.starting?.deliveryId === deliveryId) {
    const isOver = state.ended.includes(turnId) || (state.turn?.id === turnId && state.turn.isAnnounced);
    draft.set({ starting: isOver ? undefined : { deliveryId, turnId } });
  }
  return { state: draft.state, events: draft.events };
}

function reduceOwn(draft: Draft, signal: Exclude<Signal, { type: 'limits' }>, context: Context): void {
  switch (signal.type) {
    case 'turnStarted':
      return startTurn(draft, signal.turnId, context);
    case 'itemStarted':
    case 'itemCompleted':
      return takeItem(draft, signal, context);
    case 'turnCompleted':
      return endTurn(draft, signal, context);
    case 'turnError':
      // Retries are the agent's own business; the last word is in the turn's end.
      if (!signal.willRetry && draft.state.turn?.id === signal.turnId) draft.setTurn({ error: signal.error });
      return;
    case 'usage':
      return countTokens(draft, signal);
    case 'commandFound':
      return findCommand(draft, signal);
    case 'idle':
    case 'settings':
    case 'requestResolved':
      return;
    default:
      assertNever(signal);
  }
}

function startTurn(draft: Draft, turnId: string, context: Context): void {
  if (draft.state.ended.includes(turnId) || draft.state.turn?.id === turnId) {
    if (!context.isReplay) draft.noise(`turn ${turnId} was started a second time`);
    return;
  }
  // It is announced with its first item: before that, the text that began it is not in the record, and would be lost if
  // the process died.
  begin(draft, turnId);
}

function takeItem(
  draft: Draft,
  signal: Extract<Signal, { type: 'itemStarted' | 'itemCompleted' }>,
  context: Context,
): void {
  const { item, turnId } = signal;
  if (draft.state.turn?.id !== turnId) {
    if (draft.state.ended.includes(turnId) || !isNewer(draft.state, turnId))
      return takeLateItem(draft, signal);
    begin(draft, turnId);
  }
  const turn = draft.state.turn as RunningTurn;
  if (item.type === 'userMessage') takeUserText(draft, turn, item);
  else announce(draft);
  if (turn.completed.has(item.id)) {
    if (!context.isReplay) draft.noise(`item ${item.id} was completed a second time`);
    return;
  }
  noteAgents(draft, item);
  if (signal.type === 'itemStarted') {
    // Text that goes with a call is not an answer.
    if (isCall(item)) draft.setTurn({ answer: '' });
    openCommand(draft, signal);
    return draft.emitItem(turnId, draft.nextOffset(), transcriptOfStart(item));
  }
  const offset = draft.nextOffset() + 1;
  if (item.type === 'agentMessage' && item.phase !== 'commentary') draft.setTurn({ answer: item.text ?? '' });
  draft.setTurn({ completed: new Set([...turn.completed, item.id]) });
  closeCommand(draft, signal);
  draft.emitItem(turnId, offset, transcriptOfEnd(item));
}

/** An item of a turn that is over: the end of something that outlived it. */
function takeLateItem(
  draft: Draft,
  signal: Extract<Signal, { type: 'itemStarted' | 'itemCompleted' }>,
): void {
  if (signal.type === 'itemStarted') return;
  const isLate = draft.state.commands.has(signal.item.id);
  closeCommand(draft, signal);
  if (isLate) draft.emitItem(signal.turnId, undefined, transcriptOfEnd(signal.item));
}

/**
 * The one proof that a text of ours was taken up: a user's message with our id, in this very turn. One with another client's
 * id was typed by a person at Codex's own screen; without an id nobody can say whose it is.
 */
function takeUserText(draft: Draft, turn: RunningTurn, item: CodexItem): void {
  const { deliveries } = draft.state;
  const clientId = item.clientId ?? undefined;
  const isStranger = clientId !== undefined && !deliveries.has(clientId);
  const typed = isStranger ? { id: clientId, text: userText(item) } : undefined;
  const { isAnnounced } = turn;
  announce(draft, { clientId, typed });
  if (clientId === undefined || deliveries.get(clientId) !== undefined) return;
  draft.set({ deliveries: withTaken(deliveries, clientId, turn.id) });
  if (draft.state.turn?.deliveryId === clientId) return;
  const place = [turn.id, draft.nextOffset()] as const;
  if (!typed) draft.emit({ type: 'taken', nativeTurnId: turn.id, deliveryId: clientId }, ...place);
  else if (isAnnounced) draft.emit({ type: 'typed', nativeTurnId: turn.id, typed }, ...place);
}

function countTokens(draft: Draft, signal: Extract<Signal, { type: 'usage' }>): void {
  const { turn } = draft.state;
  if (turn?.id !== signal.turnId) return;
  const { total, last } = signal;
  const before = turn.usageBefore ?? {
    inputTokens: total.inputTokens - last.inputTokens,
    outputTokens: total.outputTokens - last.outputTokens,
  };
  const usage = {
    inputTokens: total.inputTokens - before.inputTokens,
    outputTokens: total.outputTokens - before.outputTokens,
  };
  draft.setTurn({ usageBefore: before, usage });
  if (turn.isAnnounced) draft.emit({ type: 'usage', nativeTurnId: turn.id, usage });
}
