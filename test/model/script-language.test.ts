import { describe, expect, it } from 'vitest';
import { hasDirectives, parseSteps } from './script-language.ts';

describe('the script language', () => {
  it('reads directives in order and ignores the text around them', () => {
    expect(parseSteps('please [[tool list {"a":1}]] then [[say done well]] thanks')).toEqual([
      { do: 'call', tool: 'list', args: { a: 1 } },
      { do: 'say', text: 'done well' },
    ]);
  });

  it('keeps the directives of a child inside the arguments of a tool', () => {
    const steps = parseSteps(
      '[[tool run {"instruction":"[[shell ls]] [[say child]]","rows":[[1],[2]]}]] [[say parent]]',
    );
    expect(steps).toEqual([
      { do: 'call', tool: 'run', args: { instruction: '[[shell ls]] [[say child]]', rows: [[1], [2]] } },
      { do: 'say', text: 'parent' },
    ]);
  });

  it('reads times in seconds', () => {
    expect(parseSteps('[[slow 1.5 word]] [[hang 2]] [[drop 0.5]] [[fail 429 1 resets=60]]')).toEqual([
      { do: 'say', text: 'word', overMs: 1500 },
      { do: 'hang', ms: 2000 },
      { do: 'drop', afterMs: 500 },
      { do: 'fail', status: 429, afterMs: 1000, resetsInSeconds: 60 },
    ]);
  });

  it('finds no directives in shell tests, lists and unclosed brackets', () => {
    expect(hasDirectives('if [[ -f x ]]; then echo [[1,2]]; fi')).toBe(false);
    expect(hasDirectives('[[say never closed')).toBe(false);
  });
});
