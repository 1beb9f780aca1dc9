import { describe, expect } from 'vitest';
import type { Waiting } from '../../src/contract/execution.ts';
import { StemmaError } from '../../src/base/errors.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { on, once, say, type ScriptedAgent } from './script-words.ts';

const asks = { ask: 'May I delete it?', allowed: [say('Gone.')], denied: [say('I left it.')] };

/** Agents that people must answer, or wait for. */
export const waitingAgents: Readonly<Record<string, ScriptedAgent>> = {
  asker: { rules: [on('^Delete', asks)], profile: { onQuestion: 'ask' } },
  hasty: { rules: [on('^Delete', asks)], profile: { onQuestion: 'ask', questionTimeout: '500ms' } },
  limited: {
    rules: [
      once('^First', { limit: 'You have reached your usage limit.', resetsInMs: 700 }),
      once('^Second', { limit: 'You have reached your usage limit.' }),
      once('^Third', { limit: 'You have reached your usage limit.' }),
    ],
    otherwise: [say('Done.')],
  },
  expired: { rules: [once('^Begin', { login: 'Sign in again.' })], otherwise: [say('Done.')] },
};

async function waitingFor(s: Scene, id: string, what: Waiting['for']): Promise<Waiting> {
  const look = async (): Promise<Waiting | false> => {
    const { waiting } = await s.execution(id);
    return waiting?.for === what && waiting;
  };
  return s.until(`${id} waits for ${what}`, look, () => s.tree(id));
}

async function refusalOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
  } catch (error) {
    if (error instanceof StemmaError) return error.code;
    throw error;
  }
  return 'not refused';
}

/** What waits for a person, a provider or a sign-in: it is shown, it can be answered, and nothing is sent meanwhile. */
export function waitingCases({ scenario }: Scenarios): void {
  describe.concurrent('waiting', () => {
    scenario(
      'a usage limit is no failure: the message waits for its end, and goes on by itself',
      async (s) => {
        const { runId, sessionId } = await s.run('limited', ['First: write it.', 'Last: read it.']);
        const id = await s.message(runId, 0);
        const waiting = await waitingFor(s, id, 'capacity');
        expect(waiting).toMatchObject({ text: expect.stringContaining('usage limit') });
        expect(Date.parse(waiting.until ?? '')).toBeGreaterThan(Date.parse(waiting.since));
        expect(await s.ended(runId)).toMatchObject({ outcome: 'succeeded' });
        const [first, again, last] = await s.prompts(sessionId);
        expect(first).toBe('First: write it.');
        expect(again).toMatch(/^\[stemma exe_\w+ again #1\] .*\n\nFirst: write it\.$/);
        expect(last).toBe('Last: read it.');
      },
    );

    scenario('a limit that nobody knows the end of waits for a person, who resumes it', async (s) => {
      const { queryId, sessionId } = await s.send('limited', 'Second: write it.');
      const waiting = await waitingFor(s, queryId, 'capacity');
      expect(waiting.until).toBeUndefined();
      const monitor = await s.client.call('monitor', { query: { root: queryId } });
      expect(monitor.items[0]).toMatchObject({ waiting: { for: 'capacity' } });
      expect(await s.client.call('getSession', { id: sessionId })).toMatchObject({
        waiting: { for: 'capacity' },
      });
      expect(await s.client.call('waitExecution', { id: queryId, query: { timeoutMs: 1500 } })).toMatchObject(
        {
          closed: false,
          holding: [{ why: 'waiting', evidence: expect.stringContaining('capacity') }],
        },
      );
      await s.client.call('decideCapacity', { id: sessionId, body: { action: 'resume' } });
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('a person who gives up lets the message fail, with the reason', async (s) => {
      const { queryId, sessionId } = await s.send('limited', 'Third: write it.');
      await waitingFor(s, queryId, 'capacity');
      await s.client.call('answerExecution', { id: queryId, body: { choice: 'giveUp' } });
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'failed', outcomeCode: 'CAPACITY' });
      const next = await s.send(sessionId, 'Are you there?');
      expect(await s.closed(next.queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('an expired sign-in is met once, and holds the other sessions of that agent too', async (s) => {
      const first = await s.send('expired', 'Begin here.');
      await waitingFor(s, first.queryId, 'login');
      const other = await s.client.call('createSession', { body: { agent: 'expired', cwd: s.directory } });
      const second = await s.send(other.id, 'Go on there.');
      await waitingFor(s, second.queryId, 'login');
      expect(await s.prompts(other.id)).toEqual([]);
      await s.client.call('answerExecution', { id: second.queryId, body: { choice: 'resume' } });
      expect(await s.closed(first.queryId)).toMatchObject({ outcome: 'succeeded' });
      expect(await s.closed(second.queryId)).toMatchObject({ outcome: 'succeeded' });
    });

    scenario('a question waits for a person, is answered once, and by one of its choices', async (s) => {
      const { queryId } = await s.send('asker', 'Delete it.');
      const { choices = [], text } = await waitingFor(s, queryId, 'input');
      expect(text).toContain('May I delete it?');
      const answer = (choice: string): Promise<unknown> =>
        s.client.call('answerExecution', { id: queryId, body: { choice } });
      expect(await refusalOf(answer('perhaps'))).toBe('INVALID_INPUT');
      await answer(choices[0] ?? '');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      expect((await s.execution(queryId)).result).toBe('Gone.');
      expect(await refusalOf(answer(choices[0] ?? ''))).toBe('ILLEGAL_STATE');
    });

    scenario('a question that nobody answers in time is answered with no', async (s) => {
      const { queryId } = await s.send('hasty', 'Delete it.');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      expect((await s.execution(queryId)).result).toBe('I left it.');
    });
  });
}
