import { FreshIds } from '../../src/base/ids.ts';
import { advance, indexToSend } from '../../src/ledger/advance.ts';
import { plannedAt } from '../../src/ledger/plan.ts';
import type { Run } from '../../src/ledger/session.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { filledText } from './plan.ts';
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
      maybe(
        `somebody else looks at the run ${run.name}`,
        () => {
          world.budgets.spend('advances');
          const { id, moves } = run;
          const fresh = new FreshIds(world.ids);
          const text = world.isRetrying
            ? { text: { ok: true, text: textSeen(world, state, run) } as const }
            : {};
          server.run('advance', async () => {
            await world.gates.pass(`somebody else advances the run ${run.name}`);
            await server.store.decide(() => advance({ now: world.clock.now(), id, moves, ...text, fresh }));
          });
        },
        // Shortly before a back-off begins it shows most.
        world.isRetrying && hasFailed(state, run) ? 30 : 4,
      ),
    );
}

/** The text that whoever looked would send, for the message and the attempt that it saw coming. */
function textSeen(world: World, state: MemorySnapshot, run: Run): string {
  const index = indexToSend(run);
  const attempts = state.executions.filter((row) => row.runId === run.id && row.runIndex === index);
  const text = plannedAt(run, index)?.text ?? '';
  return filledText(world, { run, index, text, attempt: attempts.length + 1 });
}

function hasFailed(state: MemorySnapshot, run: Run): boolean {
  const current = state.executions.find((row) => row.id === run.currentId);
  return current?.state === 'failed' && run.retryAt === null;
}
