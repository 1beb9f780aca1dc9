import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readScreen } from './composer.ts';
import { holds } from './screen.ts';

const corpus = fileURLToPath(new URL('../../../test/corpus/screens/claude/2.1.332/', import.meta.url));
const seen = (name: string) => readScreen(readFileSync(`${corpus}${name}.txt`, 'utf8').split('\n'));

describe('recorded screens of claude 2.1.332', () => {
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
    const screen = seen(name);
    expect([screen.composer.state, screen.isBusy]).toEqual([state, isBusy]);
  });

  it('are all looked at', () => {
    expect(readdirSync(corpus)).toHaveLength(9);
  });

  it('show what a person has typed, and a text that was put back', () => {
    expect(seen('half-typed').composer).toEqual({ state: 'text', text: 'h' });
    expect(holds(seen('rewound'), 'taken back [[hang 9]]')).toBe(true);
    expect(holds(seen('rewound'), 'something else')).toBe(false);
    expect(holds(seen('empty'), 'taken back [[hang 9]]')).toBe(false);
  });

  it('say what they show instead of a composer', () => {
    expect(seen('question').excerpt).toContain('Esc to cancel');
  });
});

it('a screen of anything else has no composer', () => {
  expect(readScreen([]).composer.state).toBe('absent');
  expect(readScreen(['$ ls', 'a  b', '']).composer.state).toBe('absent');
  expect(readScreen(['─'.repeat(20), 'x', '─'.repeat(20)]).composer.state).toBe('absent');
});
