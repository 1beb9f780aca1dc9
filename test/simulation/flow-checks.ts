import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { CommitContext } from './checks-context.ts';
import { expectedOf } from './flow-expectations.ts';
import type { Flow, FlowStep } from './flows.ts';
import { describe } from './observer.ts';
import type { World } from './world.ts';

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
    if (known.has(row.id)) continue;
    if (row.runId !== null && row.kind !== 'message') checkEntry(world, after, row);
    const step = row.parentId === null ? undefined : world.flows.step(row.name);
    if (!step) continue;
    const open = after.executions.find((other) => isUnclosedBefore(other, row));
    if (open) world.violations.report('ORDER', `${row.name} is tried again while ${describe(open)} is open`);
    for (const need of step.plan.needs) {
      const isCut = after.executions.some(
        (other) => other.name === need && (other.cancelRequested || hasSteppedDown(after, other)),
      );
      const alive = world.truth.alive(need, isCut ? 'programs' : 'all');
      if (alive) world.violations.report('ORDER', `${row.name} begins before the end of ${need}: ${alive}`);
    }
  }
}

/** What a run sends behind a workflow, or again, goes out when nothing of what it sent before is alive. */
function checkEntry({ truth, violations }: World, state: MemorySnapshot, row: Execution): void {
  for (const earlier of state.executions) {
    if (earlier.runId !== row.runId || earlier.id >= row.id) continue;
    // By its name nobody could tell it from what is sent now; what was closed was looked at then.
    if (earlier.name === row.name && earlier.closed) continue;
    const isStopped = state.executions.some(
      (other) => other.name === earlier.name && (other.cancelRequested || hasSteppedDown(state, other)),
    );
    const alive = truth.alive(earlier.name, isStopped ? 'programs' : 'all');
    if (alive)
      violations.report('EARLY', `${row.name} is sent while ${alive}, which is part of ${earlier.name}`);
  }
}

/** Whether something below it was cancelled out of a turn that goes on for others: its agent is at work still, not on it. */
function hasSteppedDown({ executions, owners, turns }: MemorySnapshot, above: Execution): boolean {
  const rows = new Map(executions.map((each) => [each.id, each]));
  const isBelow = (row: Execution | undefined): boolean =>
    row !== undefined && (row.id === above.id || (row.parentId !== null && isBelow(rows.get(row.parentId))));
  const goesOn = new Set(turns.filter(({ state }) => state !== 'ended').map(({ id }) => id));
  return owners.some(({ executionId, turnId }) => {
    const row = rows.get(executionId);
    return goesOn.has(turnId) && row?.state === 'cancelled' && isBelow(row);
  });
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
    // What somebody has ended, or an agent's conversation that was lost, came to something else.
    const rows = state.executions.filter((row) => isProgram(state, row) && row.name === flow.label);
    for (const row of rows)
      if (!isEndedByOthers(state, row) && !facts.isConversationGone) checkFlow(world, state, flow, row);
  }
}

function isProgram({ graphs }: MemorySnapshot, row: Execution): boolean {
  return graphs.some(({ id }) => id === row.id);
}

function checkFlow({ violations }: World, state: MemorySnapshot, flow: Flow, row: Execution): void {
  const inGraph = state.graphSteps.filter((step) => step.graphId === row.id).map(({ plan }) => plan.name);
  const steps = flow.steps.filter(({ plan }) => inGraph.includes(plan.name));
  const attemptsOf = ({ plan }: Pick<FlowStep, 'plan'>): Execution[] | undefined => {
    const isReused = state.graphSteps.some(
      (step) => step.graphId === row.id && step.plan.name === plan.name && step.reused !== null,
    );
    if (isReused) return undefined;
    return state.executions
      .filter((one) => one.parentId === row.id && one.name === plan.name)
      .sort((one, other) => one.attempt - other.attempt);
  };
  const isStopped = state.graphs.some(({ id, isStopping }) => id === row.id && isStopping);
  const expected = expectedOf({ ...flow, steps }, attemptsOf, isStopped);
  if (expected.wrong) violations.report('FLOW', expected.wrong);
  if (row.state !== expected.state)
    violations.report('FLOW', `${describe(row)} should have ${expected.state}: ${expected.why}`);
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
