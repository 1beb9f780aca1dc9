import { readdirSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRecordedScreen, replay, screensDirectory } from '../../../test/corpus/recorded-screen.ts';
import { readScreen, type Seen } from './composer.ts';
import { holds } from './screen.ts';

const recordings = readdirSync(`${screensDirectory}claude/2.1.332`);

describe('recorded screens of claude 2.1.332', () => {
  const seen = new Map<string, Seen>();
  beforeAll(async () => {
    for (const name of recordings)
      for (const { screen, lines } of await replay(readRecordedScreen(`claude/2.1.332/${name}`)))
        seen.set(screen, readScreen(lines));
  });
  const of = (name: string): Seen => {
    const found = seen.get(name);
    if (!found) throw new Error(`nobody recorded ${name}`);
    return found;
  };

  it.each([
    ['empty', 'empty', false],
    ['busy', 'empty', true],
    ['queued', 'empty', true],
    ['interrupted', 'empty', false],
    ['failed', 'empty', false],
    ['background', 'empty', false],
    ['half-typed', 'text', false],
    ['rewound', 'text', false],
    ['question', 'absent', false],
  ] as const)('%s: the composer is %s, busy: %s', (name, state, isBusy) => {
    expect([of(name).composer.state, of(name).isBusy]).toEqual([state, isBusy]);
  });

  it('are all looked at', () => {
    expect(seen.size).toBe(9);
  });

  it('show what a person has typed, and a text that was put back', () => {
    expect(of('half-typed').composer).toEqual({ state: 'text', text: 'h' });
    expect(holds(of('rewound'), 'taken back [[hang 9]]')).toBe(true);
    expect(holds(of('rewound'), 'something else')).toBe(false);
    expect(holds(of('empty'), 'taken back [[hang 9]]')).toBe(false);
  });

  it('say what they show instead of a composer', () => {
    expect(of('question').excerpt).toContain('Esc to cancel');
  });
});

const plain = (...texts: string[]) => texts.map((text) => ({ text, lit: text }));

it('a screen of anything else has no composer', () => {
  expect(readScreen([]).composer.state).toBe('absent');
  expect(readScreen(plain('$ ls', 'a  b', '')).composer.state).toBe('absent');
  expect(readScreen(plain('─'.repeat(20), 'x', '─'.repeat(20))).composer.state).toBe('absent');
});

it('a hint is one by its colour, also where the cursor stands on its first letter', () => {
  const rule = plain('─'.repeat(20));
  const composer = (text: string, lit: string) => readScreen([...rule, { text, lit }, ...rule]).composer;
  expect(composer('❯ Ask it', '❯       ').state).toBe('empty');
  expect(composer('❯ Ask it', '❯ A     ').state).toBe('empty');
  expect(composer('❯ Ask it', '❯ Ask it')).toEqual({ state: 'text', text: 'Ask it' });
  expect(composer('❯ A', '❯ A')).toEqual({ state: 'text', text: 'A' });
  expect(composer('❯ A', '❯')).toEqual({ state: 'empty' });
});
