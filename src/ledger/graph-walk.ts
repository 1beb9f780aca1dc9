import type { ExecutionId, FreshIds } from '../base/ids.ts';
import { mayRetryStep, retryDelayMs } from './attempts.ts';
import type { Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import type { Execution } from './execution.ts';
import { isSettled, outcomeOf } from './execution.ts';
import { cancelledEnding } from './graph-end.ts';
import type { StepEnd } from './graph-moves.ts';
import { graphAt, GraphMoves } from './graph-moves.ts';
import type { GraphStep, ProgramEnd, StepRef } from './graph.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { rules } from './rules.ts';
import { end } from './settle.ts';
import type { RouteProgram } from './step-plan.ts';

/** The attempt of a step that was its current one may have closed. */
export interface StepEnded {
  readonly now: number;
  readonly ref: StepRef;
}

/** `stale`: nothing of the step has closed, or that was dealt with. */
export type StepMoved = 'ended' | 'backsOff' | 'stale';

/**
 * The attempt of a step has closed: the step is tried again later, or it has come to its end, with all that follows of that.
 * Idempotent: a repetition finds that the step does not run.
 */
export function* stepEnded(command: StepEnded): Rule<StepMoved> {
  const draft = new Draft(command.now);
  const step = yield* ask('graphStep', command.ref);
  const attempt = step?.currentId ? yield* ask('execution', step.currentId) : undefined;
  const at = step && (yield* graphAt(step.graphId));
  if (!at || step.state !== 'running' || !attempt?.closed) return draft.done<StepMoved>('stale');
  const { graph, owner } = at;
  // A conversation ends with the attempt that hosts it.
  if (attempt.runsIn !== null) draft.wake('session', attempt.runsIn);
  const moves = new GraphMoves(draft, graph, owner);
  const how = endOf(step, attempt, graph.isStopping);
  const goesOn = graph.state === 'running' && !graph.isStopping && owner.cancelRequested === null;
  if (goesOn && how.state === 'failed' && mayRetryStep(step.plan.retry, step.tries, how.reason ?? null)) {
    const retryAt = draft.now + retryDelayMs(step.plan.retry?.backoffMs ?? 0, step.tries);
    const reason = how.reason ?? null;
    moves.move(step, { state: 'backsOff', retryAt, reason, programEnd: null }, { retryAt, reason });
    moves.write();
    draft.wake('step', step.ref, retryAt);
    return draft.done<StepMoved>('backsOff');
  }
  yield* moves.end(step, how);
  moves.write();
  // The whole had ended before what still ran in it.
  if (graph.state === 'ended') draft.wake('graph', graph.id);
  return draft.done<StepMoved>('ended');
}

/** What the step comes to by an attempt that has closed. */
function endOf(step: GraphStep, attempt: Execution, isStopping: boolean): StepEnd {
  const { outcome, code } = outcomeOf(attempt);
  const { does } = step.plan;
  const { error, result } = attempt;
  if (outcome === 'cancelled') return { state: 'cancelled', reason: isStopping ? 'failFast' : 'CANCELLED' };
  if (outcome === 'failed') return { state: 'failed', reason: code ?? 'AGENT_FAILED', error, result };
  const outputs = step.programEnd?.outputs ?? {};
  if (does.type !== 'route') return { state: 'succeeded', result, outputs };
  const chosen = chosenCase(does, result ?? '');
  if (chosen !== undefined) return { state: 'succeeded', result: chosen, outputs };
  return { state: 'failed', reason: 'ROUTE_FAILED', error: noCase(does, result ?? ''), result };
}

/** The case that a text names: as a whole, or as its last line that says anything. Undefined: none, and there is no other way. */
export function chosenCase(
  route: Pick<RouteProgram, 'cases' | 'otherwise'>,
  text: string,
): string | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const said = [text.trim(), lines.findLast((line) => line !== '') ?? ''].map(bare);
  const named = Object.keys(route.cases).find((name) => said.includes(bare(name)));
  return named ?? route.otherwise ?? undefined;
}

/** Agents put marks around a word. */
function bare(text: string): string {
  return text.replace(/^[\s"'`*_.]+|[\s"'`*_.]+$/g, '').toLowerCase();
}

/** Why a route goes nowhere, for people. */
export function noCase(route: Pick<RouteProgram, 'cases'>, text: string): { code: string; message: string } {
  const cases = Object.keys(route.cases).join(', ');
  return { code: 'ROUTE_FAILED', message: `"${text.trim().slice(-200)}" is none of its cases: ${cases}.` };
}

/** The program of an attempt has ended: a script, whose end we saw. */
export interface EndProgram {
  readonly now: number;
  /** The attempt. */
  readonly id: ExecutionId;
  readonly end: ProgramEnd;
  readonly fresh: FreshIds;
}

/** `open`: something below it is open, and it settles when nothing is. `stale`: its end was written before. */
export type ProgramEnded = 'settled' | 'open' | 'stale';

/** Writes how the program ended, and settles the attempt if nothing below it is open. The first end counts. */
export function* endProgram(command: EndProgram): Rule<ProgramEnded> {
  const draft = new Draft(command.now);
  const step = yield* ask('graphOfStep', command.id);
  const attempt = yield* ask('execution', command.id);
  if (!step || !attempt || isSettled(attempt.state) || step.programEnd)
    return draft.done<ProgramEnded>('stale');
  draft.add({ do: 'patchGraphStep', ref: step.ref, set: { programEnd: command.end } });
  if (attempt.open > 0 && rules.stepWhole) {
    draft.patch(attempt.id, { drain: 0 });
    return draft.done<ProgramEnded>('open');
  }
  yield* settleAttempt(draft, attempt, command.end, command.fresh);
  return draft.done<ProgramEnded>('settled');
}

/** Settles an attempt whose program has ended and below which nothing is open. */
export function* settleAttempt(
  draft: Draft,
  attempt: Execution,
  { state, result, error }: ProgramEnd,
  fresh: FreshIds,
): Asking<void> {
  const own = { state, result, ...(error ? { error } : {}) };
  const ending = attempt.cancelRequested ? { ...cancelledEnding(attempt), result } : own;
  yield* end(draft, attempt, ending, fresh.at('notice', 'end'));
}

/** A person answers the question of a step, or nobody did in time. */
export interface AnswerStep {
  readonly now: number;
  /** The attempt that asks. */
  readonly id: ExecutionId;
  /** Null: nobody answered in time. */
  readonly answer: string | null;
  readonly fresh: FreshIds;
}

/** Settles the attempt with the answer. Refused where it does not ask any more, and for what was not offered. */
export function* answerStep(command: AnswerStep): Rule<'succeeded' | 'failed'> {
  const draft = new Draft(command.now);
  const attempt = yield* ask('execution', command.id);
  const step = yield* ask('graphOfStep', command.id);
  if (!attempt || step?.plan.does.type !== 'human' || isSettled(attempt.state)) {
    return refuse('ILLEGAL_STATE', `${command.id} does not ask anything any more.`, { id: command.id });
  }
  const { choices, declines, otherwise } = step.plan.does;
  const answer = command.answer ?? otherwise;
  if (command.answer !== null && choices.length > 0 && !choices.includes(command.answer)) {
    const message = `"${command.answer}" is not one of the answers: ${choices.join(', ')}.`;
    return refuse('INVALID_INPUT', message, { field: 'choice', choices });
  }
  const programEnd = answerEnd(answer, declines);
  draft.add({ do: 'patchGraphStep', ref: step.ref, set: { programEnd } });
  yield* settleAttempt(draft, attempt, programEnd, command.fresh);
  return draft.done(programEnd.state === 'succeeded' ? 'succeeded' : 'failed');
}

function answerEnd(answer: string | null, declines: readonly string[]): ProgramEnd {
  const failed = { state: 'failed', result: answer, outputs: {} } as const;
  if (answer === null) {
    return { ...failed, error: { code: 'TIMED_OUT', message: 'Nobody answered in time.' } };
  }
  if (declines.includes(answer)) {
    return { ...failed, error: { code: 'DECLINED', message: `The answer was "${answer}".` } };
  }
  return { state: 'succeeded', result: answer, error: null, outputs: { answer } };
}
