import type { ExecutionId, FreshIds, RunId } from '../base/ids.ts';
import { budgetLeft, isUsedUp, mayRetry, retryDelayMs, smallerBudget } from './attempts.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { NewMessage } from './enqueue.ts';
import { addMessage, addUnsent, refusalOfSend } from './enqueue.ts';
import type { Budget, Execution } from './execution.ts';
import { outcomeOf } from './execution.ts';
import { checkOf, mayRepair, refusalOfGate, repairText } from './gate.ts';
import { lengthOf, plannedAt } from './plan.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import type { Verdict } from './run-end.ts';
import { endRun } from './run-end.ts';
import type { FilledInputs } from './send-workflow.ts';
import { isEvaluation, letIn, sendWorkflow } from './send-workflow.ts';
import type { PlannedMessage, Run } from './session.ts';

/** Somebody looks whether a run may go on. */
export interface Advance {
  readonly now: number;
  readonly id: RunId;
  /** How far the caller believes the run is: the compare-and-set that makes a repetition harmless (R13). */
  readonly moves: number;
  /** The text of the message that `indexToSend` names, its templates filled in by whoever can read files. */
  readonly text?: FilledText;
  /** What a gate says before what was wrong, filled in likewise, where `needsRepairText` asked for it. */
  readonly repairText?: FilledText;
  /** The inputs of the workflow that `indexToSend` names, if that is one, filled in likewise. */
  readonly inputs?: FilledInputs;
  readonly fresh: FreshIds;
}

/** A text whose templates were filled in, or why that could not be done. */
export type FilledText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * `notYet`: the message before is open, or its back-off is not over. `begun`: a workflow has got the workspace that it
 * waited for. `backsOff`: it has failed, and is sent again later, as was decided now. `needsText`: the next text or input has
 * templates and was not given; nothing was done. `needsRepairText`: the same of what the gate of the last message says. `stale`: the caller did not know how far the
 * run was; nothing was done.
 */
export type Advanced =
  | 'sent'
  | 'begun'
  | 'ended'
  | 'backsOff'
  | 'notYet'
  | 'needsText'
  | 'needsRepairText'
  | 'stale';

/**
 * The only thing that ever sends a scheduled message: when the message before it is closed, decides by its outcome, and
 * sends it again, sends the next or ends the run. Place, message and queue entry are one transaction.
 */
export function* advance(command: Advance): Rule<Advanced> {
  const draft = new Draft(command.now);
  const run = yield* ask('run', command.id);
  if (!run || run.state === 'ended') return draft.done<Advanced>('stale');
  const isStale = run.moves !== command.moves;
  if (isStale && rules.advanceOnce && !ignoresBackOff(run, command)) return draft.done<Advanced>('stale');
  // Without the rule, whoever looked before another one advanced believes that the message it saw was the last.
  const currentId = isStale && !rules.advanceOnce ? null : run.currentId;
  const current = currentId === null ? undefined : yield* ask('execution', currentId);
  if (current && !current.closed)
    return draft.done<Advanced>((yield* letIn(draft, current)) ? 'begun' : 'notYet');
  const last = current ? outcomeOf(current) : undefined;
  const before = plannedAt(run, run.cursor - 1);
  const repairs = mayRepair(before, run, last);
  const again = last?.outcome === 'failed' && mayRetry(before, run.tries - run.repairs, last.code);
  const left = yield* budgetLeft(run);
  const stops = yield* whyStop(run, last, repairs || again, left);
  if (stops) {
    yield* endRun(draft, run, stops, stops.by ?? current, command.fresh);
    return draft.done<Advanced>('ended');
  }
  if (repairs && current && run.retryAt === null)
    return draft.done(yield* repairAt(draft, run, current, left, command));
  if (!again) return draft.done(yield* sendAt(draft, run, run.cursor, left, command));
  if (run.retryAt === null) return draft.done(backOff(draft, run));
  if (run.retryAt > command.now && !ignoresBackOff(run, command))
    return draft.done(waitOn(draft, run, run.retryAt));
  return draft.done(yield* sendAt(draft, run, run.cursor - 1, left, command));
}

/** The message that `advance` would send now, should it send one. */
export function indexToSend(run: Pick<Run, 'cursor' | 'retryAt'>): number {
  return run.retryAt === null ? run.cursor : run.cursor - 1;
}

/** Whether the text of a message is filled in before it is sent. A person's text stays as it is, unless they say so. */
function hasTemplates(
  run: Pick<Run, 'scheduleId'>,
  { text, templates }: Pick<PlannedMessage, 'text' | 'templates'>,
): boolean {
  return (templates === true || run.scheduleId !== null) && text.includes('{{');
}

/** The inputs of a workflow that are filled in before it is sent, as texts of messages are: name and text. */
export function inputsToFill(run: Pick<Run, 'scheduleId'>, planned: PlannedMessage): [string, string][] {
  if (planned.templates !== true && run.scheduleId === null) return [];
  const inputs = Object.entries(planned.workflow?.graph.inputs ?? {});
  return inputs.filter((pair): pair is [string, string] => {
    const [, value] = pair;
    return typeof value === 'string' && value.includes('{{');
  });
}

/** Without the rule, whoever looked before the back-off began knows of none. */
function ignoresBackOff(run: Run, command: Advance): boolean {
  return !rules.backOffOnce && run.retryAt !== null && command.moves === run.moves - 1;
}

/** What a run comes to. */
interface Stop extends Verdict {
  /** What it came to that by; absent: by what was sent last. */
  readonly by?: Execution;
}

/** Why no further message is sent, if so. Cancellation is latched between two messages and during a back-off too. */
function* whyStop(
  run: Run,
  last: Verdict | undefined,
  repeats: boolean,
  left: Budget | null,
): Asking<Stop | undefined> {
  if (run.cancelRequested) return { outcome: 'cancelled', code: 'CANCELLED' };
  if (last?.outcome === 'cancelled') return last;
  const before = plannedAt(run, run.cursor - 1);
  const mayGoOn = before?.onFailure === 'continue' || isEvaluation(run, run.cursor);
  if (last?.outcome === 'failed' && !repeats && !mayGoOn) return last;
  if (run.cursor >= lengthOf(run) && !repeats)
    return (yield* failureScored(run)) ?? last ?? { outcome: 'succeeded', code: null };
  const owner = run.ownerId === null ? undefined : yield* ask('execution', run.ownerId);
  const session = run.sessionId === null ? undefined : yield* ask('session', run.sessionId);
  const refused = session ? yield* refusalOfSend(session, owner) : undefined;
  if (!refused) return isUsedUp(left) ? { outcome: 'failed', code: 'BUDGET' } : undefined;
  return refused.code === 'CANCELLED' || refused.code === 'SESSION_STOPPED'
    ? { outcome: 'cancelled', code: 'CANCELLED' }
    : { outcome: 'failed', code: refused.code };
}

/**
 * The back-off is not over. Whatever called before its time took the place of the wake-up that was owed. More than was
 * asked for is left only when the clock was set back since: then it begins anew.
 */
function waitOn(draft: Draft, run: Run, retryAt: number): Advanced {
  const latest = draft.now + delayOf(run);
  const isAnew = retryAt > latest;
  if (isAnew) draft.add({ do: 'patchRun', id: run.id, set: { retryAt: latest, moves: run.moves + 1 } });
  draft.wake('run', run.id, Math.min(retryAt, latest));
  return isAnew ? 'backsOff' : 'notYet';
}

function delayOf(run: Run): number {
  const { backoffMs = 0 } = plannedAt(run, run.cursor - 1)?.retry ?? {};
  return retryDelayMs(backoffMs, run.tries - run.repairs);
}

/** What was evaluated last had failed: that is what the run comes to, whatever its evaluation said. */
function* failureScored(run: Run): Asking<Stop | undefined> {
  if (!isEvaluation(run, run.cursor - 1)) return undefined;
  const by = yield* ask('latestOfRun', run.id, run.cursor - 2);
  const verdict = by && outcomeOf(by);
  return by && verdict?.outcome === 'failed' ? { ...verdict, by } : undefined;
}

/** The message failed and is sent again later: its wake-up is owed in this very transaction. */
function backOff(draft: Draft, run: Run): Advanced {
  const retryAt = draft.now + delayOf(run);
  draft.add({ do: 'patchRun', id: run.id, set: { retryAt, moves: run.moves + 1 } });
  const data = { runId: run.id, index: run.cursor - 1, tries: run.tries, retryAt };
  draft.tell({ type: 'run.backsOff', rootId: null, sessionId: run.sessionId, data });
  draft.wake('run', run.id, retryAt);
  return 'backsOff';
}

/** What the gate refused goes back at once: the next attempt of the same message, with what was wrong as its text. */
function* repairAt(
  draft: Draft,
  run: Run,
  refused: Execution,
  left: Budget | null,
  command: Advance,
): Asking<Advanced> {
  const index = run.cursor - 1;
  const planned = plannedAt(run, index);
  const gate = planned?.gate;
  if (!gate) throw new Error(`message ${index} of run ${run.id} has no gate`);
  const { repairText: filled } = command;
  if (!filled && hasTemplates(run, { ...planned, text: gate.repairText ?? '' })) return 'needsRepairText';
  const said = filled?.ok ? filled.text : gate.repairText;
  const text = repairText(said, gate, run, yield* refusalOfGate(refused));
  return yield* sendAt(draft, run, index, left, command, filled?.ok === false ? filled : { ok: true, text });
}

function* sendAt(
  draft: Draft,
  run: Run,
  index: number,
  left: Budget | null,
  command: Advance,
  mended?: FilledText,
): Asking<Advanced> {
  const planned = plannedAt(run, index);
  if (!planned) throw new Error(`run ${run.id} has no message ${index}`);
  const attempt = ((yield* ask('latestOfRun', run.id, index))?.attempt ?? 0) + 1;
  const place: SentPlace = { id: command.fresh.at('execution', 0), index, attempt };
  const { workflow: call } = planned;
  if (call) {
    const inputs = command.inputs ?? { ok: true, inputs: call.graph.inputs };
    if (!command.inputs && inputsToFill(run, planned).length > 0) return 'needsText';
    yield* sendWorkflow(draft, run, { ...place, planned, call, inputs, left });
    moveTo(draft, run, place, undefined, false);
    return 'sent';
  }
  const isTemplate = mended === undefined && hasTemplates(run, planned);
  if (isTemplate && !command.text) return 'needsText';
  const text = mended ?? (isTemplate && command.text ? command.text : { ok: true, text: planned.text });
  const owner = yield* sendMessage(draft, run, planned, place, left, text);
  moveTo(draft, run, place, owner, mended !== undefined);
  return 'sent';
}

/** Where a run comes to by what it sends. */
interface SentPlace {
  readonly id: ExecutionId;
  readonly index: number;
  readonly attempt: number;
}

/** Puts a message into the queue of the session; answers whose program the run is. */
function* sendMessage(
  draft: Draft,
  run: Run,
  planned: PlannedMessage,
  { id, index, attempt }: SentPlace,
  left: Budget | null,
  filled: FilledText,
): Asking<Execution | undefined> {
  const session = run.sessionId === null ? undefined : yield* ask('session', run.sessionId);
  const owner = run.ownerId === null ? undefined : yield* ask('execution', run.ownerId);
  if (!session) throw new Error(`run ${run.id} has no session for message ${index}`);
  const message: NewMessage = {
    id,
    sessionId: session.id,
    text: filled.ok ? filled.text : planned.text,
    timeoutMs: planned.timeoutMs,
    join: planned.join,
    check: checkOf(planned),
    background: planned.background,
    budget: smallerBudget(planned.budget ?? null, left),
    run: { id: run.id, index, attempt },
    ...(owner ? { parent: owner } : {}),
  };
  if (filled.ok) yield* addMessage(draft, session, message);
  else yield* addUnsent(draft, session, message, { code: 'TEMPLATE_FAILED', message: filled.message });
  return owner;
}

/** The run stands at this place now. */
function moveTo(
  draft: Draft,
  run: Run,
  { id, index, attempt }: SentPlace,
  owner: Execution | undefined,
  isRepair: boolean,
): void {
  const isAgain = index < run.cursor;
  const tries = isAgain ? run.tries + 1 : 1;
  const repairs = isAgain ? run.repairs + (isRepair ? 1 : 0) : 0;
  const set = { cursor: index + 1, currentId: id, tries, repairs, retryAt: null, moves: run.moves + 1 };
  draft.add({ do: 'patchRun', id: run.id, set: run.again ? { ...set, again: null } : set });
  draft.tell({
    type: 'run.advanced',
    rootId: owner?.rootId ?? id,
    sessionId: run.sessionId,
    data: {
      runId: run.id,
      index,
      attempt,
      executionId: id,
      ...(isRepair ? { repair: repairs } : {}),
    },
  });
}
