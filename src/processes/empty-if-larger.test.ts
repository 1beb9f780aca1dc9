import { appendFileSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { emptyIfLarger } from './empty-if-larger.ts';

test('a file that is too large is emptied under its writer, who goes on at the new end', () => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-empty-'));
  const path = join(directory, 'err.log');
  try {
    emptyIfLarger(path, 10);
    const writer = openSync(path, 'a');
    appendFileSync(path, 'ten bytes!');
    emptyIfLarger(path, 10);
    expect(readFileSync(path, 'utf8')).toBe('ten bytes!');
    writeSync(writer, 'more');
    emptyIfLarger(path, 10);
    writeSync(writer, 'the end');
    closeSync(writer);
    expect(readFileSync(path, 'utf8')).toBe('the end');
  } finally {
    rmSync(directory, { recursive: true });
  }
});
