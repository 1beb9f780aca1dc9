import { beforeEach, expect, test } from 'vitest';
import { VirtualClock } from '../base/virtual-clock.ts';
import { ClockWatch } from './clock-watch.ts';

let clock: VirtualClock;
let jumps: number[];
let reports: string[];
let failures: number;
let watch: ClockWatch;

beforeEach(() => {
  clock = new VirtualClock();
  jumps = [];
  reports = [];
  failures = 0;
  watch = new ClockWatch({
    clock,
    onJump: async (byMs) => {
      if (failures-- > 0) throw new Error('the database is away');
      jumps.push(byMs);
    },
    report: (what) => void reports.push(what),
  });
  watch.start();
});

/** Time passes, look by look: each look ends before the next one is armed. */
async function pass(looks: number): Promise<void> {
  for (let look = 0; look < looks; look++) {
    clock.advance(30_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test.each([3_600_000, -3_600_000, 5_001, -5_001])(
  'a wall clock that is set by %d ms is told of once',
  async (byMs) => {
    await pass(3);
    clock.jump(byMs);
    await pass(3);
    expect(jumps).toEqual([byMs]);
    await watch.stop();
  },
);

test('small steps are told of when they have come to more than five seconds', async () => {
  for (let step = 0; step < 4; step++) {
    clock.jump(2_000);
    await pass(1);
  }
  expect(jumps).toEqual([6_000]);
  await watch.stop();
});

test('a machine that slept is told of, one that stalled is not: its timers are right', async () => {
  clock.stall(3_600_000);
  await pass(2);
  expect(jumps).toEqual([]);
  clock.sleep(8 * 3_600_000);
  await pass(2);
  expect(jumps).toEqual([8 * 3_600_000]);
  await watch.stop();
});

test('what could not be told is told at the next look', async () => {
  failures = 2;
  clock.jump(60_000);
  await pass(1);
  clock.jump(60_000);
  await pass(3);
  expect(reports).toEqual(['clock.untold', 'clock.untold']);
  expect(jumps).toEqual([120_000]);
  await watch.stop();
});

test('stopping waits for what is being told, and then nothing is armed', async () => {
  const order: string[] = [];
  let release = (): void => undefined;
  const slow = new ClockWatch({
    clock,
    onJump: () => new Promise((resolve) => (release = resolve)),
    report: () => undefined,
  });
  await watch.stop();
  slow.start();
  slow.start();
  clock.jump(60_000);
  await pass(1);
  const stopped = slow.stop().then(() => order.push('stopped'));
  await new Promise((resolve) => setImmediate(resolve));
  order.push('released');
  release();
  await stopped;
  expect(order).toEqual(['released', 'stopped']);
  expect(clock.nextAt()).toBeUndefined();
});
