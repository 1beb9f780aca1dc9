import { expect, test } from 'vitest';
import { bytesWords } from './bytes-words.ts';

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1_000, '1.0 KB'],
  [12_345, '12 KB'],
  [999_600, '1.0 MB'],
  [3_400_000_000, '3.4 GB'],
])('%i bytes are %s', (bytes, words) => {
  expect(bytesWords(bytes)).toBe(words);
});
