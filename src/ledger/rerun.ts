import type { RunId, ScheduleId, SessionId } from '../base/ids.ts';
import { idAs } from '../base/ids.ts';
import { budgetLeft, isUsedUp, spentBy } from './attempts.ts';
import type { Refusal, Rule } from './decision.ts';
import { Draft, refuse } from './decision.ts';
import { outcomeOf } from './execution.ts';
import { refusalOfAgain, refusalOfName } from './graph-resume.ts';
import type { DoneAgain } from './graph.ts';
import { lengthOf } from './plan.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import type { Run } from './session.ts';
import { describeUsage } from './spending.ts';
import { isEvaluation } from './send-workflow.ts';
import type { PreparedWorkspace } from './workspace.ts';
import { renewWorkspace } from './workspace-lock.ts';

/** An ended run goes on from one of its messages. */
export interface Rerun {
  readonly now: number;
  readonly id: RunId;
  /**
   * Index of the message or workflow that is sent again, as a whole; those behind it follow. Or a step of a workflow: what needs
   * it is done again with it, and what else had succeeded is not.
   */
  readonly from: number | string;
  /** That step alone. */
  readonly only?: boolean;
  /** Where it works now, if its directory was made for it: prepared anew. Without one it works where it did. */
  readonly workspace?: PreparedWorkspace;
  /** Names the request: repeated, when its answer was lost, it lets nothing begin a second time. */
  readonly request?: string;
}

/** Where a run has begun again. */
export interface Begun {
  readonly from: number;
}

/** A place of a run, and what of a workflow there is done again. */
interface Restart extends Begun {
  readonly again: DoneAgain | null;
}

/**
 * The same run goes on: its messages are sent with the next attempt numbers, and what was is kept. Refused while it runs, and
 * where its next message could not be sent.
 */
export function* rerun(command: Rerun): Rule<Begun> {
  const draft = new Draft(command.now);
  const run = yield* ask('run', command.id);
  if (!run) return refuse('NOT_FOUND', `No run ${command.id}.`, { id: command.id });
  if (hasBegun(run, command.request)) return draft.done({ from: run.cursor });
  const found = yield* placeToRerun(run, command);
  if ('ok' in found) return found;
  const refused = yield* refusalOfRerun(run, command.workspace);
  if (refused) return refused;
  yield* beginAgain(draft, run, found, command);
  return draft.done({ from: found.from });
}

/** Whether it was this very request that let the run begin again last. */
export function hasBegun({ begunBy }: Run, request: string | undefined): boolean {
  return request !== undefined && begunBy === request;
}

function* placeToRerun(run: Run, { from, only = false }: Rerun): Asking<Restart | Refusal> {
  if (typeof from === 'string') return yield* placeOfStep(run, from, only);
  const last = lengthOf(run) - 1;
  if (!Number.isInteger(from) || from < 0 || from > last) {
    const message = `Run ${run.id} has ${lengthOf(run)} messages: "from" is an index from 0 to ${last}.`;
    return refuse('INVALID_INPUT', message, { messages: lengthOf(run) });
  }
  if (only) {
    const message = '"only" goes with the name of a step in "from": that step alone is done again.';
    return refuse('INVALID_INPUT', message, { field: 'only' });
  }
  return { from, again: { from: null, only: false } };
}

function* placeOfStep(run: Run, name: string, only: boolean): Asking<Restart | Refusal> {
  const entries = run.plan.map(({ workflow }) => workflow?.graph.steps ?? []);
  const index = entries.findIndex((steps) => steps.some((step) => step.name === name));
  const steps = entries.flat();
  if (index < 0 && steps.length > 0) return refusalOfName(steps, name);
  if (index < 0 || run.rowCount !== null) {
    const message = `Run ${run.id} is no workflow and has no steps: "from" is the index of a message.`;
    return refuse('INVALID_INPUT', message, { field: 'from' });
  }
  const again = { from: name, only };
  const latest = yield* ask('latestOfRun', run.id, index);
  const former = latest ? yield* ask('graphSteps', latest.id) : [];
  return refusalOfAgain(entries[index] ?? [], former, again) ?? { from: index, again };
}

/**
 * Goes on where the run stopped: at the message that did not succeed, else at the first that was never sent; a back-off ends
 * now. Refused when there is nothing to go on with.
 */
export function* resumeRun(command: Pick<Rerun, 'now' | 'id' | 'workspace' | 'request'>): Rule<Begun> {
  const draft = new Draft(command.now);
  const run = yield* ask('run', command.id);
  if (!run) return refuse('NOT_FOUND', `No run ${command.id}.`, { id: command.id });
  if (hasBegun(run, command.request)) return draft.done({ from: run.cursor });
  if (run.state === 'running' && run.retryAt !== null) {
    const begunBy = command.request ?? null;
    draft.add({ do: 'patchRun', id: run.id, set: { retryAt: command.now, begunBy, moves: run.moves + 1 } });
    draft.wake('run', run.id);
    return draft.done({ from: run.cursor - 1 });
  }
  const refused = yield* refusalOfRerun(run, command.workspace);
  if (refused) return refused;
  const from = yield* placeToResume(run);
  if (from >= lengthOf(run)) {
    const places = run.plan[0]?.workflow ? 'steps' : 'messages';
    const message = `Run ${run.id} has done what it had to; to do it again, rerun it from one of its ${places}.`;
    return refuse('ILLEGAL_STATE', message, { state: run.state });
  }
  yield* beginAgain(draft, run, { from, again: null }, command);
  return draft.done({ from });
}

function* placeToResume(run: Run): Asking<number> {
  if (isEvaluation(run, run.cursor - 1)) {
    const scored = yield* ask('latestOfRun', run.id, run.cursor - 2);
    if (scored && outcomeOf(scored).outcome !== 'succeeded') return run.cursor - 2;
  }
  const current = run.currentId === null ? undefined : yield* ask('execution', run.currentId);
  const isDone = current === undefined || outcomeOf(current).outcome === 'succeeded';
  return isDone ? run.cursor : run.cursor - 1;
}

function* refusalOfRerun(run: Run, workspace: PreparedWorkspace | undefined): Asking<Refusal | undefined> {
  const { id, state, scheduleId } = run;
  if (state !== 'ended') {
    return refuse('ILLEGAL_STATE', `Run ${id} is still at work; cancel it first, or wait.`, { state });
  }
  if (run.ownerId !== null) {
    const message = `Run ${id} is the program of ${run.ownerId}, which has ended; launch that again instead.`;
    return refuse('ILLEGAL_STATE', message, { state, executionId: run.ownerId });
  }
  const ofSession = run.sessionId === null ? undefined : yield* refusalOfSession(run, run.sessionId);
  if (ofSession) return ofSession;
  const schedule = scheduleId === null ? undefined : yield* ask('schedule', scheduleId);
  const other = schedule && (yield* atWork(schedule.id));
  if (other && schedule.definition.overlap !== 'allow') {
    const message = `Run ${other} of the same schedule is at work; cancel it first, or wait.`;
    return refuse('OVERLAP', message, { runId: other, scheduleId });
  }
  const worked = yield* ask('workspace', id);
  if (worked?.left?.what === 'removed' && !workspace) {
    const message = `The directory that was made for run ${id} is gone; begin a new run.`;
    return refuse('INVALID_WORKSPACE', message, { path: worked.path });
  }
  if (!isUsedUp(yield* budgetLeft(run))) return undefined;
  const used = `${describeUsage(yield* spentBy(run))}, of ${describeUsage(run.budget)} allowed`;
  return refuse('ILLEGAL_STATE', `Run ${id} has used ${used}: nothing is left for another attempt.`, {
    state,
  });
}

function* refusalOfSession({ id }: Run, sessionId: SessionId): Asking<Refusal | undefined> {
  const session = yield* ask('session', sessionId);
  if (!session) return refuse('SESSION_GONE', `The session of run ${id} is gone.`, { id: sessionId });
  if (session.state !== 'stopped') return undefined;
  const message = `Session ${session.id} of run ${id} was stopped; a person's message starts it again.`;
  return refuse('SESSION_STOPPED', message, { sessionId });
}

/** A run of a schedule that is at work, or that is being begun: by the name that it will have. */
function* atWork(scheduleId: ScheduleId): Asking<RunId | undefined> {
  const [live] = yield* ask('liveRunsOf', scheduleId);
  if (live) return live.id;
  for (const inTurn of [false, true])
    for (const { id, state } of yield* ask('openOccurrences', scheduleId, inTurn, mostOpen))
      if (state === 'claimed') return idAs('run', id);
  return undefined;
}

/** How many open occurrences of a schedule are looked at. */
const mostOpen = 1_000;

/** What said how it ended is cleared: a person wants it to go on, whatever they wanted before. */
function* beginAgain(
  draft: Draft,
  run: Run,
  { from, again }: Restart,
  { workspace, request }: Pick<Rerun, 'workspace' | 'request'>,
): Asking<void> {
  const before = yield* ask('workspace', run.id);
  // The lock is asked for by the message; what was looked at after the end is looked at again after the next.
  if (workspace) yield* renewWorkspace(draft, run.id, workspace);
  else if (before?.left) draft.add({ do: 'patchWorkspace', id: run.id, set: { left: null } });
  draft.add({
    do: 'patchRun',
    id: run.id,
    set: {
      state: 'running',
      outcome: null,
      outcomeCode: null,
      endedAt: null,
      cancelRequested: false,
      cursor: from,
      currentId: null,
      tries: 0,
      repairs: 0,
      retryAt: null,
      again,
      begunBy: request ?? null,
      moves: run.moves + 1,
    },
  });
  const data = { runId: run.id, state: 'running', from };
  draft.tell({ type: 'run.state', rootId: null, sessionId: run.sessionId, data });
  draft.wake('run', run.id);
}
