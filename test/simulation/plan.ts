import type { PlannedMessage } from '../../src/ledger/session.ts';
import type { World } from './world.ts';

const hourMs = 60 * 60_000;

/** The messages of a run, each with a text that is its label. */
export function planOf(world: World, name: string, length: number): PlannedMessage[] {
  const { choices, budgets, facts } = world;
  // What hangs for nobody's message has no deadline that would end it.
  const mayDetach = !facts.isHung && !budgets.has('hangs') && !budgets.has('endless');
  return Array.from({ length }, (_, index) => ({
    text: `${name}.${index}`,
    timeoutMs: choices.pick([4 * hourMs, 5 * 60_000]),
    onFailure: choices.pick(['stop', 'continue'] as const),
    join: choices.pick(['own', 'all'] as const),
    check: choices.chance(15) ? 'npm test' : null,
    background: mayDetach && choices.chance(10) ? 'detach' : 'wait',
    ...(world.isCosting ? { budget: index % 2 === 0 ? { tokens: 40 } : { usd: 0.02 } } : {}),
  }));
}
