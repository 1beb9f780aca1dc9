import type { StandingRunCommands } from '../api/ports.ts';
import { FreshIds } from '../base/ids.ts';
import { decideLimit } from '../ledger/limit.ts';
import { ask } from '../ledger/questions.ts';
import { rerun, resumeRun } from '../ledger/rerun.ts';
import { actorOf, nothing } from './caller.ts';
import type { ApplicationContext } from './context.ts';

/** What can be done with a run that stands still. */
export function createStandingRunCommands(context: ApplicationContext): StandingRunCommands {
  const { store, clock, ids } = context;
  return {
    async rerun(id, from) {
      return nothing(await store.decide(() => rerun({ now: clock.now(), id, from })));
    },
    async resume(id, { caller }) {
      const run = await store.read(() => ask('run', id));
      const session = run && (await store.read(() => ask('session', run.sessionId)));
      // Its message waits for a limit, which holds the whole session.
      if (session?.limit && run?.state === 'running' && run.retryAt === null) {
        const about = { sessionId: session.id, action: 'resume', actor: actorOf(caller) } as const;
        const command = { now: clock.now(), ...about, fresh: new FreshIds(ids) };
        return nothing(await store.decide(() => decideLimit(command)));
      }
      return nothing(await store.decide(() => resumeRun({ now: clock.now(), id })));
    },
  };
}
