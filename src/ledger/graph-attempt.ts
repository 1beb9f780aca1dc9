import type { ExecutionId, FreshIds } from '../base/ids.ts';
import type { Rule } from './decision.ts';
import { Draft, type Refusal, refuse } from './decision.ts';
import type { Execution, Failure, Waiting } from './execution.ts';
import { addGraph } from './graph-begin.ts';

import { smallerBudget } from './attempts.ts';
import { graphAt, GraphMoves } from './graph-moves.ts';
import type { GraphStep, NewGraph, ProgramEnd, StepRef, WorkflowCall } from './graph.ts';
import { addHosted, refusalOfHost } from './launch.ts';
import type { Hosts } from './launch.ts';
import { aboutTree, owe } from './notifying.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { depthLimit, newExecution, refusalBelow } from './registration.ts';
import { rules } from './rules.ts';
import { settleAttempt } from './graph-walk.ts';
import { goingOn } from './send-workflow.ts';
import type { StepPlan } from './step-plan.ts';

/** A step may begin. */
export interface BeginStep {
  readonly now: number;
  readonly ref: StepRef;
  /** How the caller knows the step: the compare-and-set that makes a repetition harmless. */
  readonly moves: number;
  readonly how: Beginning;
  readonly fresh: FreshIds;
}

/** How a step begins, as whoever could read files and templates has found out. */
export type Beginning =
  /** Its condition does not hold. */
  | { readonly as: 'skip' }
  /** It cannot begin: an attempt that has failed. */
  | { readonly as: 'fail'; readonly error: Failure }
  /** It has nothing to do that takes time: an attempt that has ended. */
  | { readonly as: 'end'; readonly end: ProgramEnd }
  | { readonly as: 'launch'; readonly launch: StepLaunch };

/** What an attempt is made of, beside its own execution. At most one of the three; a script has none. */
export interface StepLaunch {
  /** A conversation of its own, and the messages of it. */
  readonly hosts?: Hosts;
  /** A workflow of its own. */
  readonly workflow?: WorkflowCall;
  /** What a person is asked. */
  readonly question?: Pick<Waiting, 'text' | 'choices' | 'declines'>;
}

/** `notYet`: its back-off is not over. `stale`: the step moved meanwhile, or may not begin any more; nothing was done. */
export type StepBegun = 'begun' | 'skipped' | 'notYet' | 'stale';

/**
 * Begins an attempt of a step, or skips it. The attempt is registered below the workflow in the decision by which the step
 * runs, so that nothing of it is ever uncounted.
 */
export function* beginStep(command: BeginStep): Rule<StepBegun> {
  const draft = new Draft(command.now);
  const step = yield* ask('graphStep', command.ref);
  const at = step && (yield* graphAt(step.graphId));
  const isAsSeen = step?.moves === command.moves && (step.state === 'due' || step.state === 'backsOff');
  if (!at || (!isAsSeen && rules.stepOnce)) return draft.done<StepBegun>('stale');
  const { graph, owner } = at;
  // One that waits, for a workspace say, lets its steps go when it goes on.
  if (graph.state === 'ended' || graph.isStopping || owner.waiting || refusalBelow(owner))
    return draft.done<StepBegun>('stale');
  if (step.retryAt !== null && step.retryAt > draft.now) {
    // Whatever called before its time took the place of the wake-up that was owed.
    draft.wake('step', step.ref, step.retryAt);
    return draft.done<StepBegun>('notYet');
  }
  const moves = new GraphMoves(draft, graph, owner);
  if (command.how.as === 'skip') {
    yield* moves.end(step, { state: 'skipped', reason: 'condition' });
    moves.write();
    return draft.done<StepBegun>('skipped');
  }
  const id = command.fresh.at('execution', 'attempt');
  yield* addAttempt(draft, owner, step, id, command);
  const set = {
    currentId: id,
    tries: step.tries + 1,
    retryAt: null,
    reason: null,
    programEnd: null,
  } as const;
  moves.move(step, { ...set, state: 'running' });
  moves.write();
  if (command.how.as === 'end')
    draft.add({ do: 'patchGraphStep', ref: step.ref, set: { programEnd: command.how.end } });
  return draft.done<StepBegun>('begun');
}

function* addAttempt(
  draft: Draft,
  owner: Execution,
  step: GraphStep,
  id: ExecutionId,
  { how, fresh }: BeginStep,
): Asking<void> {
  const launch = how.as === 'launch' ? how.launch : {};
  const row = attemptRow(draft.now, owner, step, id, launch);
  const refused = how.as === 'launch' ? yield* refusalOf(owner, row, launch) : undefined;
  const failure = refused ?? (how.as === 'fail' ? how.error : undefined);
  draft.register(row, []);
  if (failure) {
    draft.settle(row, { state: 'failed', error: { code: failure.code, message: failure.message } });
    return;
  }
  if (how.as === 'end') return yield* settleAttempt(draft, row, how.end, fresh);
  if (row.deadlineAt !== null) draft.wake('deadline', row.id, row.deadlineAt);
  if (launch.hosts) addHosted(draft, row, launch.hosts);
  else if (launch.workflow) addGraph(draft, row, yield* graphOfAttempt(step, launch.workflow));
  else if (launch.question) yield* oweQuestion(draft, row);
  else draft.wake('step', step.ref);
}

/** The program of a workflow within a workflow: what had succeeded in its attempt before, or in an earlier run, is not done again. */
function* graphOfAttempt(step: GraphStep, { graph }: WorkflowCall): Asking<NewGraph> {
  const former = yield* formerOf(step);
  const before = former === null ? undefined : yield* ask('graph', former);
  const isSame = before?.workflow === graph.workflow && before.group === graph.group;
  return isSame ? yield* goingOn(graph, former, null) : graph;
}

/** The attempt that a step goes on with. One that had succeeded was asked for again, and begins anew. */
function* formerOf({ currentId, graphId, plan }: GraphStep): Asking<ExecutionId | null> {
  if (currentId !== null) return currentId;
  const whole = yield* ask('graph', graphId);
  if (!whole || whole.resumes === null) return null;
  const before = yield* ask('graphStepNamed', whole.resumes, plan.name);
  return before && before.state !== 'succeeded' ? before.currentId : null;
}

/** Why an attempt cannot be had, if so: it has failed by that. */
function* refusalOf(owner: Execution, row: Execution, { hosts }: StepLaunch): Asking<Refusal | undefined> {
  if (row.depth > depthLimit) {
    const message = `The tree is ${depthLimit} deep; nothing can be launched below it.`;
    return refuse('DEPTH_EXCEEDED', message, { limit: depthLimit });
  }
  return hosts ? yield* refusalOfHost(hosts, owner, row.budget) : undefined;
}

function attemptRow(
  now: number,
  owner: Execution,
  { plan, ref, tries }: GraphStep,
  id: ExecutionId,
  { hosts, question, workflow }: StepLaunch,
): Execution {
  const { does } = plan;
  const timeoutMs = shorter(timeoutOf(plan), workflow?.timeoutMs ?? null);
  const budget = smallerBudget(plan.budget, workflow?.budget ?? null);
  const deadlineAt = timeoutMs === null ? null : now + timeoutMs;
  const until = deadlineAt === null ? {} : { until: deadlineAt };
  return newExecution(now, owner, 'explicit', {
    id,
    kind: does.type === 'workflow' ? 'workflow' : 'step',
    name: plan.name,
    key: keyOfStep(plan.name),
    attempt: tries + 1,
    runsIn: hosts?.session.id ?? null,
    // What its failure means is for the workflow to say.
    join: 'own',
    timeoutMs,
    deadlineAt,
    budget,
    wakeOnClose: `step:${ref}`,
    waiting: question ? { for: 'input', since: now, questionId: id, ...question, ...until } : null,
  });
}

/**
 * What has one message and no more is timed by that: its clock stands still while it waits for its lane, or for a usage
 * limit.
 */
function timeoutOf({ does, timeoutMs }: StepPlan): number | null {
  const isMessage = does.type === 'agent' || does.type === 'todo';
  return isMessage || (does.type === 'route' && 'prompt' in does.by) ? null : timeoutMs;
}

function shorter(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

/** Two attempts of a step are attempts of one thing. */
function keyOfStep(name: string): string {
  return `step:${name}`;
}

/** A person is asked: those who want to be told of such things are. */
function* oweQuestion(draft: Draft, row: Execution): Asking<void> {
  const about = yield* aboutTree(row.rootId);
  const text = row.waiting?.text ?? null;
  yield* owe(draft, { transition: 'waiting', subject: `${row.id}:input`, ...about, code: 'INPUT', text });
}
