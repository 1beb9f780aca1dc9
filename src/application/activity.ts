import type { Clock } from '../base/clock.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { LedgerStore } from '../ledger/store.ts';

/** How long one count lasts, and how many there are. */
const minuteMs = 60_000;
const counted = 30;

/** How much happens in each live tree. */
export interface Activity {
  /** Events of a tree in each of the last 30 minutes, the present one last; what was before this server started is not counted. */
  of(rootId: ExecutionId): number[];
}

interface Counts {
  /** The minute that the last count is of. */
  minute: number;
  readonly events: number[];
}

/** Counts what is committed, by tree, for as long as the tree is open. `stop` ends it. */
export function createActivity(
  store: Pick<LedgerStore, 'onCommit'>,
  clock: Pick<Clock, 'now'>,
): Activity & { stop(): void } {
  const trees = new Map<string, Counts>();
  const minuteOf = (ms: number): number => Math.floor(ms / minuteMs);
  const stop = store.onCommit(({ events }) => {
    for (const { rootId, at, type, data } of events) {
      if (rootId === null || rootId === undefined) continue;
      if (type === 'execution.closed' && data['executionId'] === rootId) {
        trees.delete(rootId);
        continue;
      }
      const counts = trees.get(rootId) ?? {
        minute: minuteOf(at),
        events: new Array<number>(counted).fill(0),
      };
      trees.set(rootId, counts);
      moveOn(counts, minuteOf(at));
      counts.events[counted - 1] = (counts.events[counted - 1] ?? 0) + 1;
    }
  });
  return {
    stop,
    of(rootId) {
      const counts = trees.get(rootId);
      if (!counts) return [];
      moveOn(counts, minuteOf(clock.now()));
      return [...counts.events];
    },
  };
}

/** Lets the minutes go that have passed; a clock that was set back counts into the latest one. */
function moveOn(counts: Counts, minute: number): void {
  const passed = Math.min(counted, minute - counts.minute);
  if (passed <= 0) return;
  counts.events.splice(0, passed);
  counts.events.push(...new Array<number>(passed).fill(0));
  counts.minute = minute;
}
