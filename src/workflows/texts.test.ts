import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { holds } from './condition.ts';
import { fillText, fillTexts } from './texts.ts';
import type { WorkflowValues } from './values.ts';

const values: WorkflowValues = {
  scheduledFor: Date.parse('2027-03-28T01:00:00Z'),
  zone: 'Europe/Berlin',
  inputs: { day: '2027-03-28', count: 3, full: true, empty: '' },
  group: { region: 'eu-1' },
  step: (name) =>
    ({
      fetch: {
        state: 'succeeded',
        result: 'fetched',
        outputs: { data: { items: [{ id: 7 }], 'a key': null } },
      },
      plan: { state: 'skipped', result: null, outputs: {} },
    })[name] as never,
  row: { title: 'One', 'First name': 'Ada', n: 2 },
  previousResult: null,
  of: () => ({ directory: '/records/exe_1', outcome: 'failed', result: null, runId: 'run_1' }),
  env: (name) => ({ BRANCH: 'main', EMPTY: '' })[name],
  readFile: async (path) =>
    path === 'todo.md' ? { ok: true, text: 'buy {{date}}' } : { ok: false, why: 'there is no such file' },
};
const fill = (text: string, more: Partial<WorkflowValues> = {}) => fillText(text, { ...values, ...more });

describe('a text of a workflow', () => {
  it.each([
    ['On {{date}}, {{inputs.day}}', 'On 2027-03-28, 2027-03-28'],
    ['{{scheduledFor}}', '2027-03-28T03:00:00+02:00'],
    ['{{inputs.count}} {{inputs.full}}[{{inputs.empty}}]', '3 true[]'],
    ['{{group.region}}', 'eu-1'],
    ['{{steps.fetch.result}} is {{steps.fetch.state}}', 'fetched is succeeded'],
    ['{{steps.fetch.outputs.data.items[0].id}}', '7'],
    ['{{steps.fetch.outputs.data.items}}', '[{"id":7}]'],
    ['{{steps.fetch.outputs.data["a key"]}}', 'null'],
    ['{{steps.plan.state}}', 'skipped'],
    ['{{steps.plan.result ?? "nothing"}}|{{previous.result ?? \'\'}}', 'nothing|'],
    ['{{row.title}}: {{row["First name"]}}, {{row}}', 'One: Ada, {"title":"One","First name":"Ada","n":2}'],
    ['{{of.directory}} {{of.outcome}} {{of.runId}}', '/records/exe_1 failed run_1'],
    ['{{env.BRANCH}}{{env.EMPTY}}', 'main'],
    ['{{file:todo.md}}', 'buy {{date}}'],
    ['\\{{date}}', '{{date}}'],
  ])('%j becomes %j', async (text, expected) => {
    expect(await fill(text)).toEqual({ ok: true, text: expected });
  });

  it.each([
    ['{{inputs.other}}', '{{inputs.other}}: this input was not given, and has no default.'],
    ['{{steps.plan.result}}', '{{steps.plan.result}}: step plan is skipped, and has no result.'],
    [
      '{{steps.fetch.outputs.data.items[1].id}}',
      '{{steps.fetch.outputs.data.items[1].id}}: step fetch is succeeded, and left no such value.',
    ],
    ['{{steps.gone.result ?? "x"}}', '{{steps.gone.result}}: there is no step gone.'],
    ['{{previous.result}}', '{{previous.result}}: there was no message before.'],
    ['{{row.constructor}}', '{{row.constructor}}: the row has no such column.'],
    ['{{inputs.toString}}', '{{inputs.toString}}: this input was not given, and has no default.'],
    ['{{env.MISSING}}', '{{env.MISSING}}: there is no MISSING for it.'],
    ['{{file:gone.md}}', '{{file:gone.md}}: {{file:gone.md}} cannot be read: there is no such file.'],
  ])('without a value for %s there is none', async (text, message) => {
    expect(await fill(text)).toEqual({ ok: false, message });
  });

  it('keeps the end of a long result, and is bounded as a whole', async () => {
    const long = {
      step: () => ({ state: 'succeeded' as const, result: `${'x'.repeat(150_000)}end`, outputs: {} }),
    };
    const one = await fill('{{steps.fetch.result}}', long);
    expect(one.ok && one.text).toMatch(/^\[… 50003 characters are left out …\]\nx+end$/);
    expect(await fill('{{steps.fetch.result}}'.repeat(11), long)).toMatchObject({ ok: false });
  });

  it('never reads a value as a template', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (value) => {
        const inside = `{{date}}${value}{{env.BRANCH}}`;
        expect(await fill('{{inputs.day}}', { inputs: { day: inside } })).toEqual({ ok: true, text: inside });
      }),
      { numRuns: 100 },
    );
  });

  it('is named by its key when one of several cannot be had', async () => {
    expect(await fillTexts({ A: '{{date}}', B: 'b' }, values)).toEqual({
      ok: true,
      texts: { A: '2027-03-28', B: 'b' },
    });
    expect(await fillTexts({ A: 'a', B: '{{row.x}}' }, values)).toMatchObject({
      ok: false,
      message: 'B: {{row.x}}: the row has no such column.',
    });
  });
});

describe('a condition', () => {
  it.each([
    ['{{inputs.count}} == 3', true],
    ['{{inputs.count}} == "3"', true],
    ['{{inputs.full}} == "true"', true],
    ['{{inputs.full}}', true],
    ['not {{inputs.full}}', false],
    ['{{inputs.empty}} == null', false],
    ['{{inputs.empty}} == ""', true],
    ['{{inputs.other}} == null', true],
    ['{{steps.plan.result}} != null', false],
    ['{{steps.plan.result ?? "x"}} == "x"', true],
    ['{{steps.fetch.state}} in ["succeeded", "failed"]', true],
    ['{{steps.fetch.state}} not in ["succeeded"]', false],
    ['{{inputs.count}} in [1, 2, 3]', true],
    ['{{group.region}} == "eu-1" and ({{inputs.count}} == 4 or {{inputs.full}} == true)', true],
    ['true or {{inputs.day}}', true],
    ['true or false and false', true],
    ['not true == false', true],
    ["'it''s' == 'x'", 'error'],
    ['"a\\"b" == \'a"b\'', true],
    ['{{steps.fetch.outputs.data.items[0]}} == {{steps.fetch.outputs.data.items[0]}}', true],
    ['1 == 1.0', true],
    ['-1 == 1', false],
  ])('%s: %s', async (text, expected) => {
    const held = await holds(text, values);
    if (expected === 'error') expect(held.ok).toBe(false);
    else expect(held).toEqual({ ok: true, value: expected });
  });

  it('looks into a list that a template stands for', async () => {
    const inputs = { of: ['a', 'b'] };
    expect(await holds('"b" in {{inputs.of}}', { ...values, inputs })).toEqual({ ok: true, value: true });
    expect(await holds('"c" in {{inputs.of}}', { ...values, inputs })).toEqual({ ok: true, value: false });
  });

  it.each([
    ['{{inputs.day}}', /\{\{inputs\.day\}\} is neither true nor false/],
    ['{{inputs.day}} = "x"', /write "==" to compare/],
    ['{{inputs.day} == 1', /has no "\}\}"/],
    ['{{inputs.day}} == full', /A text must be in quotes: "full"/],
    ['"{{inputs.day}}" == "x"', /a template in quotes stays as it is/],
    ['({{inputs.full}}', /a "\)" is missing/],
    ['{{inputs.full}} {{inputs.full}}', /one word too many/],
    ['{{inputs.day}} in "x"', /behind "in" there is a list/],
    ['{{inputs.day}} in ["x" "y"]', /a "," or "\]" is missing/],
    ['', /missing at the end/],
    [`${'('.repeat(100)}true`, /nested too deeply/],
    ['"open', /this quote has no end/],
    ['{{input.day}} == 1', /did you mean \{\{inputs\.day\}\}/],
    ['true '.repeat(5_000), /belongs into a script/],
  ])('%s is a mistake', async (text, message) => {
    const held = await holds(text, values);
    expect(held.ok ? held.value : held.message).toMatch(message);
  });

  it('is never changed by what values bring in', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), async (value) => {
        const evil = `${value}" or true or "`;
        const held = await holds('{{inputs.day}} == "safe"', { ...values, inputs: { day: evil } });
        expect(held).toEqual({ ok: true, value: false });
      }),
      { numRuns: 100 },
    );
  });
});
