import { describe, expect, it } from 'vitest';
import { decodeCursor, encodeCursor, makeDatabaseId } from './cursor.ts';

describe('event cursors', () => {
  it('name a place in one database', () => {
    const cursor = encodeCursor('0123456789ABCDEF', 42);
    expect(decodeCursor('0123456789ABCDEF', cursor)).toBe(42);
    expect(decodeCursor('0123456789ABCDEG', cursor)).toBe('foreign');
    expect(cursor).toMatch(/^[\w-]+$/);
  });

  it.each([
    '',
    'x',
    '42',
    '….',
    encodeCursor('', 1),
    encodeCursor('A', -1),
    encodeCursor('A', 1.5),
    encodeCursor('A B', 1),
    'A'.repeat(500),
  ])('refuse %j', (text) => expect(decodeCursor('A', text)).toBe('invalid'));

  it('belong to a database whose id is random', () => {
    expect(makeDatabaseId(() => 0)).toBe('0'.repeat(16));
    expect(makeDatabaseId(() => 0.999)).toBe('Z'.repeat(16));
  });
});
