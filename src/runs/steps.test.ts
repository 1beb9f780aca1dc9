import { afterEach, describe, expect, it } from 'vitest';
import { stepOf } from '../../test/ledger/workflow.ts';
import { Stage } from '../../test/workflows/stage.ts';
import type { ScriptProgram, StepPlan } from '../ledger/step-plan.ts';

let stage: Stage;

afterEach(() => stage.stop());

const script = (name: string, given: Partial<StepPlan> = {}, does: Partial<ScriptProgram> = {}) =>
  stepOf(name, { does: { type: 'script', run: `echo ${name}`, env: {}, cwd: null, ...does }, ...given });

describe('the steps of a workflow, moved by their wake-ups', () => {
  it('run one after the other, each with what is known when it begins, and the whole is read in a summary', async () => {
    stage = new Stage();
    const steps = [
      script('a', {}, { env: { DAY: 'on {{inputs.day}}' }, cwd: 'sub' }),
      script('b', { needs: ['a'] }, { run: ['say', '{{steps.a.result}}; rm -rf /'] }),
    ];
    const settings = { cwd: '/work', variables: { region: 'eu-1' }, outputs: { said: '{{steps.b.result}}' } };
    const id = await stage.launch(steps, settings);
    const a = await stage.command(id, 'a');
    expect(a).toMatchObject({ command: 'echo a', cwd: '/work/sub' });
    expect(a.env).toEqual({
      INPUT_DAY: '2026-12-01',
      INPUT_SIZE: 'small',
      GROUP_REGION: 'eu-1',
      DAY: 'on 2026-12-01',
    });
    a.end({ output: 'hello' });
    const b = await stage.command(id, 'b');
    expect(b.command).toEqual(['say', 'hello; rm -rf /']);
    b.end({ output: 'said' });
    const row = await stage.closed(id);
    expect(row).toMatchObject({ state: 'succeeded', outcome: 'succeeded' });
    expect(row.result).toBe(`a: succeeded\nb: succeeded\nOutputs:\nsaid: said\nRecord: /records/${id}`);
  });

  it('that fail are tried again when their back-off is over, and tell why they failed', async () => {
    stage = new Stage();
    const id = await stage.launch([
      script('a', { retry: { max: 1, backoffMs: 60_000 } }),
      script('b', { needs: ['a'] }),
    ]);
    (await stage.command(id, 'a')).end({ exitCode: 3, output: 'no\nroom' });
    await stage.stepIs(id, 'a', 'backsOff');
    stage.clock.advance(60_000);
    (await stage.command(id, 'a')).end({ exitCode: null, output: '' });
    const row = await stage.closed(id);
    expect(row).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED' });
    expect(row.error?.message).toBe('step "a" failed (SCRIPT_FAILED): it left no exit code');
    expect(row.result).toBe(
      `a: failed (SCRIPT_FAILED) after 2 attempts: it left no exit code\nb: skipped (upstream)\nRecord: /records/${id}`,
    );
  });

  it('that cannot begin fail and say what is missing, and nothing is stuck', async () => {
    stage = new Stage();
    const agent = (name: string, given: { agent?: string; cwd?: string }) =>
      stepOf(name, { does: { type: 'agent', prompt: 'x', agent: null, cwd: null, ...given } });
    const id = await stage.launch([
      script('a', {}, { cwd: 'missing' }),
      agent('b', { agent: 'nobody' }),
      agent('c', { cwd: 'missing' }),
      stepOf('d', { does: { type: 'workflow', workflow: 'gone', group: null, inputs: {} } }),
      script('e', { when: '{{steps.a.state' }),
      script('f', {}, { run: ['{{file:gone.txt}}'] }),
    ]);
    const { result } = await stage.closed(id);
    const lines = result?.split('\n') ?? [];
    expect(lines[0]).toContain('a: failed (INVALID_WORKSPACE): There is no directory /missing');
    expect(lines[1]).toContain('b: failed (AGENT_UNAVAILABLE): No agent "nobody" is configured');
    expect(lines[2]).toContain('c: failed (INVALID_WORKSPACE)');
    expect(lines[3]).toBe('d: failed (NOT_FOUND): There is no workflow "gone".');
    expect(lines[4]).toContain('e: failed (TEMPLATE_FAILED): when: ');
    expect(lines[5]).toContain('f: failed (TEMPLATE_FAILED): {{file:gone.txt}}');
    expect(stage.reports).toEqual([]);
  });

  it('whose condition does not hold are skipped; a route chooses by a value; a workflow runs in a step', async () => {
    stage = new Stage({ other: [script('deep')] });
    const route = {
      type: 'route',
      by: { value: '{{inputs.size}}' },
      cases: { big: ['x'], small: ['again'] },
      otherwise: null,
      agent: null,
      cwd: null,
    } as const;
    const again = { type: 'workflow', workflow: 'other', group: null, inputs: {} } as const;
    const id = await stage.launch([
      script('never', { when: '{{inputs.size}} == "big"' }),
      stepOf('choose', { needs: ['never'], does: route }),
      script('x', { needs: ['choose'] }),
      stepOf('again', { needs: ['choose'], does: again }),
    ]);
    const { currentId } = await stage.stepIs(id, 'again', 'running');
    (await stage.command(currentId!, 'deep')).end({ output: 'deep' });
    const row = await stage.closed(id);
    expect(row.result?.split('\n')).toEqual([
      'never: skipped (condition)',
      'choose: succeeded',
      'x: skipped (notChosen)',
      'again: succeeded',
      `Record: /records/${id}`,
    ]);
    expect((await stage.row(currentId!)).result).toBe(`deep: succeeded\nRecord: /records/${currentId}`);
  });

  it('that are past their time are ended first, and then have failed', async () => {
    stage = new Stage();
    const id = await stage.launch([script('a', { timeoutMs: 60_000 })]);
    await stage.command(id, 'a');
    stage.clock.advance(60_000);
    const row = await stage.closed(id);
    expect(row.error?.message).toMatch(/^step "a" failed \(TIMED_OUT\): It was not over in its time/);
  });

  it('ask a person, and go on without one when their time is over', async () => {
    stage = new Stage();
    const does = {
      type: 'human',
      question: 'Publish {{inputs.day}}?',
      choices: ['yes', 'no'],
      declines: ['no'],
      otherwise: 'yes',
    } as const;
    const id = await stage.launch([stepOf('a', { timeoutMs: 60_000, does })]);
    const { currentId } = await stage.stepIs(id, 'a', 'running');
    expect((await stage.row(currentId!)).waiting).toMatchObject({
      for: 'input',
      text: 'Publish 2026-12-01?',
    });
    stage.clock.advance(60_000);
    expect((await stage.closed(id)).outcome).toBe('succeeded');
  });

  it('that run are ended when another one fails a workflow that stops then', async () => {
    stage = new Stage();
    const id = await stage.launch([script('a'), script('b'), script('c', { needs: ['b'] })], {
      failFast: true,
    });
    await stage.command(id, 'b');
    (await stage.command(id, 'a')).end({ exitCode: 1 });
    const row = await stage.closed(id);
    expect(row.result?.split('\n')).toEqual([
      'a: failed (SCRIPT_FAILED): exit code 1',
      'b: cancelled (failFast)',
      'c: skipped (failFast)',
      `Record: /records/${id}`,
    ]);
    expect((await stage.row((await stage.step(id, 'b')).currentId!)).cancelRequested?.actor.kind).toBe(
      'system',
    );
  });

  it('are ended with their workflow, and nothing begins any more', async () => {
    stage = new Stage();
    const id = await stage.launch([script('a'), script('b', { needs: ['a'] })]);
    await stage.command(id, 'a');
    await stage.cancel(id);
    expect((await stage.closed(id)).outcome).toBe('cancelled');
    expect(stage.asked.size).toBe(1);
  });

  it('run so many scripts at once, and the others in line', async () => {
    stage = new Stage({}, 2);
    const names = ['a', 'b', 'c', 'd', 'e'];
    const id = await stage.launch(names.map((name) => script(name)));
    await stage.command(id, 'a');
    await stage.command(id, 'b');
    expect(stage.asked.size).toBe(2);
    for (const name of names) (await stage.command(id, name)).end({});
    expect((await stage.closed(id)).outcome).toBe('succeeded');
  });
});
