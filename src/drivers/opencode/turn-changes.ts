import type { TypedText, Usage } from '../port.ts';
import { toAgentError } from './agent-error.ts';
import type { Draft } from './draft.ts';
import type { AssistantSignal, OpencodeError } from './signal.ts';
import { deliveryOf, type RunningTurn, type SessionState, type WaitingText } from './state.ts';
import { bounded } from './transcript.ts';

/** Whether a message belongs to a turn that is over, so that nothing more can come of it. */
export function isOver(state: SessionState, { messageId, parentId }: AssistantSignal): boolean {
  if (state.past.includes(messageId)) return true;
  return !state.turn && state.ended.includes(parentId) && !state.isBusy;
}

/** Begins the turn of a text: the agent asks its model about it. */
export function begin(draft: Draft, messageId: string): void {
  const earlier = draft.state.waiting.slice(0, indexOf(draft.state, messageId));
  const first = draft.state.waiting.find((text) => text.messageId === messageId);
  const turn: RunningTurn = { id: messageId, answer: {}, told: [], usage: {}, isLimited: false, calls: {} };
  const { error: _, ...rest } = draft.state;
  draft.state = { ...rest, turn, isBusy: true };
  const deliveryId = deliveryOf(draft.state, messageId);
  const typed = deliveryId === undefined && first ? typedIn(first) : undefined;
  const taskId = first ? taskIn(first) : undefined;
  if (first) endToldTask(draft, first);
  draft.emit({
    type: 'turnStarted',
    nativeTurnId: messageId,
    ...(deliveryId === undefined ? {} : { deliveryId }),
    ...(typed ? { typed } : {}),
    ...(deliveryId === undefined && !typed && taskId !== undefined ? { taskId } : {}),
  });
  // What an earlier turn left is in the request as well.
  for (const text of earlier) tellTaken(draft, text);
  if (first) tellUser(draft, first);
  forget(draft, [...earlier, ...(first ? [first] : [])], messageId);
}

/** A request carries the newest text of a user and whatever was heard before it. */
export function takeUp(draft: Draft, messageId: string): void {
  const index = indexOf(draft.state, messageId);
  const taken = index < 0 ? [] : draft.state.waiting.slice(0, index + 1);
  for (const text of taken) tellTaken(draft, text);
  if (taken.length > 0) forget(draft, taken, messageId);
}

/** Ends the running turn. `broken`: why it ended although its last message is not finished. */
export function endTurn(draft: Draft, broken?: OpencodeError): void {
  const { turn } = draft.state;
  if (!turn) return;
  const error = broken ?? turn.newest?.error;
  const status = statusOf(turn, error);
  draft.addPast(...(turn.newest ? [turn.newest.messageId] : []));
  draft.closeTurn(turn.id);
  const { tasks } = draft.state;
  draft.set({
    isBusy: false,
    questions: Object.fromEntries(
      Object.entries(draft.state.questions).filter(([, { sessionId }]) => tasks[sessionId]),
    ),
    tasks: Object.fromEntries(Object.entries(tasks).map(([id, task]) => [id, { ...task, isTold: true }])),
  });
  draft.emit({
    type: 'turnEnded',
    nativeTurnId: turn.id,
    status,
    answer: status === 'succeeded' ? Object.values(turn.answer).join('\n') : '',
    ...(status === 'failed'
      ? {
          error: toAgentError(
            error ?? { name: 'Unknown', message: `The turn ended as ${turn.newest?.finish}.` },
          ),
        }
      : {}),
    ...usageOf(turn),
    tasks: Object.values(tasks).map(({ taskId, name }) => ({ taskId, name })),
  });
}

/** The agent was at work and is idle, and never asked its model: the newest text came to nothing. */
export function failUnbegun(draft: Draft): void {
  const newest = draft.state.waiting.at(-1);
  const error = draft.state.error ?? { name: 'Unknown', message: 'The agent was at work and did nothing.' };
  if (!newest) return;
  begin(draft, newest.messageId);
  endTurn(draft, error);
}

function statusOf(
  turn: RunningTurn,
  error: OpencodeError | undefined,
): 'succeeded' | 'failed' | 'interrupted' {
  if (error) return error.name === 'MessageAbortedError' ? 'interrupted' : 'failed';
  // It stops behind a call only when a person refused to permit it.
  if (turn.newest?.finish === 'tool-calls') return 'interrupted';
  // Aborted while it waited for its provider: the message is closed, without an error and without an answer.
  if (turn.newest?.finish === undefined) return 'interrupted';
  return turn.newest?.finish === 'error' ? 'failed' : 'succeeded';
}

/** What the requests of a turn have used, its sub-agents' included. */
export function usageOf(turn: RunningTurn): { usage?: Usage } {
  const all = Object.values(turn.usage);
  if (all.length === 0) return {};
  const sum = (read: (one: (typeof all)[number]) => number): number =>
    all.reduce((total, one) => total + read(one), 0);
  const usd = sum((one) => one.usd);
  return {
    usage: {
      inputTokens: sum((one) => one.input),
      outputTokens: sum((one) => one.output),
      ...(usd > 0 ? { usd } : {}),
    },
  };
}

function indexOf(state: SessionState, messageId: string): number {
  return state.waiting.findIndex((text) => text.messageId === messageId);
}

function tellTaken(draft: Draft, text: WaitingText): void {
  const nativeTurnId = draft.state.turn?.id ?? '';
  const deliveryId = deliveryOf(draft.state, text.messageId);
  const typed = deliveryId === undefined ? typedIn(text) : undefined;
  const taskId = taskIn(text);
  endToldTask(draft, text);
  if (deliveryId !== undefined) draft.emit({ type: 'taken', nativeTurnId, deliveryId });
  else if (typed) draft.emit({ type: 'typed', nativeTurnId, typed });
  else if (taskId !== undefined) draft.emit({ type: 'taskTold', nativeTurnId, taskId });
  tellUser(draft, text);
}

function tellUser(draft: Draft, text: WaitingText): void {
  const said = textOf(text);
  const nativeTurnId = draft.state.turn?.id ?? '';
  if (said !== '')
    draft.emit({
      type: 'item',
      nativeTurnId,
      item: { kind: 'user', text: bounded(said), id: text.messageId },
    });
}

/** These texts were taken up: they wait no more. */
function forget(draft: Draft, taken: readonly WaitingText[], newest: string): void {
  const ids = new Set([...taken.map((text) => text.messageId), newest]);
  const turnId = draft.state.turn?.id ?? '';
  const deliveries = Object.fromEntries(
    Object.entries(draft.state.deliveries).map(([id, delivery]) => [
      id,
      ids.has(delivery.messageId) && delivery.turnId === undefined
        ? { ...delivery, isHeard: true, turnId }
        : delivery,
    ]),
  );
  draft.set({ deliveries, waiting: draft.state.waiting.filter((text) => !ids.has(text.messageId)) });
  draft.addPast(...ids);
}

function typedIn(text: WaitingText): TypedText | undefined {
  return text.isSynthetic ? undefined : { id: text.messageId, text: textOf(text) };
}

/** The sub-agent whose end the agent tells itself of. */
function taskIn(text: WaitingText): string | undefined {
  return text.isSynthetic ? /^<task id="(ses_\w+)" state="/.exec(textOf(text))?.[1] : undefined;
}

/** The agent is told that a task has ended, of which nobody heard the end. */
function endToldTask(draft: Draft, text: WaitingText): void {
  const { [taskIn(text) ?? '']: task, ...tasks } = draft.state.tasks;
  if (!task) return;
  const [, result = ''] = /<task_(?:result|error)>\n?([\s\S]*?)\n?<\/task_/.exec(textOf(text)) ?? [];
  const status = textOf(text).includes('state="error"') ? 'failed' : 'succeeded';
  draft.set({ tasks });
  if (task.isTold) draft.emit({ type: 'taskEnded', taskId: task.taskId, status, result });
}

function textOf(text: WaitingText): string {
  return Object.values(text.parts).join('\n');
}
