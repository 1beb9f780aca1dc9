import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readIfThere } from './read-if-there.ts';

const root = mkdtempSync(join(tmpdir(), 'stemma-read-'));
afterAll(() => rmSync(root, { recursive: true }));

test('a file that is missing is told from one that cannot be read', () => {
  writeFileSync(join(root, 'there'), 'text');
  expect(readIfThere(join(root, 'there'))).toBe('text');
  expect(readIfThere(join(root, 'not-there'))).toBeUndefined();
  expect(() => readIfThere(root)).toThrow('EISDIR');
});
