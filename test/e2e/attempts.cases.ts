import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { Scenarios } from './scenario.ts';

/** Runs whose messages fail, are tried again, and go on after their end. */
export function attemptCases({ scenario }: Scenarios): void {
  describe.concurrent('attempts', () => {
    scenario('a message whose check says no is sent again as a root of its own, then the next', async (s) => {
      const { runId, sessionId } = await s.run('worker', [
        { text: 'Build it.', check: '[ -e good ]', retry: { max: 50, backoff: '50ms' } },
        'Publish it.',
      ]);
      await s.runThat('a second attempt', runId, (run) => attemptsOf(run, 0).length >= 2);
      s.open('good');
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'succeeded', state: 'ended' });
      const tries = attemptsOf(run, 0);
      expect(tries.map(({ attempt }) => attempt)).toEqual(tries.map((_, index) => index + 1));
      expect(tries.map(({ outcome }) => outcome)).toEqual([
        ...tries.slice(1).map(() => 'failed'),
        'succeeded',
      ]);
      expect(attemptsOf(run, 1)).toHaveLength(1);
      const told = await s.prompts(sessionId);
      expect(told).toEqual([...tries.map(() => 'Build it.'), 'Publish it.']);
    });

    scenario('a run that backs off says so, goes on when resumed, and is cancelled at once', async (s) => {
      const { runId } = await s.run('worker', [
        { text: 'Build it.', check: 'false', retry: { max: 5, backoff: '1h' } },
      ]);
      const waits = await s.runThat('it backs off', runId, ({ waiting }) => waiting?.for === 'retry');
      expect(waits).toMatchObject({
        state: 'waiting',
        waiting: { text: expect.stringContaining('CHECK_FAILED') },
      });
      expect(Date.parse(waits.waiting?.until ?? '') - Date.parse(waits.waiting?.since ?? '')).toBeGreaterThan(
        3e6,
      );
      await s.client.call('resumeRun', { id: runId, body: {} });
      await s.runThat(
        'it backs off after a second attempt',
        runId,
        (run) => attemptsOf(run, 0).length === 2 && run.waiting?.for === 'retry',
      );
      await s.client.call('cancelRun', { id: runId, body: {} });
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'cancelled', outcomeCode: 'CANCELLED' });
      expect(attemptsOf(run, 0)).toHaveLength(2);
    });

    scenario('a run that has ended goes on from a message, and keeps what was', async (s) => {
      const { runId, sessionId } = await s.run('worker', [
        'One.',
        { text: 'Two.', check: '[ -e good ]' },
        'Three.',
      ]);
      const failed = await s.ended(runId);
      expect(failed).toMatchObject({ outcome: 'failed', outcomeCode: 'CHECK_FAILED' });
      const beyond = s.client.call('rerunRun', { id: runId, body: { from: 3 } });
      await expect(beyond).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      s.open('good');
      await s.client.call('resumeRun', { id: runId, body: {} });
      const resumed = await s.ended(runId);
      expect(resumed).toMatchObject({ outcome: 'succeeded' });
      expect(attemptsOf(resumed, 1).map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded']);
      await expect(s.client.call('resumeRun', { id: runId, body: {} })).rejects.toMatchObject({
        code: 'ILLEGAL_STATE',
      });
      await s.client.call('rerunRun', { id: runId, body: { from: 0 } });
      const again = await s.ended(runId);
      expect(again.messages.map(({ attempts }) => attempts.length)).toEqual([2, 3, 2]);
      expect(attemptsOf(again, 1)[0]).toEqual(attemptsOf(failed, 1)[0]);
      expect(await s.prompts(sessionId)).toEqual([
        ...['One.', 'Two.'],
        ...['Two.', 'Three.'],
        ...['One.', 'Two.', 'Three.'],
      ]);
    });

    scenario('a run is not rerun while it is at work, nor when its session was stopped', async (s) => {
      const { runId, sessionId } = await s.run('worker', ['Stay here.']);
      await s.message(runId, 0);
      const rerun = () => s.client.call('rerunRun', { id: runId, body: { from: 0 } });
      await expect(rerun()).rejects.toMatchObject({ code: 'ILLEGAL_STATE', data: { state: 'running' } });
      await s.client.call('stopSession', { id: sessionId, body: {} });
      await s.ended(runId);
      await expect(rerun()).rejects.toMatchObject({ code: 'SESSION_STOPPED' });
    });

    scenario('templates are filled in when a message is sent, where the run says so', async (s) => {
      writeFileSync(join(s.directory, 'notes.md'), 'the list');
      const messages = ['Read {{file:notes.md}}.', 'So: {{previous.result}}', 'Now {{file:gone.md}}.'];
      const { runId, sessionId } = await s.run('worker', messages, { templates: true });
      const failed = await s.ended(runId);
      expect(failed).toMatchObject({ outcome: 'failed', outcomeCode: 'TEMPLATE_FAILED' });
      const [first] = await s.prompts(sessionId);
      expect(first).toBe('Read the list.');
      const answer = (await s.execution(attemptsOf(failed, 0)[0]?.executionId ?? '')).result;
      expect(await s.prompts(sessionId)).toEqual(['Read the list.', `So: ${answer}`]);
      writeFileSync(join(s.directory, 'gone.md'), 'it is here');
      await s.client.call('resumeRun', { id: runId, body: {} });
      expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
      expect((await s.prompts(sessionId)).at(-1)).toBe('Now it is here.');
    });

    scenario('a template that does not exist is refused before anything is sent', async (s) => {
      const run = s.run('worker', ['Fine.', 'On {{dat}}.'], { templates: true });
      await expect(run).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining('messages[1].text: there is no template {{dat}}'),
      });
    });

    scenario('what a person writes is no template', async (s) => {
      const { runId, sessionId } = await s.run('worker', ['Keep {{date}} as it is.']);
      await s.ended(runId);
      expect(await s.prompts(sessionId)).toEqual(['Keep {{date}} as it is.']);
    });

    scenario('the budget of a run is for all its messages', async (s) => {
      const { runId } = await s.run('worker', ['Pay a little.', 'Pay more.', 'Never.'], {
        budget: { usd: 1 },
      });
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'failed', outcomeCode: 'BUDGET', spent: { usd: 1.2 } });
      expect(await s.execution(attemptsOf(run, 1)[0]?.executionId ?? '')).toMatchObject({
        budget: { usd: 0.4 },
      });
      expect(attemptsOf(run, 2)).toEqual([]);
    });
  });
}

function attemptsOf(run: Run, index: number): Run['messages'][number]['attempts'] {
  return run.messages[index]?.attempts ?? [];
}
