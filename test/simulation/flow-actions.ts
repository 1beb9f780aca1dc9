import { FreshIds } from '../../src/base/ids.ts';
import { isQuestion, isSettled } from '../../src/ledger/execution.ts';
import { answerStep } from '../../src/ledger/graph-walk.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress } from './scheduler.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

/** Persons answer what steps of workflows ask: yes, sooner or later; now and then no. */
export function flowActions(world: World, server: Server, state: MemorySnapshot): Action[] {
  if (!world.isWorking) return [];
  return state.executions
    .filter((row) => row.kind === 'step' && !isSettled(row.state) && row.waiting && isQuestion(row))
    .flatMap(({ id, name }) => {
      const say = (answer: string): void => {
        const command = { now: world.clock.now(), id, answer, fresh: new FreshIds(world.ids) };
        server.run('answer', () => server.store.decide(() => answerStep(command)));
      };
      const no = (): void => {
        if (world.budgets.spend('declines')) say('no');
      };
      const declines = world.budgets.has('declines') ? [maybe(`a person says no to ${name}`, no)] : [];
      return [progress(`a person says yes to ${name}`, () => say('yes')), ...declines];
    });
}
