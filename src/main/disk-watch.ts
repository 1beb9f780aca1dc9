import { statfs } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import { noteDisk } from '../ledger/disk.ts';
import type { LedgerStore } from '../ledger/store.ts';

/** How often is looked, in milliseconds. */
const everyMs = 60_000;
/** Below this people are told if the configuration does not say, in bytes. */
export const defaultLowBytes = 1024 ** 3;

/** What a watch of the disk needs. */
export interface DiskWatchParts {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly dataDir: string;
  /** 0: nobody is told. */
  readonly lowBytes?: number | undefined;
  /** What is free for us on the file system of a path, in bytes. */
  readonly freeBytes?: (path: string) => Promise<number>;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** Looks at once, and then every minute, how much room the data directory has. Returns the way to stop. */
export function watchDisk(parts: DiskWatchParts): () => void {
  const { store, clock, dataDir, lowBytes = defaultLowBytes, freeBytes = freeOf, report } = parts;
  if (lowBytes === 0) return () => undefined;
  let isStopped = false;
  let cancelTimer = (): void => undefined;
  const look = async (): Promise<void> => {
    try {
      const free = await freeBytes(dataDir);
      if (!isStopped) await store.decide(() => noteDisk({ now: clock.now(), freeBytes: free, lowBytes }));
    } catch (error) {
      // A disk that is full cannot take the news either; the next look tries again.
      if (!isStopped) report('disk.unseen', { error: String(error) });
    }
    if (!isStopped) cancelTimer = clock.after(everyMs, () => void look());
  };
  void look();
  return () => {
    isStopped = true;
    cancelTimer();
  };
}

async function freeOf(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}
