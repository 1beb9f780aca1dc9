import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { StemmaError } from '../../base/errors.ts';
import { parseScript, readScript } from './read-script.ts';

const examples = fileURLToPath(new URL('../../../examples/demo/', import.meta.url));

function complaint(text: string): StemmaError {
  try {
    parseScript(text, 'night.json');
  } catch (error) {
    if (error instanceof StemmaError) return error;
  }
  throw new Error('the script was taken');
}

const rule = (...actions: unknown[]): string =>
  JSON.stringify({ rules: [{ when: '^go (\\w+)', do: actions }] });

describe('a demo script', () => {
  it.each(readdirSync(examples))('%s of the examples is one', (name) => {
    expect(readScript(examples + name).rules.length).toBeGreaterThan(0);
  });

  it('has its defaults filled in', () => {
    const script = parseScript(rule({ say: 'hello {{1}}' }, { later: [{ call: 'x' }] }), 'night.json');
    expect(script.offers).toEqual({ load: true, tools: true });
    expect(script.rules[0]?.times).toBe(Number.POSITIVE_INFINITY);
    expect(script.rules[0]?.actions).toEqual([
      { verb: 'say', text: 'hello {{1}}', afterMs: 0 },
      {
        verb: 'later',
        afterMs: 100,
        actions: [{ verb: 'call', tool: 'x', args: {}, saveAs: undefined, silent: false, afterMs: 0 }],
      },
    ]);
  });

  // V8 gives the offset of some errors, and a piece of the text for the others.
  it('that is not JSON is refused with its line and column', () => {
    const error = complaint('{\n  "rules": [] "name"\n}');
    expect(error.code).toBe('INVALID_CONFIG');
    expect(error.message).toContain('night.json:2:15 is not JSON');
    expect(error.data).toMatchObject({ line: 2, column: 15 });
  });

  it.each([
    [rule({ shout: 'x' }), 'rules[0].do[0]: has no verb; one of say, think'],
    [rule({ wait: 1 }, { say: 'x', wait: 1 }), 'rules[0].do[1]: has two verbs, "say" and "wait"'],
    [rule({ wait: -1 }), 'rules[0].do[0].wait: '],
    [rule({ say: 'x', loud: true }), 'rules[0].do[0]: Unrecognized key: "loud"'],
    [rule({ parallel: [{ call: 'a' }, { end: 'never' }] }), 'rules[0].do[0].parallel[1].end: '],
    [
      rule({ call: 'a', with: { deep: ['{{2}}'] } }),
      'rules[0].do[0].with.deep[0]: the pattern has no group 2',
    ],
    [rule({ say: '{{job.id}}' }), 'rules[0].do[0].say: no call of this rule says "saveAs": "job"'],
    [JSON.stringify({ rules: [{ when: '(', do: [] }] }), 'rules[0].when: Invalid regular expression'],
    [JSON.stringify({ rules: [{ when: 'x' }] }), 'rules[0].do: must be a list of actions'],
    [JSON.stringify({ rules: {} }), 'rules: '],
    [JSON.stringify([]), 'the whole file: '],
  ])('that says something else is refused at its place: %s', (text, place) => {
    expect(complaint(text).message).toContain(place);
  });
});
