import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { CommitContext } from './checks-context.ts';
import type { Flow, FlowStep } from './flows.ts';
import { describe } from './observer.ts';
import type { World } from './world.ts';

/** Failures that another attempt would not mend. */
const final: readonly (string | null)[] = ['BUDGET', 'CAPACITY', 'SIGNED_OUT'];

/** Steps that are no scripts are at work while one of their attempts is: nobody else can say it. */
export function learnFlows(world: World, state: MemorySnapshot): void {
  const attempts = new Map<string, Execution[]>();
  for (const row of state.executions) attempts.set(row.name, [...(attempts.get(row.name) ?? []), row]);
  for (const { steps } of world.flows.all.values()) {
    for (const { plan, work } of steps) {
      const rows = attempts.get(plan.name) ?? [];
      if (plan.does.type === 'script' || rows.length === 0) continue;
      work.stage = rows.some((row) => !isSettled(row.state)) ? 'running' : 'ended';
    }
  }
}

/** A workflow, or an attempt of one of its steps, settles when nothing below it is open, and closes with it. */
export function checkComposites({ world, before, after }: CommitContext): void {
  const old = new Map(before.executions.map((row) => [row.id, row]));
  for (const row of after.executions) {
    const isOfFlow = world.flows.all.has(row.name) || world.flows.step(row.name) !== undefined;
    if (!isOfFlow || !isSettled(row.state) || row.closed || row.cancelRequested) continue;
    const was = old.get(row.id);
    if (was && !isSettled(was.state))
      world.violations.report('FLOW', `${describe(row)} has settled with a deficit of ${row.open}`);
  }
}

/** An attempt of a step begins when everything that the step needs is over and handled, and its attempt before is closed. */
export function checkBeginnings({ world, before, after }: CommitContext): void {
  if (before.executions.length === after.executions.length) return;
  const known = new Set(before.executions.map((row) => row.id));
  for (const row of after.executions) {
    const step = known.has(row.id) || row.parentId === null ? undefined : world.flows.step(row.name);
    if (!step) continue;
    const open = after.executions.find((other) => isUnclosedBefore(other, row));
    if (open) world.violations.report('ORDER', `${row.name} is tried again while ${describe(open)} is open`);
    for (const need of step.plan.needs) {
      const isCut = after.executions.some((other) => other.name === need && other.cancelRequested);
      const alive = world.truth.alive(need, isCut ? 'programs' : 'all');
      if (alive) world.violations.report('ORDER', `${row.name} begins before the end of ${need}: ${alive}`);
    }
  }
}

function isUnclosedBefore(other: Execution, row: Execution): boolean {
  return (
    other.parentId === row.parentId && other.name === row.name && other.attempt < row.attempt && !other.closed
  );
}

/** At rest every workflow has come to what its steps truly came to, and no script is left running. */
export function checkFlows(world: World, state: MemorySnapshot): void {
  const { flows, violations, facts, truth } = world;
  for (const graph of state.graphs)
    if (graph.state !== 'ended') violations.report('STUCK', `the workflow ${graph.workflow} has not ended`);
  for (const flow of flows.all.values()) {
    for (const { plan, work } of flow.steps) {
      if (plan.does.type === 'script' && work.stage === 'running' && !truth.isDetached(plan.name))
        violations.report('STUCK', `the script of ${plan.name} runs, and nobody waits for it`);
    }
    const row = state.executions.find(({ name }) => name === flow.label);
    // What somebody has ended, or an agent's conversation that was lost, came to something else.
    if (row && !isEndedByOthers(state, row) && !facts.isConversationGone) checkFlow(world, state, flow, row);
  }
}

function checkFlow({ violations }: World, state: MemorySnapshot, flow: Flow, row: Execution): void {
  const attemptsOf = ({ plan }: FlowStep): Execution[] =>
    state.executions
      .filter((one) => one.parentId === row.id && one.name === plan.name)
      .sort((one, other) => one.attempt - other.attempt);
  const isStopped = state.graphs.some(({ id, isStopping }) => id === row.id && isStopping);
  const bad = new Set<string>();
  const missed = new Set<string>();
  for (const step of flow.steps) {
    const { name, needs, when } = step.plan;
    const attempts = attemptsOf(step);
    const isBlocked = needs.some((need) => bad.has(need) || missed.has(need));
    const why = whyWrong(step, attempts, isBlocked, isStopped);
    if (why) violations.report('FLOW', `step ${name} ${why}`);
    const last = attempts.at(-1);
    if (isBlocked) missed.add(name);
    else if (!last && when === 'false') continue;
    else if (!last) missed.add(name);
    else if (last.state !== 'succeeded' && step.plan.onFailure === 'stop') bad.add(name);
  }
  const expected = bad.size === 0 ? 'succeeded' : 'failed';
  if (row.state !== expected)
    violations.report(
      'FLOW',
      `${describe(row)} should have ${expected}: ${[...bad].join(', ') || 'all went well'}`,
    );
}

/** What is wrong with the attempts of a step, given what it needed. */
function whyWrong(
  { plan, ends }: FlowStep,
  attempts: readonly Execution[],
  isBlocked: boolean,
  isStopped: boolean,
): string | undefined {
  if (isBlocked) return attempts.length > 0 ? 'ran, although what it needs had failed' : undefined;
  if (plan.when === 'false')
    return attempts.length > 0 ? 'ran, although its condition did not hold' : undefined;
  const last = attempts.at(-1);
  if (!last) return isStopped ? undefined : 'never ran';
  const most = 1 + (plan.retry?.max ?? 0);
  if (attempts.length > most) return `ran ${attempts.length} times, of ${most} at most`;
  const early = attempts.slice(0, -1).find(({ state }) => state !== 'failed' && state !== 'lost');
  if (early) return `was tried again after it had ${early.state}`;
  const isFinal = final.includes(last.error?.code ?? null);
  const mayGoOn = attempts.length < most && last.state === 'failed' && !isFinal && !isStopped;
  if (mayGoOn) return `was not tried again after attempt ${last.attempt} had failed`;
  if (plan.does.type !== 'script') return undefined;
  const told = attempts.map(({ state }) => (state === 'succeeded' ? 'succeeded' : 'failed'));
  // A deadline may come before the script has begun, or when only what it has begun is alive.
  const isLate = attempts.some(({ error }) => error?.code === 'TIMED_OUT');
  const isTold = isLate || (ends.length === told.length && ends.every((end, index) => end === told[index]));
  return isTold || isStopped ? undefined : `says ${told.join(', ')}; its scripts ${ends.join(', ')}`;
}

/** Whether it, something above it or one of its attempts was ended by somebody. */
function isEndedByOthers(state: MemorySnapshot, row: Execution): boolean {
  for (let at: Execution | undefined = row; at; ) {
    const { parentId, cancelRequested }: Execution = at;
    if (cancelRequested) return true;
    at = state.executions.find(({ id }) => id === parentId);
  }
  return state.executions.some((one) => one.parentId === row.id && isCancelledAlone(state, one));
}

function isCancelledAlone(state: MemorySnapshot, { parentId, cancelRequested }: Execution): boolean {
  const byFlow = state.graphs.some(({ id, isStopping }) => id === parentId && isStopping);
  const kind = cancelRequested?.actor.kind;
  return kind !== undefined && kind !== 'deadline' && !(byFlow && kind === 'system');
}
