import { assertNever } from '../../base/assert-never.ts';
import type { DriverReport } from '../port.ts';
import { Draft } from './draft.ts';
import { describeCall, readQuestion, refusal } from './read-question.ts';
import { reduceTasks, settleTasks } from './reduce-tasks.ts';
import type { ClaudeState, RunningTurn } from './state.ts';
import {
  announce,
  beginTurn,
  decideTurn,
  endIfNothingFollows,
  endTurn,
  ensureTurn,
  goOn,
  takeText,
  tellOfTask,
} from './turns.ts';
import { kindOfError, verdictOf } from './verdict.ts';
import type { ResultSignal, Signal } from './wire.ts';

/** What a reduction cannot see in the line. */
export interface Context {
  /** Where the line begins: it names a turn that begins with it. */
  readonly at: number;
  /** Whether a person is asked what the agent wants to know. */
  readonly asks: boolean;
}

/** The next state, and what is to be reported. */
export interface Reduced {
  readonly state: ClaudeState;
  readonly reports: readonly DriverReport[];
}

/**
 * What one line means. Pure: no clock, no I/O, so the same lines mean the same when they are read again. A turn here is
 * what one result closes: several may follow each other without the agent being idle, each with its own texts and verdict.
 */
export function reduce(state: ClaudeState, signal: Signal, context: Context): Reduced {
  const draft = new Draft(state, context.at);
  reduceSignal(draft, signal, context);
  return { state: draft.state, reports: draft.reports };
}

/** The process is dead: the turn that was over has ended, and whatever else ran is lost with it. */
export function reduceExit(state: ClaudeState): Reduced {
  const draft = new Draft(state, 0);
  endTurn(draft);
  draft.set({ turn: undefined, questions: new Map(), untold: [] });
  return { state: draft.state, reports: draft.reports };
}

function reduceSignal(draft: Draft, signal: Signal, context: Context): void {
  switch (signal.type) {
    case 'lifecycle':
      return takeLifecycle(draft, signal);
    case 'state':
      return signal.state === 'idle' ? takeIdle(draft) : undefined;
    case 'init':
      return takeInit(draft);
    case 'replay':
      return takeReplay(draft, signal);
    case 'assistant':
      return takeAssistant(draft, signal);
    case 'toolResults':
      return takeToolResults(draft, signal);
    case 'result':
      return takeResult(draft, signal);
    case 'tasks':
    case 'taskStarted':
    case 'taskUpdated':
    case 'taskNotice':
      return reduceTasks(draft, signal);
    case 'ask':
      return takeQuestion(draft, signal, context);
    case 'askCancelled':
    case 'answer':
      return settleQuestion(draft, signal.requestId, context);
    case 'retry':
      return takeRetry(draft, signal);
    case 'limits':
      return draft.set({ resetsAt: signal.resetsAt });
    case 'garbage':
      return draft.noise(signal.what);
    case 'quiet':
      return;
    default:
      assertNever(signal);
  }
}

function takeLifecycle(
  draft: Draft,
  {
    uuid,
    state,
  }: { readonly uuid: string; readonly state: 'queued' | 'started' | 'completed' | 'cancelled' },
): void {
  draft.set({ hasLifecycle: true });
  const text = draft.state.texts.get(uuid);
  if (state === 'queued') {
    if (text?.state === 'sent') draft.setText(uuid, { id: text.id, state: 'queued' });
    return;
  }
  if (state === 'started') return takeText(draft, uuid);
  const { turn } = draft.state;
  if (turn?.open.includes(uuid)) {
    const open = turn.open.filter((other) => other !== uuid);
    draft.setTurn({ open, wasCancelled: state === 'cancelled' });
    return endIfNothingFollows(draft);
  }
  // Cancelled without having been started: the one proof that it never will be.
  const isUntaken = text?.state === 'sent' || text?.state === 'queued';
  if (text && isUntaken && state === 'cancelled') {
    draft.setText(uuid, { id: text.id, state: 'withdrawn' });
    endIfNothingFollows(draft);
  }
}

function takeIdle(draft: Draft): void {
  const { turn } = draft.state;
  // An agent that is idle and has closed every text of its turn has ended it, also when it says nothing else of it.
  if (turn && !turn.verdict && turn.isAnnounced && turn.hasTexts && turn.open.length === 0) {
    const error = { kind: 'agent', message: 'The agent ended its turn without a result.' } as const;
    const { answer, wasCancelled } = turn;
    draft.setTurn({
      verdict: wasCancelled ? { status: 'interrupted', answer } : { status: 'failed', answer, error },
    });
  }
  endTurn(draft);
  settleTasks(draft);
}

/** Every stretch of work has one. Older programs do not say before the text itself whose it is. */
function takeInit(draft: Draft): void {
  beginTurn(draft);
  if (draft.state.hasLifecycle) announce(draft);
}

function takeReplay(draft: Draft, signal: Extract<Signal, { type: 'replay' }>): void {
  for (const taskId of signal.taskIds) tellOfTask(draft, taskId);
  if (signal.taskIds.length > 0) return;
  const text = draft.state.texts.get(signal.uuid);
  if (!draft.state.hasLifecycle && text && text.state !== 'taken') takeText(draft, signal.uuid);
  if (!text || signal.text === '') return;
  const known = draft.state.texts.get(signal.uuid);
  const turnId = known?.state === 'taken' ? known.turnId : undefined;
  draft.report({
    type: 'item',
    ...(turnId === undefined ? {} : { nativeTurnId: turnId }),
    item: { kind: 'user', text: signal.text },
  });
}

function takeAssistant(draft: Draft, signal: Extract<Signal, { type: 'assistant' }>): void {
  const { parent, blocks, error } = signal;
  if (parent !== undefined) {
    // A sub-agent works for the turn that called it, also when that is over.
    const turnId = draft.state.calls.get(parent) ?? draft.state.turn?.id;
    for (const block of blocks)
      if (block.type === 'toolUse' && turnId !== undefined) draft.addCall(block.id, turnId, 'subAgent');
    return;
  }
  if (blocks.length === 0) return;
  const turn = ensureTurn(draft);
  goOn(draft);
  if (error !== undefined) draft.setTurn({ error });
  for (const block of blocks) {
    if (block.type === 'toolUse') {
      draft.addCall(block.id, turn.id, 'agent');
      // Text that goes with a call is not an answer.
      draft.setTurn({ answer: '' });
      const text = describeCall(block.name, block.input);
      draft.report({
        type: 'item',
        nativeTurnId: turn.id,
        item: { kind: 'toolCall', text, id: block.id },
      });
    } else {
      if (block.type === 'text') draft.setTurn({ answer: block.text });
      draft.report({ type: 'item', nativeTurnId: turn.id, item: { kind: block.type, text: block.text } });
    }
  }
}

function takeToolResults(draft: Draft, signal: Extract<Signal, { type: 'toolResults' }>): void {
  reduceTasks(draft, signal);
  if (signal.parent !== undefined) return;
  goOn(draft);
  for (const { toolUseId, text } of signal.results) {
    const turnId = draft.state.calls.get(toolUseId) ?? draft.state.turn?.id;
    draft.report({
      type: 'item',
      ...(turnId === undefined ? {} : { nativeTurnId: turnId }),
      item: { kind: 'toolResult', text, id: toolUseId },
    });
  }
}

function takeResult(draft: Draft, result: ResultSignal): void {
  ensureTurn(draft);
  goOn(draft);
  const actual = draft.state.untold.find(({ runId }) => runId !== undefined && runId === result.runId);
  if (actual) tellOfTask(draft, actual.taskId);
  const turn = draft.state.turn as RunningTurn;
  const { usd: usdBefore, resetsAt } = draft.state;
  if (result.usd !== undefined) draft.set({ usd: result.usd });
  decideTurn(draft, verdictOf(result, turn, { usdBefore, resetsAt }));
}

function takeQuestion(draft: Draft, signal: Extract<Signal, { type: 'ask' }>, { asks }: Context): void {
  const { requestId, subtype, request } = signal;
  const { turn } = draft.state;
  const isOrphan = !turn?.isAnnounced || turn.verdict !== undefined;
  const question = subtype === 'can_use_tool' ? readQuestion(request, isOrphan) : undefined;
  if (!question) {
    draft.noise(`the agent asked for something that is not offered: ${subtype}`);
    return draft.addQuestion(requestId, { text: '', choices: [], isOrphan: true, request });
  }
  const isFirst = ![...draft.state.questions.values()].some((other) => !other.isOrphan);
  draft.addQuestion(requestId, question);
  if (asks && !isOrphan && isFirst) reportQuestion(draft, requestId);
}

function reportQuestion(draft: Draft, requestId: string): void {
  const question = draft.state.questions.get(requestId);
  if (!question) return;
  const { text, choices } = question;
  const declines = choices.includes(refusal) ? { declines: refusal } : {};
  draft.report({ type: 'waiting', waitsFor: 'input', questionId: requestId, text, choices, ...declines });
}

/** It was answered, by whomever, or is void. The next one of the same turn is asked then. */
function settleQuestion(draft: Draft, requestId: string, { asks }: Context): void {
  const question = draft.state.questions.get(requestId);
  if (!question) return;
  const shown = [...draft.state.questions].find(([, other]) => !other.isOrphan)?.[0];
  draft.dropQuestion(requestId);
  if (!asks || question.isOrphan || shown !== requestId) return;
  draft.report({ type: 'resumed' });
  const next = [...draft.state.questions].find(([, other]) => !other.isOrphan)?.[0];
  if (next !== undefined) reportQuestion(draft, next);
}

function takeRetry(draft: Draft, signal: Extract<Signal, { type: 'retry' }>): void {
  const { turn, resetsAt } = draft.state;
  const kind = kindOfError(signal.error, signal.status);
  if (kind === 'agent' || !turn?.isAnnounced || turn.verdict || turn.isLimited) return;
  draft.setTurn({ isLimited: true });
  draft.report({
    type: 'waiting',
    waitsFor: kind,
    text: signal.text,
    ...(kind === 'capacity' && resetsAt !== undefined ? { until: resetsAt } : {}),
  });
}
