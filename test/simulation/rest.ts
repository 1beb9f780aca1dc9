import type { Execution } from '../../src/ledger/execution.ts';
import { isEnded } from '../../src/ledger/graph.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { describe } from './observer.ts';
import type { World } from './world.ts';

/** A fair world has come to rest: then everything is closed, every run has ended, and nothing was lost. */
export function checkRest(world: World, state: MemorySnapshot): void {
  const { truth, violations } = world;
  const stuck = (what: string): void => violations.report('STUCK', what);
  for (const row of state.executions) {
    // What was detached may live for ever.
    const livesOn = world.facts.isHung && truth.isDetached(row.name);
    if (!row.closed && !livesOn)
      stuck(`${describe(row)} is open (deficit ${row.open})${stepsOf(state, row)}`);
  }
  for (const run of state.runs) if (run.state !== 'ended') stuck(`the run ${run.name} has not ended`);
  for (const turn of state.turns) if (turn.state !== 'ended') stuck(`turn ${turn.id} is ${turn.state}`);
  for (const session of state.sessions) {
    if (session.laneTurn !== null || session.wakeTurn !== null)
      stuck(`the lane of ${session.title} is taken`);
  }
  for (const notice of state.notices) {
    if (notice.state !== 'handled' && notice.state !== 'waived') stuck(`a result is ${notice.state}`);
  }
  for (const input of state.inputs) stuck(`a message waits in the queue: ${input.text}`);
  for (const steer of state.steers) {
    if (steer.state === 'claimed' || steer.state === 'written') stuck(`a steered text is ${steer.state}`);
  }
  checkWorks(world);
  checkMessages(world, state);
  if (!world.facts.isHung && !world.facts.isClockSet) checkTimeouts(world, state);
}

/** The steps that have not ended of what is a workflow. */
function stepsOf({ graphSteps }: MemorySnapshot, { id }: Execution): string {
  const left = graphSteps.filter((step) => step.graphId === id && !isEnded(step.state));
  return left.map(({ plan, state }) => `; ${plan.name} (${plan.does.type}) is ${state}`).join('');
}

function checkWorks({ truth, violations }: World): void {
  for (const work of truth.works.values()) {
    const isOwed = work.stage === 'ended' && work.tells !== null && !work.isDetached;
    if (isOwed && !work.isHandled && work.excuse === undefined && !truth.isCancelled(work.label))
      violations.report('LOST', `nobody ever heard of the end of ${work.label}`);
  }
}

/** A message that succeeded was taken up: its text once, no more and no less. */
function checkMessages({ truth, violations }: World, state: MemorySnapshot): void {
  for (const row of state.executions) {
    const message = row.kind === 'message' ? truth.messages.get(row.name) : undefined;
    if (message && row.state === 'succeeded' && message.taken !== 1 && message.copies === 1)
      violations.report('LOST', `${row.name} succeeded, and was taken up ${message.taken} times`);
    if (message && row.state === 'succeeded' && !message.isDone)
      violations.report('NOT_HANDLED', `${row.name} succeeded, and no turn with it did`);
  }
}

/** Nothing hung, so a deadline of hours that was needed hides something that was stuck. */
function checkTimeouts({ violations }: World, state: MemorySnapshot): void {
  for (const row of state.executions) {
    if (row.verdict === 'TIMED_OUT' && (row.timeoutMs ?? 0) > 60 * 60_000)
      violations.report('STUCK', `${row.name} had to be ended by its deadline`);
  }
}
