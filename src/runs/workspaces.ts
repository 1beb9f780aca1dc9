import type { RunId } from '../base/ids.ts';
import { ask } from '../ledger/questions.ts';
import type { Workspace } from '../ledger/workspace.ts';
import { workspaceLeft } from '../ledger/workspace-lock.ts';
import type { PreparedOrNot } from '../workspaces/port.ts';
import type { RunsContext } from './ports.ts';

/**
 * What was made for a run that has ended is looked at: it goes, or stays with somebody's work, and the ledger says which.
 * Idempotent. A run that has gone on meanwhile has its directory again.
 */
export async function releaseWorkspace(context: RunsContext, runId: RunId): Promise<void> {
  const { store, clock, workspaces, report } = context;
  const row = await store.read(() => ask('workspace', runId));
  const run = await store.read(() => ask('run', runId));
  if (!row || row.left || run?.state !== 'ended') return;
  const left = await workspaces.release(row);
  if (left.what === 'kept')
    report('workspace.kept', { runId, path: row.checkout?.path ?? row.path, ...left });
  const told = await store.decide(() => workspaceLeft({ now: clock.now(), runId, left }));
  const goesOn = (await store.read(() => ask('run', runId)))?.state === 'running';
  if (!told.ok || told.value || !goesOn) return;
  const again = await prepareAgain(context, runId, row);
  if (!again.ok) report('workspace.gone', { runId, message: again.message });
}

/** Makes the directory of a run that goes on, if it is not there any more. */
export async function prepareAgain(
  { store, workspaces }: Pick<RunsContext, 'store' | 'workspaces'>,
  runId: RunId,
  { how, from }: Workspace,
): Promise<PreparedOrNot> {
  const run = await store.read(() => ask('run', runId));
  return workspaces.prepare({ runId, name: run?.name ?? 'run', how, cwd: from });
}
