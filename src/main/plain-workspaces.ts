import { stat } from 'node:fs/promises';
import type { PreparedOrNot, WantedWorkspace } from '../workspaces/port.ts';

/** Every run works in the directory that was asked for, which nobody has alone. */
export async function prepareShared({ cwd }: WantedWorkspace): Promise<PreparedOrNot> {
  const isThere = await stat(cwd).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isThere)
    return { ok: true, workspace: { how: 'shared', from: cwd, path: cwd, lock: null, checkout: null } };
  const message = `There is no directory ${cwd}.`;
  return { ok: false, code: 'INVALID_WORKSPACE', message, data: { path: cwd } };
}
