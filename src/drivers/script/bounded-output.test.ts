import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readBounded, readLastLines } from './bounded-output.ts';

let path = '';

beforeEach(() => {
  path = join(mkdtempSync(join(tmpdir(), 'stemma-bounded-')), 'out');
});

afterEach(() => rmSync(join(path, '..'), { recursive: true, force: true }));

test('a small output is read whole, a missing one is empty', () => {
  expect(readBounded(path, 100)).toBe('');
  writeFileSync(path, 'täxt\n');
  expect(readBounded(path, 100)).toBe('täxt\n');
});

test('a large output keeps its beginning and its end, and says how much is missing', () => {
  writeFileSync(path, `begin${'x'.repeat(1000)}the end`);
  expect(readBounded(path, 20)).toBe('beginxxxxx\n[… 992 bytes left out …]\nxxxthe end');
});

test('a character is never cut in two', () => {
  for (let shift = 0; shift < 4; shift++) {
    for (const letter of ['ä', '€', '😀']) {
      writeFileSync(path, 'x'.repeat(shift) + letter.repeat(50) + 'x'.repeat(shift));
      expect(readBounded(path, 24)).not.toContain('\uFFFD');
    }
  }
});

test('NUL and bytes that are no text are replaced', () => {
  writeFileSync(path, Buffer.from([0x61, 0x00, 0xff, 0x62]));
  expect(readBounded(path, 100)).toBe('a\uFFFD\uFFFDb');
});

test('the last lines begin with a whole line', () => {
  writeFileSync(path, 'first line\nsecond\nthird\n');
  expect(readLastLines(path, 16)).toBe('second\nthird');
  writeFileSync(path, 'x'.repeat(100));
  expect(readLastLines(path, 10)).toBe('x'.repeat(10));
});
