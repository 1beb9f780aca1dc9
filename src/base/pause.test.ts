import { expect, test } from 'vitest';
import { pause, pauseOrThrow, waitUntil, within } from './pause.ts';
import { VirtualClock } from './virtual-clock.ts';

test('a pause ends at its time or at the abort, and leaves no timer', async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const pauses = [pause(clock, 1000), pause(clock, 2000, abort.signal)];
  clock.advance(1000);
  await pauses[0];
  abort.abort();
  await pauses[1];
  await pause(clock, 1000, abort.signal);
  expect(clock.nextAt()).toBeUndefined();
});

test('an abort can be made to reject, with its reason', async () => {
  const clock = new VirtualClock();
  const abort = new AbortController();
  const paused = pauseOrThrow(clock, 1000, abort.signal);
  abort.abort(new Error('stopped'));
  await expect(paused).rejects.toThrow('stopped');
  expect(clock.nextAt()).toBeUndefined();
});

test('work that comes in time counts, what is late does not, and neither leaves a timer', async () => {
  const clock = new VirtualClock();
  const never = new Promise<string>(() => undefined);
  expect(await within(clock, 1000, Promise.resolve('done'), 'late')).toBe('done');
  await expect(within(clock, 1000, Promise.reject(new Error('broken')), 'late')).rejects.toThrow('broken');
  const late = within(clock, 1000, never, 'late');
  clock.advance(1000);
  expect(await late).toBe('late');
  const abort = new AbortController();
  const stopped = within(clock, 1000, never, 'late', abort.signal);
  abort.abort();
  expect(await stopped).toBe('late');
  expect(clock.nextAt()).toBeUndefined();
});

test('a condition is asked until it holds, or until the deadline', async () => {
  const clock = new VirtualClock();
  let asked = 0;
  const drive = async (waiting: Promise<boolean>): Promise<{ holds: boolean; tookMs: number }> => {
    const began = clock.now();
    let holds: boolean | undefined;
    void waiting.then((answer) => (holds = answer));
    for (let step = 0; step < 1000 && holds === undefined; step++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (holds === undefined) clock.step();
    }
    return { holds: holds === true, tookMs: clock.now() - began };
  };
  expect(await drive(waitUntil(clock, () => ++asked === 3, 1000))).toEqual({ holds: true, tookMs: 2 + 4 });
  expect(await drive(waitUntil(clock, () => false, 1000))).toEqual({ holds: false, tookMs: 1000 });
});
