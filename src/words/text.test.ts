import { describe, expect, it } from 'vitest';
import { clip, columnsOf, pad, plainBlock, plainLine, wrap } from './text.ts';

describe('text of agents on a terminal', () => {
  it.each([
    ['colours', '\x1b[31mred\x1b[0m', 'red'],
    ['cursor movement and erasing', 'a\x1b[2J\x1b[1;1Hb', 'ab'],
    ['a window title ended by BEL', '\x1b]0;owned\x07name', 'name'],
    ['a window title ended by ST', '\x1b]0;owned\x1b\\name', 'name'],
    ['a title that never ends', 'name\x1b]0;owned', 'name'],
    ['a clipboard write', 'x\x1b]52;c;cm0gLXJm\x07y', 'xy'],
    ['a hyperlink', '\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\', 'click'],
    ['a device control string', 'a\x1bP1;2|payload\x1b\\b', 'ab'],
    ['eight-bit controls', 'a\x9b31mb\x9d0;t\x9cc', 'abc'],
    ['a bare escape', 'a\x1b', 'a'],
    ['carriage return and backspace', 'safe\r\x08\x08evil', 'safe evil'],
    ['line breaks and tabs', 'one\n\ttwo\u2028three', 'one two three'],
    ['bidi overrides', 'abc\u202edcba\u2066', 'abcdcba'],
    ['NUL', 'a\0b', 'a b'],
  ])('strips %s', (_, text, expected) => {
    expect(plainLine(text)).toBe(expected);
  });

  it('keeps the lines of an answer, and only those', () => {
    expect(plainBlock('one\r\ntwo\t\x1b[5mthree\x1b[0m  \n\x07four')).toBe('one\ntwo  three\n four');
  });

  it('keeps text in any script as it is', () => {
    expect(plainLine('Prüfung läuft · 試験 👩‍👩‍👧')).toBe('Prüfung läuft · 試験 👩‍👩‍👧');
  });

  it('breaks between words, inside one that is too wide, and never inside a character', () => {
    expect(wrap('one two three\n\nfour', 8)).toEqual(['one two', 'three', '', 'four']);
    expect(wrap('see http://example.org/path', 10)).toEqual(['see', 'http://exa', 'mple.org/p', 'ath']);
    expect(wrap('試験試験', 5)).toEqual(['試験', '試験']);
    expect(wrap('one two', Number.POSITIVE_INFINITY)).toEqual(['one two']);
  });

  it('counts columns, not code units', () => {
    expect([columnsOf('abc'), columnsOf('試験'), columnsOf('👩‍👩‍👧'), columnsOf('e\u0301')]).toEqual([
      3, 4, 2, 1,
    ]);
  });

  it('cuts between characters and says so', () => {
    expect(clip('試験結果', 5)).toBe('試験…');
    expect(clip('short', 5)).toBe('short');
    expect(clip('longer', 0)).toBe('');
    expect(pad('試', 4)).toBe('試  ');
  });
});

it('breaks a line of any length, and no character that lies across a piece of it', () => {
  const text = 'é👩‍👩‍👧e\u0301'.repeat(20_000);
  const lines = wrap(text, 80);
  expect(lines.join('')).toBe(text);
  expect(lines.every((line) => columnsOf(line) <= 80)).toBe(true);
  expect(lines.slice(0, -1).every((line) => columnsOf(line) >= 79)).toBe(true);
  expect(lines.some((line) => /^[\u0301\u200d]/.test(line))).toBe(false);
});
