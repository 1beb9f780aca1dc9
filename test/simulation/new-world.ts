import { Ids } from '../../src/base/ids.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { agentKinds } from './agent-kinds.ts';
import type { Choices } from './choices.ts';
import { seededRandom } from './choices.ts';
import { Flows } from './flows.ts';
import { Budgets, Gates } from './scheduler.ts';
import { Truth } from './truth.ts';
import { Violations } from './violations.ts';
import type { World } from './world.ts';

/** At most so much of each may happen in one history. */
const budgets = {
  launches: 5,
  tasks: 2,
  persons: 2,
  typed: 2,
  cancels: 1,
  interrupts: 1,
  stops: 1,
  waives: 1,
  detaches: 1,
  crashes: 2,
  deaths: 2,
  refusals: 2,
  uncertain: 2,
  silences: 2,
  openFailures: 1,
  turnFailures: 2,
  programFailures: 1,
  questions: 1,
  repeats: 2,
  strays: 1,
  hangs: 1,
  endless: 1,
  unkillables: 1,
  slowCommits: 1,
  advances: 1,
} as const;

/** What may happen besides, and more often, where messages are tried again. */
const retryBudgets = { turnFailures: 6, programFailures: 2, advances: 3, fills: 2, reruns: 3 } as const;

/** What may happen for certain where workflows are at work. */
const workBudgets = {
  launches: 6,
  programFailures: 6,
  turnFailures: 3,
  declines: 2,
  calls: 9,
  selfReports: 1,
  stepLooks: 1,
  childStops: 1,
  queries: 1,
  aloneSteps: 3,
  waits: 2,
} as const;

/** How often the clock is set, or the machine sleeps, where that happens. */
const clockBudgets = { clocks: 3 } as const;

/** Where work is given out there is more of it. */
const givingBudgets = { launches: 9, programFailures: 2 } as const;

function limitedBy(seed: number): World['limited'] {
  const limits = { 3: { turns: 1 }, 7: { turns: 2 }, 8: { perAgent: 1 } }[seed % 10];
  return { isOn: limits !== undefined, limits };
}

/** The world in which the history of a seed is played: what may happen in it, and how often. */
export function newWorld(
  seed: number,
  choices: Choices,
  isWorking: boolean,
  log: Pick<World, 'note' | 'detail'>,
): World {
  const violations = new Violations();
  const clock = new VirtualClock();
  const counters = new Map<string, number>();
  const kinds = [choices.pick(agentKinds), choices.pick(agentKinds)];
  // By the seed, not by a choice: so all other histories stay what they are.
  const isRetrying = seed % 5 === 3;
  const isClockSet = seed % 10 === 0;
  const isGiving = seed % 10 === 4 || seed % 10 === 1;
  const allowed = new Budgets(choices, {
    ...budgets,
    ...(isRetrying ? retryBudgets : {}),
    ...(isClockSet ? clockBudgets : {}),
    ...(isGiving ? givingBudgets : {}),
  });
  if (isWorking) {
    for (const [name, count] of Object.entries(workBudgets)) allowed.allow(name, count);
    if (seed % 3 === 0) allowed.allow('reruns', 2);
  }
  const truth = new Truth(violations);
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  return {
    choices,
    violations,
    clock,
    ...log,
    budgets: allowed,
    gates: new Gates(),
    ids: new Ids(() => clock.now(), seededRandom(seed + 0x5eed)),
    truth,
    agents: new Map(),
    kinds: byName,
    isWorking,
    flows: new Flows({ choices, violations, truth, budgets: allowed, kinds: byName }),
    asked: {
      cancels: 0,
      givenUp: 0,
      reruns: 0,
      interrupted: new Set(),
      stopped: new Set(),
      stoppedChildren: new Set(),
    },
    facts: { isConversationGone: false, isHung: false, isClockSet: false },
    isCrowded: choices.below(4) === 0,
    isRetrying,
    isClockSet,
    isCosting: seed % 10 === 6,
    limited: limitedBy(seed),
    isAlone: seed % 10 === 7 || seed % 10 === 8,
    isGiving,
    label: (prefix) => {
      const count = (counters.get(prefix) ?? 0) + 1;
      counters.set(prefix, count);
      return `${prefix}${count}`;
    },
  };
}
