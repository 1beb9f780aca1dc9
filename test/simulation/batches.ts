import type { CommitContext } from './checks-context.ts';
import { describe } from './observer.ts';

/**
 * What an agent gave out in a turn comes back at once: when a result of it is handed over, nothing else of it is alive, whatever the
 * ledger believes, and nothing of it stays behind.
 */
export function checkBatches({ world, before, after }: CommitContext): void {
  const old = new Map(before.notices.map((notice) => [notice.id, notice.state]));
  for (const notice of after.notices) {
    if (notice.mode !== 'batch' || notice.state !== 'handed' || old.get(notice.id) === 'handed') continue;
    const parent = before.executions.find((row) => row.id === notice.countedOn);
    if (parent?.endedAt === null)
      world.violations.report('PIECEMEAL', `a result is handed over while ${describe(parent)} is at work`);
    for (const row of after.executions) {
      if (row.parentId !== notice.countedOn || row.mode !== 'batch' || row.detachedAt !== null) continue;
      if (!row.closed || world.truth.works.get(row.name)?.stage === 'running')
        world.violations.report('PIECEMEAL', `a result is handed over while ${describe(row)} is alive`);
      const own = after.notices.find((other) => other.executionId === row.id);
      if (own?.state === 'owed')
        world.violations.report('PIECEMEAL', `a result is handed over without that of ${describe(row)}`);
    }
  }
}
