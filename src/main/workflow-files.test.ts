import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { workflowFiles } from './workflow-files.ts';

let home = '';
const instant = Date.parse('2027-03-28T01:00:00Z');

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'stemma-workflows-'));
  mkdirSync(join(home, 'workflows'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(name: string, text: string): void {
  writeFileSync(join(home, 'workflows', name), text);
}

function source() {
  return workflowFiles({
    project: { project: 'shop', directory: home, workflows: join(home, 'workflows') },
    facts: () => ({ agents: ['demo', 'codex'] }),
    env: { BRANCH: 'main' },
  });
}

async function defined(request: Parameters<ReturnType<typeof source>['define']>[0]) {
  const answer = await source().define(request);
  if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
  return answer.value;
}

const nightly = `
description: every night
agent: demo
cwd: "{{group.region}}"
inputs: { day: { default: "{{date}} of {{env.BRANCH}}" }, n: { type: number } }
groups: { eu: { region: e }, us: { region: u } }
evaluation: score
outputs: { said: "{{steps.fix.result}}" }
steps:
  fetch: { run: git fetch }
  fix: { needs: [fetch], type: todo, prompt: "{{inputs.day}}", agents: { coder: { agent: codex } } }
  again: { needs: [fix], workflow: again }
`;

describe('the workflows beside stemma.yaml', () => {
  beforeEach(() => {
    write('nightly.yaml', nightly);
    write('score.yml', 'of: run\nsteps: { judge: { run: [echo, "{{of.directory}}"] } }');
    write('again.yaml', 'agent: codex\nsteps: { fix: { prompt: again } }');
  });

  it('are had as they are now, with a group, inputs and what scores them', async () => {
    const { call, agents, ...rest } = await defined({
      workflow: 'shop/nightly',
      group: 'eu',
      inputs: { n: '3' },
      instant,
    });
    expect(rest).toEqual({ project: 'shop', name: 'nightly', isEvaluation: false });
    expect(call.graph).toMatchObject({
      group: 'eu',
      inputs: { day: '2027-03-28 of main', n: 3 },
      settings: { agent: 'demo', cwd: join(home, 'e'), variables: { region: 'e' }, isFromFile: true },
    });
    expect(call.graph.settings.evaluation?.graph.steps.map(({ name }) => name)).toEqual(['judge']);
    expect(call.graph.steps.map(({ name, needs, does }) => [name, needs, does.type])).toEqual([
      ['fetch', [], 'script'],
      ['fix', ['fetch'], 'todo'],
      ['again', ['fix'], 'workflow'],
    ]);
    expect(agents).toEqual([
      { step: 'fix', agent: 'demo' },
      { step: 'fix/coder', agent: 'codex' },
      { step: 'again/fix', agent: 'codex' },
    ]);
    write('nightly.yaml', 'steps: { other: { run: x } }');
    expect((await defined({ workflow: 'nightly', instant })).call.graph.steps[0]?.name).toBe('other');
  });

  it('are one step a group when no group is asked for, and what was given is no template there', async () => {
    const inputs = { day: '{{env.BRANCH}}' };
    const { call } = await defined({ workflow: 'nightly', inputs, instant, evaluation: false });
    expect(call.graph.inputs).toEqual(inputs);
    expect(call.graph.settings).toMatchObject({ cwd: home, evaluation: null });
    const does = {
      type: 'workflow',
      workflow: 'nightly',
      inputs: { day: '{{inputs.day}}' },
      evaluation: false,
    };
    expect(call.graph.steps.map((step) => [step.name, step.does])).toEqual([
      ['eu', { ...does, group: 'eu' }],
      ['us', { ...does, group: 'us' }],
    ]);
  });

  it('can be one step alone, and work where whoever asks for them says', async () => {
    const { call, agents } = await defined({
      workflow: 'nightly',
      group: 'us',
      step: 'fix',
      cwd: '/elsewhere',
      instant,
    });
    expect(call.graph.steps.map(({ name, needs }) => [name, needs])).toEqual([['fix', []]]);
    // What the whole gives names steps that are not there now.
    expect(call.graph.settings).toMatchObject({ cwd: '/elsewhere/u', evaluation: null, outputs: {} });
    expect(agents.map(({ step }) => step)).toEqual(['fix', 'fix/coder']);
  });

  it('may be sent along, and then read nothing of the environment', async () => {
    const text = 'inputs: { a: { default: "{{env.BRANCH}}" } }\nsteps: { a: { workflow: again } }';
    const file = { path: 'mine.yaml', text };
    const refused = await source().define({ workflow: 'mine', file, instant });
    expect(refused).toMatchObject({ ok: false, code: 'INVALID_INPUT' });
    const { call } = await defined({ workflow: 'mine', file, inputs: { a: 'x' }, instant });
    expect(call.graph.settings.isFromFile).toBe(false);
  });

  it('that are sent along have their groups from the file that was sent', async () => {
    const text = 'groups: { a: {}, b: {} }\nsteps: { c: { run: ls } }';
    const file = { path: '/x.yaml', text };
    const { call } = await defined({ workflow: 'sent', file, cwd: home, instant });
    expect(call.graph.steps.map(({ name, does }) => [name, does])).toEqual(
      ['a', 'b'].map((group) => [group, { type: 'workflow', workflow: 'sent', group, inputs: {} }]),
    );
    expect(call.graph.settings).toMatchObject({ file, base: home, cwd: home });
    const { call: one } = await defined({ workflow: 'sent', file, group: 'a', instant });
    expect(one.graph.steps.map(({ name }) => name)).toEqual(['c']);
    expect(one.graph.settings.file).toBeUndefined();
  });

  it.each([
    [{ workflow: 'nihgtly' }, 'NOT_FOUND', 'There is no workflow "nihgtly". Did you mean "nightly"?'],
    [
      { workflow: 'other/nightly' },
      'NOT_FOUND',
      'There is no workflow other/nightly. The workflows of this server belong to shop.',
    ],
    [
      { workflow: '../nightly' },
      'NOT_FOUND',
      'There is no workflow ../nightly. The workflows of this server belong to shop.',
    ],
    [
      { workflow: 'nightly', group: 'ue' },
      'INVALID_INPUT',
      'group: "nightly" has no group "ue"; did you mean "eu"?.',
    ],
    [
      { workflow: 'nightly', inputs: { dya: 'x' } },
      'INVALID_INPUT',
      'inputs.dya: there is no such input; did you mean "day"?.',
    ],
    [{ workflow: 'nightly', inputs: { n: 'x' } }, 'INVALID_INPUT', 'inputs.n: expected a number, found "x".'],
    [
      { workflow: 'nightly', group: 'eu', step: 'fxi' },
      'INVALID_INPUT',
      'step: there is no step "fxi"; did you mean "fix"?.',
    ],
  ])('refuse %j', async (request, code, message) => {
    expect(await source().define({ ...request, instant })).toMatchObject({ ok: false, code, message });
  });

  it('are refused with the place of each mistake, those of others not', async () => {
    write('again.yaml', 'steps:\n  fix:\n    promt: x\n');
    const refused = await source().define({ workflow: 'again', instant });
    expect(refused).toMatchObject({
      code: 'INVALID_CONFIG',
      data: { problems: [{ line: 3, column: 5, key: 'steps.fix.promt', nearest: 'prompt' }] },
    });
    await defined({ workflow: 'nightly', group: 'eu', instant });
  });
});

describe('a schema of an output', () => {
  it('is looked at before anything begins', async () => {
    write(
      'wrong.yaml',
      'steps:\n  a:\n    run: x\n    outputs:\n      o: { answer: true, schema: { type: objekt } }\n',
    );
    const refused = await source().define({ workflow: 'wrong', instant });
    expect(refused).toMatchObject({
      code: 'INVALID_CONFIG',
      data: { problems: [{ line: 5, key: 'steps.a.outputs.o.schema' }] },
    });
  });
});

describe('the list of workflows', () => {
  it('has every file, with what is wrong with it', async () => {
    write('good.yaml', nightly.replace('evaluation: score', '').replace('workflow: again', 'run: x'));
    write('bad.yaml', 'steps: {');
    write('-odd.yaml', 'steps: {}');
    write('note.txt', 'no workflow');
    writeFileSync(join(home, 'secret.yaml'), 'steps: { a: { run: x } }');
    symlinkSync(join(home, 'secret.yaml'), join(home, 'workflows', 'linked.yaml'));
    mkdirSync(join(home, 'workflows', 'folder.yaml'));
    write('large.yaml', `# ${'x'.repeat(1_000_000)}`);
    const all = await source().list();
    expect(all.map(({ name, problems }) => [name, problems.length])).toEqual([
      ['bad', 1],
      ['folder', 1],
      ['good', 0],
      ['large', 1],
      ['linked', 1],
      ['-odd', 1],
    ]);
    expect(all[1]?.problems[0]).toContain('it is no file');
    expect(all[3]?.problems[0]).toContain('larger than 1000000 bytes');
    expect(all[4]?.problems[0]).toContain('it leads out of the directory of the workflows');
    expect(all[2]).toMatchObject({
      project: 'shop',
      description: 'every night',
      groups: ['eu', 'us'],
      inputs: [
        { name: 'day', type: 'string', isRequired: false, default: '{{date}} of {{env.BRANCH}}' },
        { name: 'n', type: 'number', default: null },
      ],
    });
  });

  it('is empty where there is no directory', async () => {
    rmSync(join(home, 'workflows'), { recursive: true });
    expect(await source().list()).toEqual([]);
  });
});
