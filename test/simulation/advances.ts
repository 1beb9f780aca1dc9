import { FreshIds } from '../../src/base/ids.ts';
import { advance } from '../../src/ledger/advance.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { Action } from './scheduler.ts';
import { maybe } from './scheduler.ts';
import type { Server } from './server.ts';
import type { World } from './world.ts';

/** Somebody else advances a run too: it looked at the run some time ago, and acts on what it saw. */
export function advanceActions(world: World, server: Server, state: MemorySnapshot): Action[] {
  if (!world.budgets.has('advances')) return [];
  return state.runs
    .filter((run) => run.state === 'running')
    .map((run) =>
      maybe(`somebody else looks at the run ${run.name}`, () => {
        world.budgets.spend('advances');
        const { id, moves } = run;
        const fresh = new FreshIds(world.ids);
        server.run('advance', async () => {
          await world.gates.pass(`somebody else advances the run ${run.name}`);
          await server.store.decide(() => advance({ now: world.clock.now(), id, moves, fresh }));
        });
      }),
    );
}
