import type { ExecutionId, FreshIds } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft } from './decision.ts';
import type { Execution, Outcome } from './execution.ts';
import { atEveryFall, isAttempt, isSettled } from './execution.ts';
import { readyBatch } from './batch.ts';
import { outputsOfRun, selfReport } from './gate.ts';
import { cancelledEnding } from './graph-end.ts';
import { settleAttempt } from './graph-walk.ts';
import { oweVerdict } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Run } from './session.ts';
import { end } from './settle.ts';
import { endWorkspace } from './workspace-lock.ts';

/** What a run comes to. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly code: string | null;
}

/** Ends a run within a larger decision. `current` is the message at which it stands, closed. */
export function* endRun(
  draft: Draft,
  run: Run,
  verdict: Verdict,
  current: Execution | undefined,
  fresh: FreshIds,
): Asking<void> {
  const { outcome, code } = verdict;
  draft.add({
    do: 'patchRun',
    id: run.id,
    set: { state: 'ended', outcome, outcomeCode: code, endedAt: draft.now, retryAt: null },
  });
  draft.tell({
    type: 'run.state',
    rootId: null,
    sessionId: run.sessionId,
    data: { runId: run.id, state: 'ended', outcome, code },
  });
  yield* endWorkspace(draft, run.id);
  yield* oweVerdict(draft, run, { outcome, code, text: current?.error?.message ?? null });
  // What waits behind this run is looked at.
  if (run.scheduleId !== null) draft.wake('schedule', run.scheduleId);
  if (run.ownerId === null) return;
  const owner = yield* ask('execution', run.ownerId);
  if (!owner || isSettled(owner.state)) return;
  if (owner.open + draft.added(owner.id) > 0) draft.patch(owner.id, { drain: 0 });
  else yield* settleOwner(draft, owner, verdict, current, fresh);
}

/** The program of a background agent has ended and nothing below it is open: it settles with its last message's result. */
function* settleOwner(
  draft: Draft,
  owner: Execution,
  verdict: Verdict,
  current: Execution | undefined,
  fresh: FreshIds,
): Asking<void> {
  const cancelled = owner.cancelRequested ? cancelledEnding(owner) : undefined;
  const state = cancelled?.state ?? verdict.outcome;
  // What it made of the results of what it had started goes before its first answer.
  const answer = owner.runsIn === null ? undefined : yield* ask('lastAnswer', owner.runsIn, owner.rootId);
  const error = cancelled?.error ??
    current?.error ?? {
      code: verdict.code ?? 'AGENT_FAILED',
      message: yield* whyFailed(verdict, owner, answer),
    };
  if (state === 'succeeded' && isAttempt(owner)) yield* keepOutputs(draft, owner);
  yield* end(
    draft,
    owner,
    {
      state,
      result: answer ?? current?.result ?? null,
      ...(state === 'failed' ? { error } : {}),
    },
    fresh.at('notice', 0),
  );
}

function* whyFailed({ code }: Verdict, owner: Execution, answer: string | undefined): Asking<string> {
  // It may have reported that when it handled results, and not in its first answer.
  const reported = code === 'SELF_REPORTED' ? selfReport(answer ?? '') : undefined;
  if (reported) return reported.message;
  if (code !== 'ROUNDS_EXCEEDED') return `The agent's message ended as ${code}.`;
  const rounds = (yield* ask('runOwnedBy', owner.id))?.todo?.maxRounds;
  return `It was given results ${rounds} times, and had started sub-agents again.`;
}

/** What the check of its last message found becomes what the step gives to others. */
function* keepOutputs(draft: Draft, owner: Execution): Asking<void> {
  const run = yield* ask('runOwnedBy', owner.id);
  const outputs = run ? yield* outputsOfRun(run) : {};
  const step = yield* ask('graphOfStep', owner.id);
  if (!step || Object.keys(outputs).length === 0) return;
  const programEnd = { state: 'succeeded', result: null, error: null, outputs } as const;
  draft.add({ do: 'patchGraphStep', ref: step.ref, set: { programEnd } });
}

/** A composite whose program had ended and whose deficit has fallen to zero settles now, and closes with it. */
export function* drained(command: {
  readonly now: number;
  readonly id: ExecutionId;
  readonly fresh: FreshIds;
}): Rule<boolean> {
  const draft = new Draft(command.now);
  const run = yield* ask('runOwnedBy', command.id);
  const owner = yield* ask('execution', command.id);
  if (owner?.drain === atEveryFall) return draft.done(yield* callController(draft, owner));
  if (!owner || isSettled(owner.state) || owner.open > 0) return draft.done(false);
  if (!run) {
    const programEnd = isAttempt(owner) ? (yield* ask('graphOfStep', owner.id))?.programEnd : undefined;
    if (programEnd) yield* settleAttempt(draft, owner, programEnd, command.fresh);
    return draft.done(programEnd !== undefined);
  }
  if (run.state !== 'ended') return draft.done(false);
  const current = run.currentId === null ? undefined : yield* ask('execution', run.currentId);
  const verdict: Verdict = { outcome: run.outcome ?? 'failed', code: run.outcomeCode };
  yield* settleOwner(draft, owner, verdict, current, command.fresh);
  return draft.done(true);
}

/** A deficit fell on which results are counted that come together: the session looks when all of them are there. */
function* callController(draft: Draft, parent: Execution): Asking<boolean> {
  const [first] = (yield* readyBatch(parent)) ?? [];
  if (!first) return false;
  draft.wake('session', first.sessionId);
  return true;
}
