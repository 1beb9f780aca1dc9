import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { Occurrence } from '../../src/contract/schedule.ts';
import type { WorkflowStep } from '../../src/contract/workflow.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';

let names = 0;

/** Writes a workflow of a name of its own, and answers that. */
function workflow(s: Scene, steps: Readonly<Record<string, unknown>>, more: object = {}): string {
  const name = `flow-${++names}`;
  s.bench.writeWorkflow(name, { steps, ...more });
  return name;
}

async function begin(s: Scene, name: string, more: object = {}): Promise<string> {
  const { runId } = await s.client.call('runWorkflow', { id: name, body: { cwd: s.directory, ...more } });
  return runId;
}

/** A shell loop that lasts until the directory has a file. */
const untilThereIs = (file: string): string => `while [ ! -e ${file} ]; do sleep 0.05; done`;

const stepOf = (run: Run, name: string): WorkflowStep | undefined =>
  run.workflow?.steps.find((step) => step.name === name);
const statesOf = (run: Run) => run.workflow?.steps.map(({ name, state }) => [name, state]);
const linesOf = (s: Scene, file: string): string[] => {
  const path = join(s.directory, file);
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

/** Runs of workflows: by hand, by schedules, and over their ends. */
export function workflowRunCases({ scenario }: Scenarios): void {
  describe.concurrent('a run of a workflow', () => {
    scenario('is shown with its steps while it runs and when it has ended', async (s) => {
      const name = workflow(
        s,
        {
          fetch: { run: `${untilThereIs('go')}; echo fetched $INPUT_DAY` },
          note: { needs: ['fetch'], run: ['echo', '{{steps.fetch.result}}'] },
          never: { needs: ['fetch'], when: '{{inputs.day}} == "x"', run: 'echo never' },
        },
        { inputs: { day: { required: true } } },
      );
      const listed = await s.client.call('listWorkflows', { query: { limit: '500' } });
      expect(listed.items.find((one) => one.name === name)).toMatchObject({
        inputs: { day: { type: 'string', required: true } },
        steps: [{ name: 'fetch', type: 'script', needs: [] }, { name: 'note', needs: ['fetch'] }, {}],
      });
      const runId = await begin(s, name, { inputs: { day: 'Monday' } });
      const running = await s.runThat(
        'the first step runs',
        runId,
        (run) => stepOf(run, 'fetch')?.state === 'running',
      );
      expect(running).toMatchObject({
        name,
        state: 'running',
        messages: [{ text: `workflow ${name}` }],
        workflow: { inputs: { day: 'Monday' }, counts: { total: 3, ended: 0, failed: 0 } },
      });
      expect(running.sessionId).toBeUndefined();
      const { executionId = '' } = running.workflow ?? {};
      const tree = await s.tree(executionId);
      expect(tree.executions.map(({ kind, name: called }) => [kind, called])).toEqual([
        ['workflow', name],
        ['step', 'fetch'],
      ]);
      expect(tree.steps).toMatchObject([
        { workflowId: executionId, name: 'note', state: 'blocked' },
        { name: 'never', state: 'blocked' },
      ]);
      const { items } = await s.client.call('monitor', { query: { limit: '500' } });
      expect(items.find(({ id }) => id === executionId)).toMatchObject({ kind: 'workflow', name });
      s.open('go');
      const run = await s.ended(runId);
      expect(run).toMatchObject({
        outcome: 'succeeded',
        workflow: { counts: { total: 3, ended: 3, failed: 0 } },
      });
      expect(stepOf(run, 'note')).toMatchObject({
        state: 'succeeded',
        result: expect.stringContaining('fetched Monday'),
      });
      expect(stepOf(run, 'never')).toMatchObject({ state: 'skipped', reason: 'condition', attempts: [] });
      const view = await s.client.call('getWorkflowOf', { id: executionId });
      expect(view).toEqual(run.workflow);
      const page = await s.client.call('getWorkflowOf', { id: executionId, query: { limit: '2' } });
      expect([page.steps.length, page.nextCursor]).toEqual([2, '2']);
      const runs = await s.client.call('listWorkflowRuns', { id: name });
      expect(runs.items.map(({ id }) => id)).toEqual([runId]);
      expect(runs.items[0]?.workflow?.steps).toEqual([]);
      const matrix = await s.client.call('listWorkflowRuns', { id: name, query: { steps: '2', limit: '5' } });
      expect(matrix.items[0]?.workflow?.steps.map((step) => step.state)).toEqual(['succeeded', 'succeeded']);
      const child = stepOf(run, 'fetch')?.attempts[0]?.executionId ?? '';
      expect(await codeOf(s.client.call('getWorkflowOf', { id: child }))).toBe('NOT_FOUND');
    });

    scenario('goes on behind what had succeeded, and does one step alone again', async (s) => {
      const name = workflow(s, {
        first: { run: 'echo first >> ran; echo one' },
        second: { needs: ['first'], run: 'echo second >> ran; test -e go' },
        third: { needs: ['second'], run: 'echo third >> ran' },
      });
      const runId = await begin(s, name);
      const failed = await s.ended(runId);
      expect(failed).toMatchObject({ outcome: 'failed', outcomeCode: 'STEP_FAILED' });
      expect(statesOf(failed)).toEqual([
        ['first', 'succeeded'],
        ['second', 'failed'],
        ['third', 'skipped'],
      ]);
      const told = await s.until('people are told which step failed', async () => {
        const { items } = await s.client.call('listNotifications', { query: { limit: '500' } });
        return items.find((one) => one.runId === runId);
      });
      expect(told).toMatchObject({
        transition: 'failed',
        text: expect.stringContaining('step "second" failed'),
      });
      s.open('go');
      await s.client.call('resumeRun', { id: runId, body: {} });
      const resumed = await s.ended(runId);
      expect(resumed).toMatchObject({ outcome: 'succeeded' });
      expect(stepOf(resumed, 'first')).toMatchObject({ state: 'succeeded', attempts: [] });
      expect(stepOf(resumed, 'first')?.reused).toBe(stepOf(failed, 'first')?.attempts[0]?.executionId);
      expect(linesOf(s, 'ran')).toEqual(['first', 'second', 'second', 'third']);
      await s.client.call('rerunRun', { id: runId, body: { from: 'second', only: true } });
      expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
      expect(linesOf(s, 'ran')).toEqual(['first', 'second', 'second', 'third', 'second']);
      await s.client.call('rerunRun', { id: runId, body: { from: 'second' } });
      expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
      expect(linesOf(s, 'ran').slice(5)).toEqual(['second', 'third']);
      const wrong = await s.client
        .call('rerunRun', { id: runId, body: { from: 'secnd' } })
        .catch((e: unknown) => e);
      expect(wrong).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('"second"') });
      expect((await s.client.call('getRun', { id: runId })).messages[0]?.attempts).toHaveLength(4);
    });

    scenario('asks a person, and goes on with the answer', async (s) => {
      const name = workflow(s, {
        approve: { question: 'Publish it?', choices: ['yes', 'no'], declines: ['no'] },
        publish: { needs: ['approve'], run: ['echo', '{{steps.approve.result}}'] },
      });
      const runId = await begin(s, name);
      const asking = await s.runThat('it asks', runId, (run) => stepOf(run, 'approve')?.state === 'running');
      const [attempt] = stepOf(asking, 'approve')?.attempts ?? [];
      expect(attempt?.waiting).toMatchObject({ for: 'input', text: 'Publish it?', choices: ['yes', 'no'] });
      const root = asking.workflow?.executionId ?? '';
      expect(await codeOf(s.client.call('answerExecution', { id: root, body: { choice: 'maybe' } }))).toBe(
        'INVALID_INPUT',
      );
      await s.client.call('answerExecution', { id: root, body: { choice: 'yes' } });
      const run = await s.ended(runId);
      expect(stepOf(run, 'publish')).toMatchObject({ result: expect.stringContaining('yes') });
      const { items } = await s.client.call('listNotifications', { query: { limit: '500' } });
      expect(items.find((one) => one.runId === runId)).toMatchObject({
        transition: 'waiting',
        text: 'Publish it?',
      });
    });

    scenario('that cannot be begun says why, with the nearest word', async (s) => {
      const name = workflow(
        s,
        { a: { run: 'true' } },
        { inputs: { day: {} }, groups: { north: { r: '1' } } },
      );
      const refusal = (id: string, body: object) =>
        s.client.call('runWorkflow', { id, body }).then(
          () => undefined,
          (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
        );
      expect(await refusal(`${name}x`, {})).toMatch(new RegExp(`^NOT_FOUND: .*${name}`));
      expect(await refusal(name, { group: 'nort' })).toMatch(/^INVALID_INPUT: .*north/);
      expect(await refusal(name, { inputs: { dai: '1' } })).toMatch(/^INVALID_INPUT: .*day/);
      expect(await refusal(name, { budget: { usd: 1 }, cwd: '/nowhere' })).toMatch(
        /^INVALID_INPUT: .*\/nowhere/,
      );
      s.bench.writeWorkflow(name, { steps: { a: { run: 'true', needs: ['b'] } } });
      expect(await refusal(name, {})).toMatch(/^INVALID_CONFIG: /);
    });
  });
  scheduledCases({ scenario });
}

function scheduledCases({ scenario }: Pick<Scenarios, 'scenario'>): void {
  describe.concurrent('a schedule of a workflow', () => {
    scenario('runs it when it is due, once at a time, and then again', async (s) => {
      const name = workflow(
        s,
        { work: { run: `echo $INPUT_DAY >> ran; ${untilThereIs('go')}` } },
        { inputs: { day: { required: true } } },
      );
      const schedule = `every-${name}`;
      const target = { name, inputs: { day: 'of {{date}}' } };
      await put(s, schedule, { every: '1s', workflow: target });
      const skipped = await occurrenceThat(s, schedule, ({ state }) => state === 'skipped');
      expect(skipped.reason).toMatch(/^overlap: /);
      const ran = await occurrenceThat(s, schedule, ({ state }) => state === 'ran');
      const runId = ran.runId ?? '';
      expect(await s.client.call('getRun', { id: runId })).toMatchObject({
        state: 'running',
        name: schedule,
        workflow: { inputs: { day: `of ${ran.instant.slice(0, 10)}` } },
      });
      s.open('go');
      const ended = await s.ended(runId);
      expect(ended).toMatchObject({ outcome: 'succeeded', workflow: { counts: { ended: 1 } } });
      // A page of its messages that begins behind the workflow shows the same workflow.
      const behind = await s.client.call('getRun', { id: runId, query: { from: '1' } });
      expect([behind.messages, behind.workflow]).toEqual([[], ended.workflow]);
      await occurrenceThat(s, schedule, (row) => row.state === 'ran' && row.runId !== runId);
      const { items } = await s.client.call('listScheduleRuns', { id: schedule });
      await s.client.call('removeSchedule', { id: schedule });
      expect(items.at(-1)).toMatchObject({
        id: runId,
        workflow: { counts: { total: 1, ended: 1 }, steps: [] },
      });
    });

    scenario(
      'names one that there is, and is skipped with a reason when there is none any more',
      async (s) => {
        const name = workflow(s, { work: { run: 'echo done' } }, { inputs: { day: {} } });
        const schedule = `once-${name}`;
        const refused = await put(s, schedule, { cron: '0 0 1 1 *', workflow: `${name}x` }).catch(
          (e: unknown) => e,
        );
        expect(refused).toMatchObject({
          code: 'INVALID_INPUT',
          data: { issues: [{ path: 'workflow', message: expect.stringContaining(name) }] },
        });
        const wrong = { name, inputs: { dya: 'x' } };
        expect(
          await put(s, schedule, { cron: '0 0 1 1 *', workflow: wrong }).catch((e: unknown) => e),
        ).toMatchObject({
          code: 'INVALID_INPUT',
        });
        await put(s, schedule, { cron: '0 0 1 1 *', workflow: name });
        const shown = await s.client.call('getSchedule', { id: schedule });
        expect(shown.definition).toMatchObject({ workflow: { name } });
        const again = await s.client.call('putSchedule', { id: schedule, body: shown.definition as never });
        expect(again.revision).toBe(shown.revision);
        s.bench.writeWorkflow(name, 'steps: {}');
        await s.client.call('triggerSchedule', { id: schedule, body: {} });
        const row = await occurrenceThat(s, schedule, ({ state }) => state === 'skipped');
        expect(row.reason).toMatch(/^dispatch: /);
      },
    );

    scenario('tries it again as it says, and what runs after it follows', async (s) => {
      const name = workflow(s, { work: { run: 'echo try >> tries; test $(wc -l < tries) -ge 2' } });
      const first = `first-${name}`;
      const retry = { max: 2, backoff: '10ms' };
      await put(s, first, { cron: '0 0 1 1 *', workflow: { name, retry } });
      await put(s, `then-${name}`, { after: { schedule: first }, workflow: { name } });
      const { runId } = await s.client.call('triggerSchedule', { id: first, body: {} });
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'succeeded' });
      expect(run.messages[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
      const then = await occurrenceThat(s, `then-${name}`, ({ state }) => state === 'ran');
      expect(await s.ended(then.runId ?? '')).toMatchObject({ outcome: 'succeeded' });
    });
  });
}

function put(s: Scene, id: string, said: object) {
  return s.client.call('putSchedule', { id, body: { cwd: s.directory, ...said } as never });
}

function occurrenceThat(s: Scene, id: string, fits: (row: Occurrence) => boolean): Promise<Occurrence> {
  const read = () => s.client.call('listOccurrences', { id, query: { limit: '100' } });
  return s.until(`an occurrence of ${id}`, async () => (await read()).items.findLast(fits), read);
}

async function codeOf(call: Promise<unknown>): Promise<string> {
  return call.then(
    () => 'not refused',
    (error: { code: string }) => error.code,
  );
}
