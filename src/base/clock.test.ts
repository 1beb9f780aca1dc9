import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from './clock.ts';
import { VirtualClock } from './virtual-clock.ts';

const dayMs = 24 * 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a timer may be longer than the longest of the machine', () => {
  const fired = vi.fn();
  systemClock.after(60 * dayMs, fired);
  vi.advanceTimersByTime(60 * dayMs - 1);
  expect(fired).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(fired).toHaveBeenCalledTimes(1);
});

test('a cancelled timer never fires, however long it was, and cancelling twice is harmless', () => {
  const fired = vi.fn();
  const cancel = systemClock.after(60 * dayMs, fired);
  vi.advanceTimersByTime(40 * dayMs);
  cancel();
  cancel();
  vi.advanceTimersByTime(40 * dayMs);
  expect(fired).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a virtual clock fires what falls due on the way, in order, at its own instant', () => {
  const clock = new VirtualClock(0);
  const seen: string[] = [];
  const note = (name: string) => (): void => void seen.push(`${name} at ${clock.now()}`);
  clock.after(20, note('late'));
  clock.after(10, note('first'));
  clock.after(10, () => {
    note('second')();
    clock.after(5, note('set meanwhile'));
  });
  clock.after(10, note('cancelled'))();
  clock.after(100, note('not yet'));
  clock.advance(50);
  expect(seen).toEqual(['first at 10', 'second at 10', 'set meanwhile at 15', 'late at 20']);
  expect([clock.now(), clock.nextAt()]).toEqual([50, 100]);
});

describe('the wall clock of a virtual clock', () => {
  const armed = (): { clock: VirtualClock; seen: number[] } => {
    const clock = new VirtualClock(1_000);
    const seen: number[] = [];
    clock.after(100, () => void seen.push(clock.now()));
    return { clock, seen };
  };

  test.each([5_000, -900])('is set by %d without any time passing', (byMs) => {
    const { clock, seen } = armed();
    clock.jump(byMs);
    expect([clock.now(), clock.monotonic(), clock.nextAt()]).toEqual([1_000 + byMs, 1_000, 1_100 + byMs]);
    clock.advance(99);
    expect(seen).toEqual([]);
    clock.advance(1);
    expect(seen).toEqual([1_100 + byMs]);
  });

  test('goes on while the machine sleeps, and timers do not', () => {
    const { clock, seen } = armed();
    clock.sleep(50);
    clock.advance(60);
    expect([clock.now(), clock.monotonic(), seen]).toEqual([1_110, 1_060, []]);
    clock.advance(40);
    expect(seen).toEqual([1_150]);
  });

  test('agrees with the monotonic one over a stall, after which what was due fires late', () => {
    const { clock, seen } = armed();
    clock.stall(5_000);
    expect([clock.now(), clock.monotonic(), seen]).toEqual([6_000, 6_000, [6_000]]);
  });
});
