import { describe, expect } from 'vitest';
import type { Scenarios } from './scenario.ts';
import { ofKind } from './scene.ts';

/** What a tree is, and when it is closed. */
export function treeCases({ scenario }: Scenarios): void {
  describe.concurrent('trees', () => {
    scenario(
      "completing the message while a child runs does not close the tree, and it closes when the child's result has been handled",
      async (s) => {
        const { queryId, sessionId } = await s.send('worker', 'Start a job.');
        await s.named(queryId, 'Start a job.', (row) => row.state === 'succeeded');
        const open = await s.tree(queryId);
        expect(open.closed).toBe(false);
        const job = open.executions.find(({ name }) => name === 'job');
        const below = open.executions.filter(({ parentId }) => parentId === job?.id);
        expect(open.holding.map(({ executionId }) => executionId)).toEqual(below.map(({ id }) => id));
        s.open('go');
        const tree = await s.closed(queryId);
        const [continuation] = ofKind(tree, 'continuation');
        expect(tree.outcome).toBe('succeeded');
        expect(continuation).toMatchObject({ parentId: queryId, rootId: queryId, state: 'succeeded' });
        expect(tree.notices).toMatchObject([
          { state: 'handled', continuationId: continuation?.id, sessionId },
        ]);
        expect(Date.parse(tree.executions[0]?.closedAt ?? '')).toBeGreaterThanOrEqual(
          Date.parse(tree.notices[0]?.handledAt ?? ''),
        );
      },
    );
    scenario(
      "a failed child's continuation: completing it cannot advance the sequence while its retry runs",
      async (s) => {
        const { runId, sessionId } = await s.run('worker', ['Try it.', 'And now the next one.']);
        const root = await s.message(runId, 0);
        const retry = await s.named(root, 'flaky', (row) => row.attempt === 2 && row.state === 'running');
        const continuation = await s.seen('the continuation has ended', root, (tree) =>
          ofKind(tree, 'continuation').find((row) => row.state === 'succeeded'),
        );
        expect(retry.parentId).toBe(continuation.id);
        const meanwhile = await s.client.call('getRun', { id: runId });
        expect(meanwhile.messages[1]?.attempts).toEqual([]);
        expect(await s.prompts(sessionId)).not.toContain('And now the next one.');
        s.open('retry');
        const run = await s.ended(runId);
        expect(run.outcome).toBe('succeeded');
        const first = await s.execution(root);
        const second = await s.execution(await s.message(runId, 1));
        expect(Date.parse(second.createdAt)).toBeGreaterThanOrEqual(Date.parse(first.closedAt ?? ''));
        expect(await s.prompts(sessionId)).toHaveLength(4);
      },
    );

    scenario('a message for a busy session is queued, or refused, as its sender says', async (s) => {
      const first = await s.send('worker', 'Stay with me.');
      await s.named(first.queryId, 'Stay with me.', (row) => row.state === 'running');
      const refused = s.send('worker', 'Now or never.', { whenBusy: 'reject' });
      await expect(refused).rejects.toMatchObject({ code: 'SESSION_BUSY' });
      const second = await s.send('worker', 'Second.');
      // This agent cannot be steered: the text waits its turn instead.
      const third = await s.send('worker', 'Third.', { whenBusy: 'steer' });
      expect((await s.execution(second.queryId)).state).toBe('queued');
      s.open('hold');
      for (const { queryId } of [first, second, third]) await s.closed(queryId);
      expect(await s.prompts(first.sessionId)).toEqual(['Stay with me.', 'Second.', 'Third.']);
    });
  });
}
