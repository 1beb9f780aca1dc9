import { expect, test } from 'vitest';
import type { LedgerStore } from '../ledger/store.ts';
import type { EventLog } from '../store/views.ts';
import { createFeed } from './feed.ts';

test('a subscription that cannot read what it missed says so, once, and is over', async () => {
  const listeners = new Set<unknown>();
  const store: Pick<LedgerStore, 'onCommit'> = {
    onCommit: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const log: EventLog = {
    databaseId: 'A',
    lastSequence: async () => 7,
    eventsSince: () => Promise.reject(new Error('disk')),
  };
  const feed = await createFeed(store as LedgerStore, log);
  const broken: unknown[] = [];
  const stop = feed.subscribe(
    {},
    () => undefined,
    (error) => broken.push(error),
  );
  await expect.poll(() => broken).toEqual([new Error('disk')]);
  stop();
  feed.stop();
  expect(listeners.size).toBe(0);
});
