import { expect, test } from 'vitest';
import { rowsOnScreen } from './rows-on-screen.ts';

const of = (from: number, to: number, count = 10_000): unknown =>
  rowsOnScreen({ count, height: 30, from, to });

test('what is on the screen is drawn, and some beyond it', () => {
  expect(of(0, 800)).toEqual({ first: 0, last: 48 });
  expect(of(30_000, 30_800)).toEqual({ first: 976, last: 1_048 });
});

test('a few pixels change nothing', () => {
  expect(of(30_030, 30_810)).toEqual(of(30_000, 30_780));
});

test('it ends with the rows, however few and wherever one has scrolled', () => {
  expect(of(-500, 300, 3)).toEqual({ first: 0, last: 2 });
  expect(of(1_000_000, 1_000_800)).toEqual({ first: 9_999, last: 9_999 });
  expect(of(0, 800, 0)).toEqual({ first: 0, last: -1 });
});
