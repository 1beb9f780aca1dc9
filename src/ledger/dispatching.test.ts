import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { deciding, dispatch, notification, start } from '../store/conformance/rows.ts';
import { MemoryStore } from '../store/memory/store.ts';
import type { Group } from './dispatching.ts';
import { address, groupFailed, groupSent, groupWindowMs, takeGroup } from './dispatching.ts';
import type { Dispatch } from './notification.ts';

const hour = 3_600_000;
const refused = { code: 'REFUSED', message: 'no' };
const gone = { code: 'UNREACHABLE', message: 'nobody there' };

describe('what is owed to a target', () => {
  let store: MemoryStore;
  beforeEach(() => {
    store = new MemoryStore({ clock: new VirtualClock() });
  });

  /** Writes dispatches to `ops`, each of a notification of its own. */
  const write = async (rows: readonly Partial<Dispatch>[]): Promise<void> => {
    for (const [index, set] of rows.entries()) {
      const of = notification(index);
      const isLead = set.state === 'sending';
      const row = dispatch(of, 'ops', isLead ? { ...set, leadId: `ops:${of.id}` } : set);
      await store.decide(
        deciding([
          { do: 'insertNotification', row: of },
          { do: 'insertDispatch', row },
        ]),
      );
    }
  };
  const take = async (now: number): Promise<Group | undefined> => {
    const taken = await store.decide(() => takeGroup({ now, target: 'ops' }));
    return taken.ok ? taken.value : undefined;
  };
  const wakeAt = (): number | undefined =>
    store.snapshot().wakeups.find(({ kind }) => kind === 'dispatch')?.at;

  it('is collected for the window of the first, and then goes together', async () => {
    await write([{}, { owedAt: start + 1_500 }]);
    expect(await take(start + 1_500)).toBeUndefined();
    expect(wakeAt()).toBe(start + groupWindowMs);
    const group = await take(start + groupWindowMs);
    expect(group?.notifications.map(({ subject }) => subject)).toEqual(['subject0', 'subject1']);
    // The same again until it is known what came of it.
    expect((await take(start + groupWindowMs))?.lead.id).toBe(group?.lead.id);
  });

  it('waits while the target is down, and not while one message was refused', async () => {
    const later = { state: 'sending', attempt: 1, notBefore: start + hour } as const;
    await write([{ ...later, error: gone }, {}]);
    expect(await take(start + groupWindowMs)).toBeUndefined();
    expect(wakeAt()).toBe(start + hour);
    expect((await take(start + hour))?.notifications.map(({ subject }) => subject)).toEqual(['subject0']);
  });

  it('is no more than ten messages that were refused, and then waits', async () => {
    const later = { state: 'sending', attempt: 1, notBefore: start + hour, error: refused } as const;
    await write([...Array.from({ length: 9 }, () => later), {}]);
    expect(await take(start + groupWindowMs)).toBeDefined();
    await write10th();
    expect(await take(start + groupWindowMs)).toBeUndefined();

    async function write10th(): Promise<void> {
      const of = notification(99);
      const lead = 'ops:missed:subject9';
      await store.decide(() => groupFailed({ now: start, leadId: lead, error: refused, delayMs: hour }));
      await store.decide(
        deciding([
          { do: 'insertNotification', row: of },
          { do: 'insertDispatch', row: dispatch(of, 'ops') },
        ]),
      );
    }
  });

  it('does not wait for instants that a clock has made which was ahead', async () => {
    await write([{ state: 'sending', attempt: 1, error: gone, notBefore: start + 100 * hour }]);
    expect(await take(start)).toBeDefined();
    store = new MemoryStore({ clock: new VirtualClock() });
    await write([{ owedAt: start + 100 * hour }]);
    expect(await take(start)).toBeDefined();
  });

  it('is told once, and given up once: an end never changes', async () => {
    await write([{ state: 'sending' }]);
    const leadId = 'ops:missed:subject0';
    expect(await store.decide(() => groupSent({ now: start, leadId }))).toMatchObject({ value: 1 });
    expect(await store.decide(() => groupSent({ now: start, leadId }))).toMatchObject({ value: 0 });
    const failed = { now: start, leadId, error: gone, delayMs: 1, isFinal: true };
    expect(await store.decide(() => groupFailed(failed))).toMatchObject({ value: 'over' });
    expect(store.snapshot().dispatches).toMatchObject([{ state: 'sent' }]);
  });

  it('is addressed once, to each target once', async () => {
    const row = notification(1, { to: ['ops', 'ops', 'me'] });
    await store.decide(deciding([{ do: 'insertNotification', row }]));
    const command = { now: start, id: row.id, always: ['all'], known: ['ops', 'me', 'all'] };
    for (let i = 0; i < 2; i++) await store.decide(() => address(command));
    expect(store.snapshot().dispatches.map(({ target }) => target)).toEqual(['ops', 'me']);
  });
});
