import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTemplate, renderTemplate, type TemplateValues, variablesIn } from './templates.ts';

const values: TemplateValues = {
  scheduledFor: Date.parse('2027-03-28T01:00:00Z'),
  zone: 'Europe/Berlin',
  previousResult: 'three failed',
  env: (name) => ({ BRANCH: 'main', EMPTY: '' })[name],
  readFile: async (path) =>
    path === 'todo.md' ? { ok: true, text: 'buy milk' } : { ok: false, why: 'there is no such file' },
};
const render = (text: string, more: Partial<TemplateValues> = {}) =>
  renderTemplate(text, { ...values, ...more });
const issuesOf = (text: string) => {
  const parsed = parseTemplate(text);
  return parsed.ok ? [] : parsed.issues;
};

describe('a message with templates', () => {
  it.each([
    ['For {{scheduledFor}}.', 'For 2027-03-28T03:00:00+02:00.'],
    ['{{date}}', '2027-03-28'],
    ['{{ date }}: {{previous.result}}', '2027-03-28: three failed'],
    ['On {{env.BRANCH}}{{env.EMPTY}}.', 'On main.'],
    ['Do:\n{{file:todo.md}}', 'Do:\nbuy milk'],
    ['{{file: todo.md }}', 'buy milk'],
    ['{ {date} }} }', '{ {date} }} }'],
    ['\\{{date}}', '{{date}}'],
    ['\\{{\\{{ {{date}}', '{{{{ 2027-03-28'],
    ['\\', '\\'],
    ['', ''],
  ])('%j is sent as %j', async (text, expected) => {
    expect(await render(text)).toEqual({ ok: true, text: expected });
  });

  it('has the day of its zone, not that of UTC', async () => {
    const scheduledFor = Date.parse('2026-12-31T23:30:00Z');
    expect(await render('{{date}}', { scheduledFor })).toEqual({ ok: true, text: '2027-01-01' });
    expect(await render('{{date}}', { scheduledFor, zone: 'UTC' })).toEqual({ ok: true, text: '2026-12-31' });
  });

  it('has nothing where there was no result before', async () => {
    expect(await render('[{{previous.result}}]', { previousResult: null })).toEqual({ ok: true, text: '[]' });
  });

  it('keeps the end of a long result, and says what is left out', async () => {
    const rendered = await render('{{previous.result}}', { previousResult: `${'x'.repeat(150_000)}the end` });
    const text = rendered.ok ? rendered.text : '';
    expect(text.length).toBeLessThan(100_100);
    expect(text).toMatch(/^\[… 50007 characters are left out …\]\nx/);
    expect(text.endsWith('the end')).toBe(true);
  });

  it.each([
    ['{{env.MISSING}}', {}, /no MISSING/],
    ['{{file:gone.md}}', {}, /\{\{file:gone\.md\}\} cannot be read: there is no such file\./],
    [
      '{{file:big}}',
      { readFile: async () => ({ ok: true as const, text: 'x'.repeat(100_001) }) },
      /longer than 100000/,
    ],
    ['{{previous.result}}'.repeat(11), { previousResult: 'x'.repeat(100_000) }, /longer than 1000000/],
    ['{{dat}}', {}, /no template \{\{dat\}\}/],
  ])('%j that cannot be filled in is told, and not sent', async (text, more, says) => {
    expect(await render(text, more)).toEqual({ ok: false, message: expect.stringMatching(says) });
  });
});

describe('a mistake in a template', () => {
  it('is told with its place and the name that was probably meant', () => {
    expect(issuesOf('Look at\n  {{previus.result}} and {{scheduledfor}}')).toEqual([
      {
        line: 2,
        column: 3,
        nearest: 'previous.result',
        message:
          'there is no template {{previus.result}}; did you mean {{previous.result}}? Write "\\{{" for two braces.',
      },
      expect.objectContaining({ line: 2, column: 26, nearest: 'scheduledFor' }),
    ]);
  });

  it.each([
    ['a {{date', 'has no "}}"'],
    ['{{}}', 'known are scheduledFor, date'],
    ['{{weather}}', 'known are scheduledFor, date, previous.result, env.NAME, file:PATH.'],
    ['{{env.}}', 'names no variable'],
    ['{{env.A B}}', 'names no variable'],
    ['{{env.STEMMA_TOKEN}}', 'not given out'],
    ['{{file:}}', 'names no file'],
    ['{{file:/etc/passwd}}', 'leaves the working directory'],
    ['{{file:../secret}}', 'leaves the working directory'],
    ['{{file:a/../../b}}', 'leaves the working directory'],
    ['{{file:~/x}}', 'leaves the working directory'],
  ])('%j', (text, says) => {
    expect(issuesOf(text).map(({ message }) => message)).toEqual([expect.stringContaining(says)]);
  });
});

it('of which there are very many are told in part, and soon', () => {
  expect(issuesOf('{{a}}'.repeat(200_000))).toHaveLength(20);
});

describe('every text', () => {
  const anyText = fc.string({
    unit: fc.constantFrom('{', '}', '\\', 'a', ' ', '\n', 'date', '{{', '}}'),
    maxLength: 30,
  });

  it('goes out as it is when its braces are escaped', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const escaped = text.replaceAll('{{', '\\{{');
        expect(await render(escaped)).toEqual({ ok: true, text });
      }),
    );
  });

  it('that a value brings in is never read as a template', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, anyText, async (result, file) => {
        const text = 'a {{previous.result}} b {{file:f}} c';
        const rendered = await render(text, {
          previousResult: result,
          readFile: async () => ({ ok: true, text: file }),
        });
        expect(rendered).toEqual({ ok: true, text: `a ${result} b ${file} c` });
      }),
    );
  });

  it('is either a template or told to be none, each issue at a "{{" of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { line, column } of issuesOf(text))
          expect(text.split('\n')[line - 1]?.slice(column - 1, column + 1)).toBe('{{');
      }),
    );
  });
});

describe('the variables of a text', () => {
  it('are listed', () => {
    expect(variablesIn('{{env.A}} \\{{env.B}} {{env.C}}')).toEqual(['A', 'C']);
    expect(variablesIn('{{env.A}} {{wrong}}')).toEqual([]);
  });
});
