import { expect, test } from 'vitest';
import { Owner } from './lifetime.ts';
import { pause } from './pause.ts';
import { VirtualClock } from './virtual-clock.ts';

test('stopping asks everything to end and resolves when nothing runs', async () => {
  const clock = new VirtualClock();
  const ended: string[] = [];
  const owner = new Owner('test', () => undefined);
  owner.start(async (signal) => {
    await pause(clock, 1000, signal);
    // What the work does once it was asked to end is joined too.
    owner.signal.throwIfAborted();
    ended.push('not aborted');
  });
  owner.start(async (signal) => {
    await pause(clock, 1000, signal);
    await Promise.resolve();
    ended.push('joined');
  });
  await Promise.all([owner.stop(), owner.stop()]);
  expect(ended).toEqual(['joined']);
  expect(() => owner.start(async () => undefined)).toThrow('test is stopping');
});

test('work that fails is reported by name and hurts nobody else', async () => {
  const reported: unknown[] = [];
  const owner = new Owner('test', (name, error) => reported.push([name, String(error)]));
  let isDone = false;
  owner.start(() => Promise.reject(new Error('broken')));
  owner.start(async () => {
    await Promise.resolve();
    isDone = true;
  });
  await owner.stop();
  expect(reported).toEqual([['test', 'Error: broken']]);
  expect(isDone).toBe(true);
});
