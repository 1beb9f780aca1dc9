import type { Action } from './scheduler.ts';
import { maybe } from './scheduler.ts';
import type { World } from './world.ts';

const minute = 60_000;

/** Somebody sets the wall clock of the machine, or the machine sleeps; timers go on by the time that it was awake. */
export function clockActions(world: World): Action[] {
  const { budgets, choices, clock, facts } = world;
  if (!world.isClockSet || !budgets.has('clocks')) return [];
  const set = (name: string, byMs: number): Action =>
    maybe(
      name,
      () => {
        budgets.spend('clocks');
        facts.isClockSet = true;
        const ms = byMs * (1 + choices.below(30));
        world.note(`  by ${ms / minute} min`);
        if (name === 'the machine sleeps') clock.sleep(ms);
        else clock.jump(ms);
      },
      2,
    );
  return [
    set('the clock is set forward', 5 * minute),
    set('the clock is set back', -minute / 2),
    set('the machine sleeps', 10 * minute),
  ];
}
