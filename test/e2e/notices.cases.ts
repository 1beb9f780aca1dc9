import { describe, expect } from 'vitest';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { ofKind } from './scene.ts';
import { noticesIn } from './script-words.ts';

const allOwed = (s: Scene, root: string, count: number): Promise<true> =>
  s.seen(
    `${count} results are owed`,
    root,
    ({ notices }) => notices.length === count && notices.every(({ state }) => state === 'owed'),
  ) as Promise<true>;

/** Which result is handed over when, to whom, and how often. */
export function noticeCases({ scenario, alone }: Scenarios): void {
  describe.concurrent('notices', () => {
    scenario('a continuation that arrives during an observed turn keeps the original root', async (s) => {
      const first = await s.send('worker', 'Start a job.');
      await s.named(first.queryId, 'Start a job.', (row) => row.state === 'succeeded');
      const second = await s.send(first.sessionId, 'Stay with me.');
      await s.named(second.queryId, 'Stay with me.', (row) => row.state === 'running');
      s.open('go');
      await allOwed(s, first.queryId, 1);
      expect(ofKind(await s.tree(first.queryId), 'continuation')).toEqual([]);
      expect(await s.client.call('getSession', { id: first.sessionId })).toMatchObject({
        turn: { owners: [second.queryId] },
      });
      s.open('hold');
      const tree = await s.closed(first.queryId);
      expect(ofKind(tree, 'continuation')).toMatchObject([
        { rootId: first.queryId, parentId: first.queryId },
      ]);
      expect((await s.closed(second.queryId)).executions).toHaveLength(1);
    });

    scenario('a result stays deliverable after a later human message', async (s) => {
      const first = await s.send('worker', 'Start a job.');
      const second = await s.send(first.sessionId, 'How are you?');
      await s.closed(second.queryId);
      expect((await s.tree(first.queryId)).closed).toBe(false);
      s.open('go');
      const tree = await s.closed(first.queryId);
      expect(tree.notices).toMatchObject([{ state: 'handled', sessionId: first.sessionId }]);
      const prompts = await s.prompts(first.sessionId);
      expect(prompts.slice(0, 2)).toEqual(['Start a job.', 'How are you?']);
      expect(prompts.slice(2).map(noticesIn)).toEqual([[tree.notices[0]?.id]]);
    });

    scenario(
      "a person's unrelated message in the same session neither holds nor closes the root",
      async (s) => {
        const first = await s.send('worker', 'Start a job.');
        const second = await s.send(first.sessionId, 'Start another.');
        await s.named(second.queryId, 'Start another.', (row) => row.state === 'succeeded');
        const open = await s.tree(first.queryId);
        expect(open.closed).toBe(false);
        expect(open.executions.map(({ rootId }) => rootId)).toEqual(open.executions.map(() => first.queryId));
        s.open('go');
        await s.closed(first.queryId);
        expect((await s.tree(second.queryId)).closed).toBe(false);
        s.open('other');
        expect((await s.closed(second.queryId)).outcome).toBe('succeeded');
      },
    );

    scenario('three children finishing at once are each accounted for', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start three.');
      for (const name of ['a', 'b', 'c']) await s.named(queryId, name);
      s.open('go');
      await allOwed(s, queryId, 3);
      s.open('hold');
      const tree = await s.closed(queryId);
      expect(ofKind(tree, 'continuation')).toHaveLength(1);
      expect(tree.notices.map(({ state }) => state)).toEqual(['handled', 'handled', 'handled']);
      const [, handed = '', ...rest] = await s.prompts(sessionId);
      expect(rest).toEqual([]);
      expect(noticesIn(handed).sort()).toEqual(tree.notices.map(({ id }) => id).sort());
    });

    scenario('children that finish at once when the lane is free are each handed over once', async (s) => {
      s.open('hold');
      const { queryId, sessionId } = await s.send('worker', 'Start three.');
      await s.named(queryId, 'Start three.', (row) => row.state === 'succeeded');
      s.open('go');
      const tree = await s.closed(queryId);
      expect(tree.notices.map(({ state }) => state)).toEqual(['handled', 'handled', 'handled']);
      const handed = (await s.prompts(sessionId)).slice(1).flatMap(noticesIn);
      expect(handed.sort()).toEqual(tree.notices.map(({ id }) => id).sort());
    });

    scenario(
      'twenty-five results during one long turn make one continuation and nothing exists before its lane',
      async (s) => {
        const { queryId, sessionId } = await s.send('worker', 'Start many.');
        await allOwed(s, queryId, 25);
        const before = await s.tree(queryId);
        expect(ofKind(before, 'continuation')).toEqual([]);
        expect(before.executions.filter(({ state }) => state === 'queued' || state === 'running')).toEqual([
          expect.objectContaining({ id: queryId, state: 'running' }),
        ]);
        s.open('hold');
        const tree = await s.closed(queryId);
        expect(ofKind(tree, 'continuation')).toHaveLength(1);
        const [, handed = '', ...rest] = await s.prompts(sessionId);
        expect(rest).toEqual([]);
        expect(new Set(noticesIn(handed)).size).toBe(25);
        expect(noticesIn(handed)).toHaveLength(25);
      },
    );

    scenario('a result that is owed can be waived, visibly, and then holds nothing', async (s) => {
      const first = await s.send('worker', 'Start a job.');
      await s.named(first.queryId, 'Start a job.', (row) => row.state === 'succeeded');
      const second = await s.send(first.sessionId, 'Stay with me.');
      await s.named(second.queryId, 'Stay with me.', (row) => row.state === 'running');
      s.open('go');
      await allOwed(s, first.queryId, 1);
      const [owed] = (await s.tree(first.queryId)).notices;
      const body = { reason: 'nobody needs it' };
      const waived = await s.client.call('waiveNotice', { id: owed?.id ?? '', body });
      expect(waived).toMatchObject({ state: 'waived', reason: 'nobody needs it', actor: 'person admin' });
      expect(await s.closed(first.queryId)).toMatchObject({ outcome: 'succeeded' });
      s.open('hold');
      await s.closed(second.queryId);
      expect((await s.prompts(first.sessionId)).flatMap(noticesIn)).toEqual([]);
    });

    scenario('what is detached lives on and holds nothing any more', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start a job.');
      await s.named(queryId, 'Start a job.', (row) => row.state === 'succeeded');
      const job = await s.named(queryId, 'job');
      await s.client.call('detachExecution', { id: job.id });
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      expect(await s.execution(job.id)).toMatchObject({ state: 'running', closed: false });
      s.open('go');
      await s.until('the job has ended', async () => (await s.execution(job.id)).closed);
      expect(await s.execution(job.id)).toMatchObject({ state: 'succeeded' });
      expect((await s.prompts(sessionId)).flatMap(noticesIn)).toEqual([]);
    });

    alone('a result whose continuation dies is handed over again, marked, and then handled', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start something fragile.');
      const tree = await s.closed(queryId);
      expect(tree).toMatchObject({ outcome: 'succeeded', notices: [{ state: 'handled' }] });
      expect(ofKind(tree, 'continuation').map(({ state }) => state)).toEqual(['lost', 'succeeded']);
      const [, first = '', second = '', ...rest] = await s.prompts(sessionId);
      expect(rest).toEqual([]);
      expect(noticesIn(second)).toEqual(noticesIn(first));
      expect(first).not.toContain('delivered again');
      expect(second).toContain('delivered again');
      expect(second).toContain('precious');
    });

    scenario('each attempt of a child owes a result of its own', async (s) => {
      s.open('retry');
      const { queryId, sessionId } = await s.send('worker', 'Try it.');
      const tree = await s.closed(queryId);
      const attempts = tree.executions.filter(({ name }) => name === 'flaky');
      expect(attempts).toMatchObject([
        { attempt: 1, state: 'failed' },
        { attempt: 2, state: 'succeeded' },
      ]);
      expect(tree.notices.map(({ executionId }) => executionId)).toEqual(attempts.map(({ id }) => id));
      const told = (await s.prompts(sessionId)).slice(1).map((prompt) => prompt.split('\n', 1)[0]);
      expect(told).toEqual([
        expect.stringContaining('flaky failed'),
        expect.stringContaining('flaky succeeded'),
      ]);
    });

    scenario('whoever launched a child is told that a person cancelled it', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start a job.');
      const job = await s.named(queryId, 'job', (row) => row.state === 'running');
      await s.client.call('cancelExecution', { id: job.id, body: { reason: 'no longer wanted' } });
      expect(await s.closed(queryId)).toMatchObject({
        outcome: 'succeeded',
        notices: [{ state: 'handled' }],
      });
      const [, told = ''] = await s.prompts(sessionId);
      expect(told).toContain('job cancelled');
      expect(told).toContain('cancelled by person admin');
    });

    scenario('a child whose process is killed has failed, and whoever launched it is told', async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start a mortal.');
      const tree = await s.closed(queryId);
      expect(tree.executions.find(({ name }) => name === 'mortal')?.state).toBe('failed');
      const [, told = ''] = await s.prompts(sessionId);
      expect(told).toContain('mortal failed');
    });
  });
}
