import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { LeftBehind, OutputValues } from '../runs/step-ports.ts';
import { outputValues } from './output-values.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'outputs-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function look(outputs: Record<string, OutputPlan>, given: Partial<LeftBehind> = {}): Promise<OutputValues> {
  const keep: LeftBehind['keep'] = async (name) => `/kept/${name}`;
  return outputValues({ outputs, cwd, answer: null, printed: {}, keep, ...given });
}

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'number' } } };

describe('what a step left behind', () => {
  it('has its values by name when all is there', async () => {
    writeFileSync(join(cwd, 'report.md'), '# done');
    writeFileSync(join(cwd, 'data.json'), '\uFEFF{"n": 1}');
    const outputs = {
      report: { from: 'file', path: 'report.md' },
      data: { from: 'json', path: './data.json', schema },
      verdict: { from: 'answer', schema },
      said: { from: 'answer', schema: null },
      ok: { from: 'command', command: 'echo fine' },
    } as const;
    const printed = { ok: { isYes: true, text: 'fine\n' } };
    const answer = 'Here it is:\n```json\n{"n": 2}\n```\n';
    expect(await look(outputs, { answer, printed })).toEqual({
      ok: true,
      values: { report: '/kept/report', data: { n: 1 }, verdict: { n: 2 }, said: answer, ok: 'fine' },
    });
  });

  it('that is too much leaves no copy of a file behind', async () => {
    writeFileSync(join(cwd, 'report.md'), '# done');
    const outputs = {
      report: { from: 'file', path: 'report.md' },
      said: { from: 'answer', schema: null },
    } as const;
    const kept: string[] = [];
    const keep: LeftBehind['keep'] = async (name) => `${kept.push(name)}`;
    const found = await look(outputs, { answer: 'x'.repeat(1_000_001), keep });
    expect([found.ok, kept]).toEqual([false, []]);
  });

  it('of a command is a megabyte at most, and how much more it was is not made up', async () => {
    const outputs = { said: { from: 'command', command: 'cat big' } } as const;
    const text = `${'x'.repeat(500_000)}\n[… 9000000 bytes left out …]\n${'x'.repeat(500_000)}`;
    expect(await look(outputs, { printed: { said: { isYes: true, text } } })).toEqual({
      ok: false,
      mistakes: ['said: cat big prints more than 1000000 bytes; let it write a file, and name that'],
    });
  });

  it('that is missing or does not fit is told all at once', async () => {
    writeFileSync(join(cwd, 'data.json'), '{\n  "n": 1,\n}');
    writeFileSync(join(cwd, 'other.json'), '{"n": "1"}');
    const outputs = {
      report: { from: 'file', path: 'report.md' },
      data: { from: 'json', path: 'data.json', schema },
      other: { from: 'json', path: 'other.json', schema },
      verdict: { from: 'answer', schema },
      said: { from: 'answer', schema: null },
      ok: { from: 'command', command: 'false' },
    } as const;
    const found = await look(outputs, {
      answer: ' ',
      printed: { ok: { isYes: false, text: 'false: exit code 1' } },
    });
    expect(found).toEqual({
      ok: false,
      mistakes: [
        'report: the file report.md does not exist',
        expect.stringMatching(/^data: data.json is no JSON: .*line 3.*column 1/),
        'other: other.json $.n: must be number, and is "1"',
        'verdict: the answer is empty, and JSON is expected',
        'said: the answer is empty',
        'ok: false: exit code 1',
      ],
    });
  });

  it('keeps no copy of a file as long as anything else is refused: it would be mended behind it', async () => {
    writeFileSync(join(cwd, 'report.md'), '# first');
    const outputs = {
      report: { from: 'file', path: 'report.md' },
      ok: { from: 'command', command: 'npm test' },
    } as const;
    const kept: string[] = [];
    const keep: LeftBehind['keep'] = async (name) => `/kept/${kept.push(name)}`;
    await look(outputs, { keep, printed: { ok: { isYes: false, text: 'no' } } });
    expect(kept).toEqual([]);
    await look(outputs, { keep, printed: { ok: { isYes: true, text: '' } } });
    expect(kept).toEqual(['report']);
  });

  it.each([
    ['the last block counts', '```json\n{"n": 1}\n```\nor\n  ```\r\n{"n": 2}\r\n  ```'],
    ['a block that has no end is none', '```json\n{"n": 2}\n```\n```json\n{"n": '],
    ['a fence at the end of a line is none', 'x```\n```json\n{"n": 2}\n```'],
  ])('is read from an answer with words around it: %s', async (_, answer) => {
    const verdict = { from: 'answer', schema } as const;
    expect(await look({ verdict }, { answer })).toEqual({ ok: true, values: { verdict: { n: 2 } } });
  });

  it.each([
    ['../secret', 'is outside the working directory'],
    ['/etc/passwd', 'is an absolute path; write one below the working directory'],
    ['out', 'is outside the working directory'],
    ['circle', 'is a link in a circle'],
    ['.', 'is outside the working directory'],
    ['none/at/all', 'does not exist'],
  ])('never leaves the working directory: %s', async (path, why) => {
    symlinkSync('/etc/passwd', join(cwd, 'out'));
    symlinkSync('circle', join(cwd, 'circle'));
    writeFileSync(join(cwd, '..', 'secret'), 'x');
    const found = await look({ a: { from: 'file', path } });
    rmSync(join(cwd, '..', 'secret'));
    expect(found).toEqual({ ok: false, mistakes: [`a: the file ${path} ${why}`] });
  });

  it('is bounded', async () => {
    writeFileSync(join(cwd, 'large.json'), `"${'x'.repeat(1_000_001)}"`);
    expect(await look({ a: { from: 'json', path: 'large.json', schema: null } })).toEqual({
      ok: false,
      mistakes: ['a: the file large.json has 1000003 bytes, and at most 1000000 are read'],
    });
    const found = await look({ a: { from: 'answer', schema: null } }, { answer: 'x'.repeat(1_000_001) });
    expect(found).toMatchObject({
      ok: false,
      mistakes: [expect.stringContaining('at most 1000000 are kept')],
    });
  });
});
