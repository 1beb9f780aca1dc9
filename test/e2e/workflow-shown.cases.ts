import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { StepAttemptView } from '../../src/contract/step-attempt.ts';
import type { WorkflowView } from '../../src/contract/workflow.ts';
import { builtProgram } from './built-program.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';

/** A command line of the product; what it printed, and its exit code. */
function stemma(s: Scene, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  return begun(s, ...argv).ended;
}

/** The same while it runs: `err` is what it has said so far. */
function begun(s: Scene, ...argv: string[]) {
  const { url, token } = s.client.connection;
  const env = { ...process.env, STEMMA_URL: url, STEMMA_TOKEN: token };
  let said = '';
  const ended = new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [builtProgram(), ...argv],
      { env, cwd: s.directory },
      (error, out, err) => resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
    child.stderr?.on('data', (part: string) => {
      said += part;
    });
  });
  return { ended, err: () => said };
}

const care = {
  inputs: { day: { required: true } },
  steps: {
    fetch: {
      run: ['sh', '-c', 'echo for {{inputs.day}}; test -e tried || { touch tried; exit 3; }'],
      retry: { max: 1, backoff: '100ms' },
      outputs: { day: { command: 'echo "$INPUT_DAY"' } },
    },
    fix: {
      needs: ['fetch'],
      prompt: 'Pay a little for {{inputs.day}}.',
      outputs: { said: { answer: true } },
    },
    each: {
      needs: ['fix'],
      foreach: { command: `echo '["a little", "more", "nothing"]'` },
      messages: ['Pay {{row.value}} for it.'],
    },
    below: { needs: ['fetch'], workflow: 'shown-inner' },
    last: { needs: ['each', 'hold'], run: 'true' },
    hold: { run: 'until [ -e go ]; do sleep 0.1; done' },
  },
};

/** What people are shown of a workflow that they ran, over HTTP and in the command line. */
export function workflowShownCases({ scenario }: Scenarios): void {
  describe.concurrent('a workflow that was run', () => {
    scenario(
      'shows a gate, goes into groups, tells of a question, and of what goes on only what is new',
      async (s) => {
        s.bench.writeWorkflow('shown-gate', {
          agent: 'worker',
          groups: { eu: { city: 'Rome' }, us: { city: 'Austin' } },
          steps: {
            write: {
              messages: [
                'Pay a little.',
                {
                  validate:
                    'test -e "mended-$GROUP_CITY" || { touch "mended-$GROUP_CITY"; echo not yet; exit 1; }',
                  repairs: 1,
                },
                'Pay more.',
              ],
            },
            ask: { needs: ['write'], question: 'How much?' },
            end: { needs: ['ask'], run: ['sh', '-c', 'echo one; echo two; test -e done'] },
          },
        });
        const started = await stemma(
          s,
          'workflow',
          'run',
          'shown-gate',
          '--group',
          'eu',
          '--cwd',
          s.directory,
          '--json',
        );
        const { runId } = JSON.parse(started.out) as { runId: string };
        const waiting = begun(s, 'wait', runId);
        await s.runThat('it asks', runId, ({ workflow }) => workflow?.counts.ended === 1);
        const asked = await s.until('the question is there', async () => {
          const shown = await stemma(s, 'answer', runId);
          return shown.code === 8 ? shown : undefined;
        });
        expect(asked.out).toMatch(
          /ask waits for input: How much\?\n {2}answer: any text: stemma answer exe_/,
        );
        await s.until('whoever waits is told', () => waiting.err().includes('stemma answer'));
        const { out } = await stemma(s, 'answer', runId, 'A lot.');
        expect(out).toMatch(/^exe_\w+ ask: answered A lot\.\n$/);
        const waited = await waiting.ended;
        expect([waited.code, waited.out]).toEqual([1, 'failed (STEP_FAILED)\n']);
        expect(waited.err).toMatch(
          /^waits for: ask \(waiting .* for input: How much\?\)\n {4}-> stemma answer exe_/,
        );
        expect(waited.err.match(/waits for/g)).toHaveLength(1);

        const write = (await stemma(s, 'workflow', 'show', runId, '--step', 'write')).out;
        expect(write).toMatch(
          /Message 1 of 2: succeeded[^]*gate failed[^]*not yet[^]*attempt 2: succeeded[^]*gate passed/,
        );
        const whole = (await stemma(s, 'workflow', 'show', runId)).out;
        expect(whole).toMatch(/SCRIPT_FAILED: exit code 1: one\n {6}two\n/);

        const went = await stemma(s, 'resume', runId, '-f');
        expect(went.out).toMatch(/step end .*failed/);
        expect(went.out).not.toMatch(/message Pay|How much/);
        const took = / after (\S+)\n$/.exec(went.out)?.[1] ?? 'none';
        expect((await stemma(s, 'workflow', 'runs', 'shown-gate')).out).toMatch(new RegExp(` ${took}\\n`));
      },
    );

    scenario('is gone into by the names of its groups and of the steps in them', async (s) => {
      const steps = { one: { run: 'echo "in $GROUP_CITY"' } };
      s.bench.writeWorkflow('shown-groups', {
        groups: { eu: { city: 'Rome' }, us: { city: 'Austin' } },
        steps,
      });
      const live = await stemma(s, 'workflow', 'run', 'shown-groups', '--wait');
      expect(live.code).toBe(0);
      const runId = /run (run_\w+): succeeded/.exec(live.out)?.[1] ?? '';
      const show = (step: string) => stemma(s, 'workflow', 'show', runId, '--step', step);
      expect((await show('us/one')).out).toContain('in Austin');
      const missing = await show('one');
      expect(missing.code).toBe(3);
      expect(missing.err).toMatch(/no step "one"\..* It has: eu, us\. .*--step eu\/NAME/);
      expect((await show('eu/one/more')).err).toContain('is a script and has no steps of its own');
    });

    scenario('shows each step with its attempts, prompts, outputs and cost', async (s) => {
      s.bench.writeWorkflow('shown-inner', { steps: { one: { agent: 'worker', prompt: 'Pay a little.' } } });
      s.bench.writeWorkflow('shown', { agent: 'worker', ...care });
      const { runId } = await s.client.call('runWorkflow', {
        id: 'shown',
        body: { cwd: s.directory, inputs: { day: 'Monday' } },
      });
      const open = await s.runThat(
        'all but two steps have ended',
        runId,
        ({ workflow }) => workflow?.counts.ended === 4,
      );
      const view = open.workflow as WorkflowView;
      const step = (name: string) => view.steps.find((one) => one.name === name);
      expect(step('last')).toMatchObject({ state: 'blocked', waitsFor: ['hold'] });
      expect(step('fetch')).toMatchObject({
        outputs: { day: 'Monday' },
        attempts: [{ attempt: 1, state: 'failed', error: { code: 'SCRIPT_FAILED' } }, { state: 'succeeded' }],
      });
      expect(step('fix')?.attempts).toMatchObject([{ usage: { usd: 0.6 }, sessionId: expect.any(String) }]);
      expect(step('each')?.attempts[0]?.usage?.usd).toBeCloseTo(1.2);
      expect(step('below')?.attempts[0]?.usage?.usd).toBeCloseTo(0.6);
      expect(view.usage?.usd).toBeCloseTo(2.4);

      const each = await attempt(s, view, 'each', { limit: '2' });
      expect([each.messagesCount, each.nextCursor]).toEqual([3, '2']);
      expect(each.messages?.map(({ row, result, usage }) => [row, result, usage?.usd])).toEqual([
        [0, 'Paid.', 0.6],
        [1, 'Paid again.', 0.6],
      ]);
      expect(each.messages?.[1]?.text).toContain('Pay more for it.');
      const rest = await attempt(s, view, 'each', { cursor: '2' });
      expect([rest.messages?.length, rest.nextCursor]).toEqual([1, undefined]);
      const fetch = await attempt(s, view, 'fetch');
      expect(fetch).toMatchObject({
        attempt: 2,
        command: 'sh\n-c\necho for Monday; test -e tried || { touch tried; exit 3; }',
      });
      expect(fetch.result).toContain('for Monday');
      expect(fetch.files.map(({ path }) => path)).toEqual(
        expect.arrayContaining(['output.txt', 'outputs/values.json', 'prompt.md', 'result.json']),
      );
      expect(readFileSync(join(fetch.directory ?? '', 'prompt.md'), 'utf8')).toBe(fetch.command);

      const shown = await stemma(s, 'workflow', 'show', runId);
      expect(shown.code).toBe(0);
      expect(shown.out).toMatch(
        /fetch script · succeeded\n {4}attempt 1: failed · .*\n {6}SCRIPT_FAILED: exit code 3: for Monday/,
      );
      expect(shown.out).toMatch(
        /fix agent · succeeded\n {4}attempt 1: succeeded · .* · used \$0\.60 · ses_\w+ · exe_/,
      );
      expect(shown.out).toContain('waits for: hold');
      expect(shown.out).toContain('output said = Paid.');
      const fix = await stemma(s, 'workflow', 'show', runId, '--step', 'fix');
      expect(fix.out).toContain('    > Pay a little for Monday.');
      expect(fix.out).toContain('    < Paid.');
      expect(fix.out).toContain(`transcript: stemma logs ${step('fix')?.attempts[0]?.sessionId}`);
      const before = await stemma(
        s,
        'workflow',
        'show',
        runId,
        '--step',
        'fetch',
        '--attempt',
        '1',
        '--json',
      );
      expect(JSON.parse(before.out)).toMatchObject({ attempt: { attempt: 1, state: 'failed' } });
      const page = await stemma(s, 'workflow', 'show', runId, '--limit', '2', '--json');
      expect(JSON.parse(page.out)).toMatchObject({ steps: [{ name: 'fetch' }, {}], nextCursor: '2' });
      expect(await stemma(s, 'workflow', 'show', runId, '--step', 'fx')).toMatchObject({
        code: 3,
        err: expect.stringContaining('Did you mean "fix"?'),
      });
      s.open('go');
      expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
    });
  });
}

async function attempt(
  s: Scene,
  view: WorkflowView,
  name: string,
  query: Record<string, string> = {},
): Promise<StepAttemptView> {
  const found = await s.client.call('getWorkflowOf', { id: view.executionId ?? '', query: { step: name } });
  expect(found.steps.map((one) => one.name)).toEqual([name]);
  return s.client.call('getStepAttempt', { id: found.steps[0]?.attempts.at(-1)?.executionId ?? '', query });
}
