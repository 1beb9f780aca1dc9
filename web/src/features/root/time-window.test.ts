import { expect, test } from 'vitest';
import {
  between,
  instantAt,
  moved,
  offsetWords,
  placeOf,
  ticksOf,
  windowOfText,
  windowText,
  zoomed,
} from './time-window.ts';

const whole = { from: 1_000, to: 11_000 };

test('zooming keeps the instant under the pointer where it is, and stays within the whole', () => {
  const half = zoomed(whole, 0.5, 3_500, whole);
  expect(half).toEqual({ from: 2_250, to: 7_250 });
  expect(placeOf(3_500, half, 800)).toBe(placeOf(3_500, whole, 800));
  expect(zoomed(half, 8, 3_500, whole)).toEqual(whole);
  expect(zoomed(whole, 1e-9, 1_000, whole)).toEqual({ from: 1_000, to: 1_010 });
});

test('moving stops at the ends', () => {
  expect(moved({ from: 2_000, to: 4_000 }, -5_000, whole)).toEqual({ from: 1_000, to: 3_000 });
  expect(moved({ from: 2_000, to: 4_000 }, 50_000, whole)).toEqual({ from: 9_000, to: 11_000 });
});

test('a stretch that was dragged over, in either direction', () => {
  expect(between(5_000, 3_000, whole)).toEqual({ from: 3_000, to: 5_000 });
  expect(between(3_000, 3_000, whole)).toEqual({ from: 2_995, to: 3_005 });
  expect(instantAt(400, whole, 800)).toBe(6_000);
});

test('a window is written into an address and read from it', () => {
  expect(windowText({ from: 1_500, to: 2_500.4 }, 1_000)).toBe('500-1500');
  expect(windowOfText('500-1500', 1_000)).toEqual({ from: 1_500, to: 2_500 });
  for (const text of [undefined, '', '5-5', '9-1', '-1-5', 'a-b'])
    expect(windowOfText(text, 0)).toBeUndefined();
});

test('marks stand at round times after the beginning, with room between them', () => {
  expect(ticksOf(whole, 1_000, 800).map(({ words }) => words)).toEqual([
    '0',
    '+1s',
    '+2s',
    '+3s',
    '+4s',
    '+5s',
    '+6s',
    '+7s',
    '+8s',
    '+9s',
    '+10s',
  ]);
  expect(ticksOf({ from: 1_400, to: 1_800 }, 1_000, 400).map(({ words }) => words)).toEqual([
    '+400ms',
    '+500ms',
    '+600ms',
    '+700ms',
    '+800ms',
  ]);
  const year = { from: 0, to: 365 * 86_400_000 };
  expect(ticksOf(year, 0, 800).length).toBeLessThanOrEqual(11);
});

test('times after the beginning', () => {
  expect([1_500, 90_000, 120_000, 3 * 3_600_000, 90_060_000].map(offsetWords)).toEqual([
    '+1.5s',
    '+1m30s',
    '+2m',
    '+3h',
    '+1d01h',
  ]);
});
