import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeProblems, invalidConfig, parseYaml, type YamlProblem } from './yaml-file.ts';

const message = z.union([
  z.string(),
  z.strictObject({
    text: z.string(),
    timeout: z.string().optional(),
    retry: z.strictObject({ max: z.int() }).optional(),
  }),
]);
const schema = z.strictObject({
  agent: z.string(),
  mode: z.enum(['fast', 'slow']).optional(),
  messages: z.array(message),
});

function problemsOf(text: string): readonly YamlProblem[] {
  const result = parseYaml(text, 'nightly.yaml', schema);
  return result.ok ? [] : result.problems;
}

describe('a YAML file', () => {
  it('that is valid becomes a value', () => {
    const result = parseYaml('agent: demo\nmessages: [one, {text: two, timeout: 2h}]\n', 'f.yaml', schema);
    expect(result).toEqual({
      ok: true,
      value: { agent: 'demo', messages: ['one', { text: 'two', timeout: '2h' }] },
    });
  });

  it('with very many mistakes tells the first of them, soon, and that there may be more', () => {
    const problems = problemsOf(`agent: demo\nmessages:\n${'  - {txt: one}\n'.repeat(2_000)}`);
    expect(problems).toHaveLength(50);
    expect(problems.at(-1)).toMatchObject({ line: 52, nearest: 'text' });
    expect(describeProblems(problems)).toContain('At most 50 mistakes are told at once.');
  });

  it('with a key that stands twice names the second, wherever it is', () => {
    const [problem, ...others] = problemsOf('agent: demo\nmessages:\n  - { text: one, "text": two }\n');
    expect(others).toEqual([]);
    expect(problem).toMatchObject({
      line: 3,
      column: 18,
      message: expect.stringContaining('must be unique'),
    });
    expect(problemsOf('agent: a\nagent: b\nmessages: []\n')[0]).toMatchObject({ line: 2, column: 1 });
  });

  it('with a misspelt key names file, line, column, key and the nearest valid key', () => {
    const [problem, ...rest] = problemsOf(
      'agent: demo\nmessages:\n  - one\n  - text: two\n    timeuot: 2h\n',
    );
    expect(rest).toEqual([]);
    expect(problem).toMatchObject({
      file: 'nightly.yaml',
      line: 5,
      column: 5,
      key: 'messages[1].timeuot',
      nearest: 'timeout',
    });
    expect(describeProblems(problem ? [problem] : [])).toBe(
      [
        'nightly.yaml:5:5: the key "timeuot" is not known here. Did you mean "timeout"?',
        '',
        '  5 |     timeuot: 2h',
        '    |     ^',
      ].join('\n'),
    );
  });

  it('reports a misspelt required key once, not as missing too', () => {
    const problems = problemsOf('agent: demo\nmesages: [one]\n');
    expect(problems.map(({ line, key, nearest }) => ({ line, key, nearest }))).toEqual([
      { line: 2, key: 'mesages', nearest: 'messages' },
    ]);
  });

  it('lists the valid keys when none is near', () => {
    expect(problemsOf('agent: demo\nmessages: []\nbanana: 1\n')[0]?.message).toBe(
      'the key "banana" is not known here. Valid here: agent, messages, mode.',
    );
  });

  it('points at a value of the wrong kind, in the branch of a union that was meant', () => {
    const problems = problemsOf(
      'agent: demo\nmessages:\n  - text: one\n    retry: { max: often }\n  - 3\nmode: quick\n',
    );
    expect(problems.map(({ line, column, message: text }) => `${line}:${column} ${text}`)).toEqual([
      '4:19 messages[0].retry.max: expected a number, found a text',
      '5:5 messages[1]: expected a text or a mapping (key: value)',
      '6:7 mode: expected "fast" or "slow"',
    ]);
  });

  it('points at the mapping in which something is missing', () => {
    expect(problemsOf('messages: []\n')[0]).toMatchObject({
      line: 1,
      column: 1,
      message: 'agent: missing; expected a text',
    });
    expect(problemsOf('agent: a\nmessages:\n  - timeout: 2h\n')[0]).toMatchObject({
      line: 3,
      column: 5,
      key: 'messages[0].text',
    });
  });

  it('that is empty, no YAML, ambiguous or hostile is a problem with a place, not an exception', () => {
    expect(problemsOf('')[0]).toMatchObject({
      line: 1,
      column: 1,
      message: 'expected a mapping (key: value), found nothing',
    });
    expect(problemsOf('agent: [demo\nmessages: []')[0]?.message).toMatch(/^this is not valid YAML/);
    expect(problemsOf('agent: a\nagent: b\nmessages: []\n')[0]).toMatchObject({ line: 2, column: 1 });
    expect(problemsOf('agent: a\n---\nagent: b\n').length).toBeGreaterThan(0);
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [${'*a,'.repeat(20)}]\nc: [${'*b,'.repeat(20)}]\n`;
    expect(problemsOf(bomb)[0]?.message).toMatch(/^this cannot be read/);
    expect(problemsOf('__proto__: {x: 1}\nagent: a\nmessages: []\n')[0]?.key).toBe('__proto__');
  });

  it.each([
    ['lists', `agent: a\nmessages: ${'['.repeat(20_000)}`, 2],
    ['closed lists', `messages: ${'['.repeat(20_000)}${']'.repeat(20_000)}`, 1],
    ['mappings in braces', '{a: '.repeat(20_000), 1],
    ['mappings', Array.from({ length: 1_000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'), 102],
    ['lists in lists', `messages:\n  ${'- '.repeat(20_000)}`, 2],
  ])('that is nested without end says where, before it takes the stack: %s', (_, text, line) => {
    const message = 'this is nested more than 100 deep; what is meant to be used has a few levels.';
    expect(problemsOf(text)).toEqual([expect.objectContaining({ line, message })]);
  });

  it('may be nested a hundred deep', () => {
    const nested = parseYaml(`${'['.repeat(100)}a${']'.repeat(100)}`, 'f.yaml', z.unknown());
    expect(nested).toMatchObject({ ok: true });
  });

  it('that merges mappings is told that there is no such thing', () => {
    const [problem] = problemsOf(
      'agent: demo\nmessages:\n  - &first {text: one}\n  - {<<: *first, text: two}\n',
    );
    expect(problem).toMatchObject({ line: 4, key: 'messages[1].<<' });
    expect(problem?.message).toContain('YAML 1.2 has no merging of mappings: write the keys out');
    // Alone in an item of a list, it is no text that lacks its quotes.
    const [alone] = problemsOf('agent: demo\nmessages:\n  - &first {text: one}\n  - <<: *first\n');
    expect(alone?.message).toContain('YAML 1.2 has no merging of mappings');
  });

  it('follows an alias to the place of the mistake', () => {
    expect(
      problemsOf('agent: a\nmessages:\n  - &m {text: one, tiemout: 1h}\n  - *m\n').map(({ line, column }) => [
        line,
        column,
      ]),
    ).toEqual([[3, 20]]);
  });

  it('becomes an error with the place of the first problem as data', () => {
    const result = parseYaml('agent: demo\nmesages: []\n', 'f.yaml', schema);
    if (result.ok) throw new Error('expected problems');
    expect(invalidConfig(result.problems)).toMatchObject({
      code: 'INVALID_CONFIG',
      data: { file: 'f.yaml', line: 2, column: 1, key: 'mesages', nearest: 'messages' },
    });
  });

  it('with control characters does not pass them to the terminal', () => {
    const problems = problemsOf('agent: demo\nmessages: []\n"bad\\e[2Jkey": 1\n');
    expect(describeProblems(problems)).not.toContain('\x1b');
  });
});
