import { expect, test } from 'vitest';
import { FreshIds, Ids, isId } from './ids.ts';

test('ids sort in the order in which they were made, also when the clock is set back', () => {
  let now = 1_800_000_000_000;
  const ids = new Ids(() => now, Math.random);
  const made = [1, 0, 0, 0, -5000, 0, 1, 6000].flatMap((stepMs) => {
    now += stepMs;
    return Array.from({ length: 50 }, () => ids.make('execution'));
  });
  expect(made.toSorted()).toEqual(made);
  expect(new Set(made).size).toBe(made.length);
});

test('many ids of one millisecond keep their order, whatever the randomness', () => {
  for (const random of [0, 0.999_999_999]) {
    const ids = new Ids(
      () => 0,
      () => random,
    );
    const made = Array.from({ length: 10_000 }, () => ids.make('turn'));
    expect(made.toSorted()).toEqual(made);
  }
});

test('only a whole id of its kind is one', () => {
  const id = new Ids(Date.now, Math.random).make('session');
  expect(isId('session', id)).toBe(true);
  for (const other of [id.slice(0, -1), `${id}0`, id.toLowerCase(), id.replace('ses_', 'exe_'), '', 'ses_']) {
    expect(isId('session', other), other).toBe(false);
  }
});

test('a decision that runs twice gets the same ids', () => {
  const fresh = new FreshIds(new Ids(Date.now, Math.random));
  const [first, second] = [fresh.at('execution', 0), fresh.at('execution', 1)];
  expect(fresh.at('execution', 0)).toBe(first);
  expect(second).not.toBe(first);
  expect(isId('notice', fresh.at('notice', 0))).toBe(true);
});
