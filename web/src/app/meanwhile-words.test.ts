import { expect, it } from 'vitest';
import { meanwhileWords } from './meanwhile-words.ts';

const at = (second: number): string => new Date(second * 1000).toISOString();
const absence = { since: 10_000, until: 20_000 };

it('counts what began and ended while nothing was heard, and nothing else', () => {
  const roots = [
    { createdAt: at(5), closedAt: at(9) },
    { createdAt: at(5), closedAt: at(12), outcome: 'failed' as const },
    { createdAt: at(11), closedAt: at(20), outcome: 'succeeded' as const },
    { createdAt: at(15) },
    { createdAt: at(21), closedAt: at(22), outcome: 'failed' as const },
  ];
  expect(meanwhileWords(roots, absence)).toBe('2 began, 2 ended (1 failed)');
  expect(meanwhileWords(roots.slice(3), absence)).toBe('1 began');
  expect(meanwhileWords(roots.slice(4), absence)).toBe('nothing began or ended');
});
