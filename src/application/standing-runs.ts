import type { Answer, StandingRunCommands } from '../api/ports.ts';
import type { RunId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { decideLimit } from '../ledger/limit.ts';
import { ask } from '../ledger/questions.ts';
import { hasBegun, rerun, resumeRun } from '../ledger/rerun.ts';
import type { PreparedWorkspace } from '../ledger/workspace.ts';
import { prepareAgain } from '../runs/workspaces.ts';
import { actorOf, nothing } from './caller.ts';
import { newId } from './commands.ts';
import type { ApplicationContext } from './context.ts';

/** What can be done with a run that stands still. */
export function createStandingRunCommands(context: ApplicationContext): StandingRunCommands {
  const { store, clock, ids } = context;
  return {
    async rerun(id, { from, only = false }, call) {
      const request = await newId(context, call, 'execution');
      const ready = await directoryAgain(context, id, request);
      if (!ready.ok) return ready;
      const command = { id, from, only, request, ...ready.value };
      return nothing(await store.decide(() => rerun({ now: clock.now(), ...command })));
    },
    async resume(id, call) {
      const { caller } = call;
      const run = await store.read(() => ask('run', id));
      const sessionId = run?.sessionId ?? null;
      const session = sessionId === null ? undefined : await store.read(() => ask('session', sessionId));
      // Its message waits for a limit, which holds the whole session.
      if (session?.limit && run?.state === 'running' && run.retryAt === null) {
        const about = { sessionId: session.id, action: 'resume', actor: actorOf(caller) } as const;
        const command = { now: clock.now(), ...about, fresh: new FreshIds(ids) };
        return nothing(await store.decide(() => decideLimit(command)));
      }
      const request = await newId(context, call, 'execution');
      const ready = await directoryAgain(context, id, request);
      if (!ready.ok) return ready;
      return nothing(await store.decide(() => resumeRun({ now: clock.now(), id, request, ...ready.value })));
    },
  };
}

/** The directory that was made for a run which has ended, made ready again; nothing where none was made. */
async function directoryAgain(
  { store, workspaces }: ApplicationContext,
  id: RunId,
  request: string,
): Promise<Answer<{ workspace?: PreparedWorkspace }>> {
  const row = await store.read(() => ask('workspace', id));
  const run = await store.read(() => ask('run', id));
  if (!row?.checkout || run?.state !== 'ended' || hasBegun(run, request)) return { ok: true, value: {} };
  const prepared = await prepareAgain({ store, workspaces }, id, row);
  return prepared.ok ? { ok: true, value: { workspace: prepared.workspace } } : prepared;
}
