import { expect, test } from 'vitest';
import { placesWithin } from './attempt-view.ts';

const rows = (...places: readonly number[]): { runIndex: number; at: number }[] =>
  places.map((runIndex, at) => ({ runIndex, at }));
const atOf = ({ messages }: ReturnType<typeof placesWithin<{ runIndex: number; at: number }>>): number[] =>
  messages.map(({ at }) => at);

test('what fits is shown whole', () => {
  expect(placesWithin(rows(0, 0, 1), 3)).toEqual({ messages: rows(0, 0, 1) });
});

test('a place that does not fit begins the next page', () => {
  const shown = placesWithin(rows(4, 4, 5, 5, 6), 3);
  expect([atOf(shown), shown.next]).toEqual([[0, 1], 5]);
});

test('of one place with more attempts than that, the latest', () => {
  const shown = placesWithin(rows(7, 7, 7, 7, 8), 3);
  expect([atOf(shown), shown.next]).toEqual([[1, 2, 3], 8]);
});
