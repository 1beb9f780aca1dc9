import { describe, expect } from 'vitest';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import type { ScriptedAgent } from './script-words.ts';

/** The agents of these tests that are none. */
export const brokenAgents: Readonly<Record<string, ScriptedAgent>> = {
  stillborn: { rules: [], profile: { command: ['/bin/sh', '-c', 'echo no licence >&2; exit 3'] } },
  mute: { rules: [], profile: { command: ['/bin/sh', '-c', 'exec sleep 600'] } },
  missing: { rules: [], profile: { command: ['stemma-no-such-program'] } },
};

/** The next message of the session is answered: nothing is stuck. */
async function expectUsable(s: Scene, sessionId: string): Promise<void> {
  const { queryId } = await s.send(sessionId, 'Are you there?');
  expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
}

/** When a turn has ended, and when it only looks as if it had. */
export function turnEndCases({ scenario, alone }: Scenarios): void {
  describe.concurrent('turn ends', () => {
    scenario('an agent that goes on after its turn is late activity, shown and alarmed', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Misbehave: late');
      await s.closed(queryId);
      const late = await s.until('the late activity is shown', async () =>
        (await s.executionsIn(sessionId)).find(({ kind }) => kind === 'late'),
      );
      expect(late.rootId).not.toBe(queryId);
      const alarmed = (): boolean =>
        s.bench.events
          .of('alarm', { session: sessionId })
          .some(({ data }) => data['executionId'] === late.id && data['what'] === 'lateActivity');
      await s.until('the alarm was told', alarmed);
      expect(await s.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'Done.', closed: true });
      s.open('later');
      await expectUsable(s, sessionId);
    });

    scenario('a second end of a turn is ignored', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Misbehave: twice');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      await expectUsable(s, sessionId);
      const ends = s.bench.events.of('execution.settled', { root: queryId });
      expect(ends).toHaveLength(1);
      expect(await s.execution(queryId)).toMatchObject({ state: 'succeeded', result: 'Done.' });
    });

    scenario('a text with a pending tool call is no end', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Misbehave: pending');
      await s.until('the text was streamed', async () => {
        const { items } = await s.client.call('getTranscript', { id: sessionId });
        return items.some(({ text }) => text.includes('npm test'));
      });
      expect(await s.execution(queryId)).toMatchObject({ state: 'running', closed: false });
      s.open('go');
      await s.closed(queryId);
      expect((await s.execution(queryId)).result).toContain('Now it is.');
    });

    scenario('garbage, a huge line and the word error change nothing', async (s) => {
      const garbage = await s.send('worker', 'Misbehave: garbage');
      await s.closed(garbage.queryId);
      expect(await s.execution(garbage.queryId)).toMatchObject({ state: 'succeeded', result: 'Done.' });
      const big = await s.send(garbage.sessionId, 'Misbehave: big');
      expect(await s.closed(big.queryId)).toMatchObject({ outcome: 'succeeded' });
      const error = await s.send(garbage.sessionId, 'Misbehave: error');
      expect(await s.closed(error.queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    alone('an agent that dies, or leaves, in its turn fails the message, and is had again', async (s) => {
      const died = await s.send('worker', 'Misbehave: die');
      const closed = await s.closed(died.queryId);
      expect(closed.outcome).toBe('failed');
      expect(closed.executions[0]?.error?.message).toMatch(/SIGKILL|signal|died|dead/);
      await expectUsable(s, died.sessionId);
      const left = await s.send(died.sessionId, 'Misbehave: leave');
      expect(await s.closed(left.queryId)).toMatchObject({ outcome: 'failed' });
      await expectUsable(s, died.sessionId);
      // One process serves the conversation, and what the dead ones had said is not told again.
      expect(s.processes()).toHaveLength(1);
      const ran = await s.executionsIn(died.sessionId);
      expect(ran.map(({ kind, state }) => `${kind} ${state}`)).toEqual([
        'message succeeded',
        'message lost',
        'message succeeded',
        'message lost',
      ]);
      const prompts = await s.prompts(died.sessionId);
      expect(prompts).toEqual(['Misbehave: die', 'Are you there?', 'Misbehave: leave', 'Are you there?']);
    });

    scenario('an agent that ends at its start fails the message with what it said', async (s) => {
      const { queryId } = await s.send('stillborn', 'Hello?');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'failed' });
      expect((await s.execution(queryId)).error?.message).toContain('no licence');
    });

    scenario('an agent whose program does not exist fails the message and names the program', async (s) => {
      const { queryId } = await s.send('missing', 'Hello?');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'failed', outcomeCode: 'AGENT_UNAVAILABLE' });
      expect((await s.execution(queryId)).error?.message).toContain('stemma-no-such-program');
    });

    scenario('a permission that nobody is there to give is denied, and the turn goes on', async (s) => {
      const { queryId } = await s.send('worker', 'Misbehave: ask');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      expect((await s.execution(queryId)).result).toBe('I left it.');
    });

    scenario('what has ended stays as it ended', async (s) => {
      const { id } = await s.client.call('registerExecution', { body: { name: 'outside' } });
      const settle = (state: 'failed' | 'succeeded'): Promise<unknown> =>
        s.client.call('settleExecution', { id, body: { state } });
      await settle('failed');
      await settle('failed');
      await expect(settle('succeeded')).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
      expect(await s.execution(id)).toMatchObject({ state: 'failed', closed: true, outcome: 'failed' });
    });
  });
}
