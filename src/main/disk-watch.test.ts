import { afterEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { MemoryStore } from '../store/memory/store.ts';
import { watchDisk } from './disk-watch.ts';

const gigabyte = 1024 ** 3;

describe('the watch of the disk', () => {
  let stop = (): void => undefined;
  afterEach(() => stop());

  it('tells once that the disk has become low, and once that it has room again, over restarts', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    let looks = 0;
    let free = 10 * gigabyte;
    const watch = (): void => {
      stop = watchDisk({
        store,
        clock,
        dataDir: '/data',
        lowBytes: gigabyte,
        freeBytes: async () => {
          looks++;
          return free;
        },
        report: (what) => expect.fail(what),
      });
    };
    const look = async (bytes: number): Promise<string[]> => {
      free = bytes;
      const before = looks;
      clock.advance(60_000);
      await until(() => looks > before && clock.nextAt() !== undefined);
      return store.snapshot().notifications.map(({ transition }) => transition);
    };
    watch();
    await until(() => clock.nextAt() !== undefined);
    expect(await look(2 * gigabyte)).toEqual([]);
    expect(await look(gigabyte - 1)).toEqual(['diskLow']);
    expect(await look(gigabyte / 2)).toEqual(['diskLow']);
    stop();
    watch();
    await until(() => clock.nextAt() !== undefined);
    // What sways around the threshold is told once.
    expect(await look(gigabyte * 1.05)).toEqual(['diskLow']);
    expect(await look(gigabyte * 1.2)).toEqual(['diskLow', 'diskOk']);
    expect(await look(gigabyte * 0.9)).toEqual(['diskLow', 'diskOk', 'diskLow']);
    expect(store.snapshot().notifications[0]).toMatchObject({ to: null, state: 'owed' });
    expect(store.snapshot().notifications[0]?.text).toContain('1073 MB are free');
  });

  it('looks at a real disk', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const report = (what: string): void => expect.fail(what);
    stop = watchDisk({ store, clock, dataDir: import.meta.dirname, lowBytes: 2 ** 52, report });
    await until(() => store.snapshot().notifications.length === 1);
  });
});

/** Waits for a condition, with a deadline of real time. */
async function until(what: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${String(what)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
