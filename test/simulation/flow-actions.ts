import { FreshIds } from '../../src/base/ids.ts';
import { isQuestion, isSettled } from '../../src/ledger/execution.ts';
import { beginStep } from '../../src/ledger/graph-attempt.ts';
import { answerStep } from '../../src/ledger/graph-walk.ts';
import type { GraphStep } from '../../src/ledger/graph.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { Action } from './scheduler.ts';
import { maybe, progress } from './scheduler.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

/** Persons answer what steps of workflows ask: yes, sooner or later; now and then no. */
export function flowActions(world: World, server: Server, state: MemorySnapshot): Action[] {
  if (!world.isWorking) return [];
  const lookers = world.budgets.has('stepLooks') ? looks(world, server, state) : [];
  const answers = state.executions
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
  return [...answers, ...lookers];
}

/** Somebody else looks at a step that is due, and begins it some time later, as it was then. */
function looks(world: World, server: Server, state: MemorySnapshot): Action[] {
  const isSimple = ({ plan }: GraphStep): boolean => plan.does.type === 'script' && plan.when === null;
  return state.graphSteps
    .filter((step) => step.state === 'due' && isSimple(step))
    .map(({ ref, moves, plan }) =>
      maybe(
        `somebody else looks at ${plan.name}`,
        () => {
          world.budgets.spend('stepLooks');
          const fresh = new FreshIds(world.ids);
          const how = { as: 'launch', launch: {} } as const;
          server.run('begin a step', async () => {
            await world.gates.pass(`somebody else begins ${plan.name}`);
            await server.store.decide(() => beginStep({ now: world.clock.now(), ref, moves, how, fresh }));
          });
        },
        15,
      ),
    );
}
