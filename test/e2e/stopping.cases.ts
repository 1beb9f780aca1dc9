import { describe, expect } from 'vitest';
import { isAlive } from './living-processes.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { ofKind } from './scene.ts';
import { noticesIn } from './script-words.ts';
import { waitFor } from './wait-for.ts';

async function leafOf(s: Scene): Promise<number> {
  return Number(await s.file('leaf'));
}

/** Cancelling, stopping, interrupting, running out of time, and what a sequence does about it. */
export function stoppingCases({ scenario, alone }: Scenarios): void {
  describe.concurrent('stopping', () => {
    alone('an agent that does not stop when asked loses its process, and its tree closes', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Hang on.');
      await s.until('the prompt is with the agent', async () => (await s.prompts(sessionId)).length === 1);
      const [agent = 0] = s.processes();
      await s.client.call('cancelExecution', { id: queryId });
      expect(await s.tree(queryId)).toMatchObject({ closed: true, outcome: 'cancelled' });
      expect(isAlive(agent)).toBe(false);
      const again = await s.send(sessionId, 'Hello again.');
      expect(await s.closed(again.queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('what is cancelled while its agent is still being opened does not wait for that', async (s) => {
      const { queryId } = await s.send('mute', 'Are you there?');
      await s.until('the agent was launched', () => Promise.resolve(s.processes().length > 0));
      await s.client.call('cancelExecution', { id: queryId });
      expect(await s.tree(queryId)).toMatchObject({ closed: true, outcome: 'cancelled' });
      await waitFor('its process is gone', () => s.processes().length === 0);
    });

    scenario(
      'a cancelled program of any kind that beats is told, and holds its tree until it ends',
      async (s) => {
        const body = { name: 'build', kind: 'workflow' } as const;
        const { id } = await s.client.call('registerExecution', { body });
        const cancelled = s.client.call('cancelExecution', { id });
        await s.until('it is told', async () => {
          const { cancelRequested } = await s.client.call('heartbeatExecution', { id, body: {} });
          return cancelRequested;
        });
        expect(await s.tree(id)).toMatchObject({ closed: false });
        await s.client.call('settleExecution', { id, body: { state: 'cancelled' } });
        await cancelled;
        expect(await s.tree(id)).toMatchObject({ closed: true, outcome: 'cancelled' });
      },
    );

    alone('cancelling a tree ends grandchildren and their processes, and the sequence stops', async (s) => {
      const { runId, sessionId } = await s.run('worker', ['Nest it.', 'And now the next one.']);
      const leaf = await leafOf(s);
      const root = await s.message(runId, 0);
      await s.seen('both delegating turns have ended', root, ({ executions }) =>
        executions.some(({ name, state }) => name === 'Go deeper.' && state === 'succeeded'),
      );
      const before = s.processes();
      await s.client.call('cancelExecution', { id: root, body: { scope: 'tree', reason: 'enough' } });
      const tree = await s.tree(root);
      expect(tree).toMatchObject({ closed: true, outcome: 'cancelled' });
      expect(tree.executions.filter(({ closed }) => !closed)).toEqual([]);
      expect(tree.executions.find(({ name }) => name === 'grandchild')?.state).toBe('cancelled');
      expect(isAlive(leaf)).toBe(false);
      // Of the two agents, only that of the session itself lives: a person may go on talking to it.
      await waitFor('only the agent of the session lives', () => s.processes().length === 1);
      expect(before).toContain(s.processes()[0]);
      expect(await s.ended(runId)).toMatchObject({
        outcome: 'cancelled',
        messages: [{}, { attempts: [] }],
      });
      expect(await s.prompts(sessionId)).toEqual(['Nest it.']);
    });

    alone('stopping a session cancels what it started, and only a person begins again', async (s) => {
      const { runId, sessionId } = await s.run('worker', ['Grow a leaf.', 'And now the next one.']);
      const leaf = await leafOf(s);
      const queued = await s.send(sessionId, 'Later, please.');
      await s.client.call('stopSession', { id: sessionId, body: { reason: 'going home' } });
      expect(await s.client.call('getSession', { id: sessionId })).toMatchObject({
        state: 'stopped',
        queued: 0,
      });
      expect(isAlive(leaf)).toBe(false);
      expect(s.processes()).toEqual([]);
      expect(await s.ended(runId)).toMatchObject({ outcome: 'cancelled', messages: [{}, { attempts: [] }] });
      expect(await s.tree(await s.message(runId, 0))).toMatchObject({ closed: true, outcome: 'cancelled' });
      expect(await s.tree(queued.queryId)).toMatchObject({ closed: true, outcome: 'cancelled' });
      const again = await s.send(sessionId, 'Hello again.');
      expect(await s.closed(again.queryId)).toMatchObject({ outcome: 'succeeded' });
      expect(await s.prompts(sessionId)).toEqual(['Grow a leaf.', 'Hello again.']);
    });

    scenario('an interrupt ends the turn; the session and the children live on', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Launch and stay.');
      await s.named(queryId, 'job', (row) => row.state === 'running');
      await s.client.call('interruptSession', { id: sessionId });
      await s.named(queryId, 'Launch and stay.', (row) => row.state === 'cancelled');
      const open = await s.tree(queryId);
      expect(open.closed).toBe(false);
      expect(open.executions.find(({ name }) => name === 'job')?.state).toBe('running');
      s.open('go');
      const tree = await s.closed(queryId);
      expect(tree.outcome).toBe('cancelled');
      expect(ofKind(tree, 'continuation')).toMatchObject([{ state: 'succeeded' }]);
      expect((await s.prompts(sessionId)).flatMap(noticesIn)).toEqual(tree.notices.map(({ id }) => id));
    });

    scenario('a message that runs out of time is TIMED_OUT once all below it was joined', async (s) => {
      // An agent that runs already: the time is for its work, not for its start.
      const before = await s.send('worker', 'Hello.');
      await s.closed(before.queryId);
      const { queryId } = await s.send('worker', 'Grow a leaf.', { timeout: '3s' });
      const leaf = await leafOf(s);
      const tree = await s.closed(queryId);
      expect(tree).toMatchObject({ outcome: 'failed', outcomeCode: 'TIMED_OUT' });
      expect(isAlive(leaf)).toBe(false);
      const [root, ...below] = tree.executions;
      const ends = below.map(({ endedAt }) => Date.parse(endedAt ?? ''));
      expect(Math.max(...ends)).toBeLessThanOrEqual(Date.parse(root?.closedAt ?? ''));
    });

    scenario('a sequence stops at a message that runs out of time', async (s) => {
      const { runId } = await s.run('shell', [{ text: 'exec sleep 600', timeout: '500ms' }, 'echo next']);
      expect(await s.ended(runId)).toMatchObject({
        outcome: 'failed',
        outcomeCode: 'TIMED_OUT',
        messages: [{}, { attempts: [] }],
      });
    });

    scenario('a check decides whether its message succeeded', async (s) => {
      s.open('yes');
      const check = 'test -e yes && test -n "$STEMMA_TOKEN"';
      const good = await s.run('shell', [{ text: 'echo done', check }, 'echo next']);
      const bad = await s.run('shell', [{ text: 'echo done', check: 'echo because; false' }, 'echo next']);
      expect(await s.ended(good.runId)).toMatchObject({
        outcome: 'succeeded',
        messages: [{}, { attempts: [{}] }],
      });
      expect(await s.ended(bad.runId)).toMatchObject({
        outcome: 'failed',
        outcomeCode: 'CHECK_FAILED',
        messages: [{}, { attempts: [] }],
      });
      const tree = await s.tree(await s.message(bad.runId, 0));
      const checked = tree.executions.find(({ name }) => name === 'check');
      expect(checked).toMatchObject({
        state: 'failed',
        result: expect.stringContaining('because'),
        error: { code: 'CHECK_FAILED', message: 'echo because; false: exit code 1: because' },
      });
    });

    scenario('a failed message stops its sequence, unless it says that the sequence goes on', async (s) => {
      const stops = await s.run('shell', ['echo broken; false', 'echo next']);
      const goesOn = await s.run('shell', [
        { text: 'echo broken; false', onFailure: 'continue' },
        'echo next',
      ]);
      expect(await s.ended(stops.runId)).toMatchObject({
        outcome: 'failed',
        messages: [{}, { attempts: [] }],
      });
      expect(await s.ended(goesOn.runId)).toMatchObject({
        outcome: 'succeeded',
        messages: [{ attempts: [{ outcome: 'failed' }] }, { attempts: [{ outcome: 'succeeded' }] }],
      });
    });

    scenario('a failed child fails its root only where the message asks for all to succeed', async (s) => {
      const own = await s.send('worker', 'Delegate it.');
      const all = await s.send('worker', 'Delegate it.', { join: 'all' });
      expect(await s.closed(own.queryId)).toMatchObject({ outcome: 'succeeded' });
      expect(await s.closed(all.queryId)).toMatchObject({
        outcome: 'failed',
        outcomeCode: 'DESCENDANT_FAILED',
      });
    });
  });
}
