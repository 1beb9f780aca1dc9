import { describe, expect } from 'vitest';
import type { Scenarios } from './scenario.ts';
import { ofKind } from './scene.ts';
import { waitFor } from './wait-for.ts';

/** What a message and all that comes of it may cost. */
export function budgetCases({ scenario, alone }: Scenarios): void {
  describe.concurrent('budgets', () => {
    alone('what a grandchild spends ends the whole tree with its processes, and the sequence', async (s) => {
      const { runId } = await s.run('worker', [
        { text: 'Spend half.', budget: { usd: 1 } },
        'And now the next one.',
      ]);
      const root = await s.message(runId, 0);
      const spender = await s.named(root, 'Spend more.', (row) => row.state === 'running');
      await s.seen('the grandchild runs alone', root, ({ executions }) =>
        executions.every(
          ({ id, kind, state }) => kind !== 'message' || id === spender.id || state === 'succeeded',
        ),
      );
      expect(await s.execution(root)).toMatchObject({
        closed: false,
        spent: { usd: 0.5 },
        budget: { usd: 1 },
      });
      s.open('spend');
      const tree = await s.closed(root);
      expect(tree).toMatchObject({ outcome: 'failed', outcomeCode: 'BUDGET' });
      expect(await s.execution(root)).toMatchObject({ state: 'succeeded', spent: { usd: 1.1 } });
      expect(await s.execution(spender.id)).toMatchObject({ state: 'cancelled', usage: { usd: 0.6 } });
      expect(ofKind(tree, 'agent').map(({ state }) => state)).toEqual(['cancelled', 'cancelled']);
      // The session of the sequence lives on; those of the background agents are gone with them.
      await waitFor('only one agent lives', () => s.processes().length === 1);
      const run = await s.ended(runId);
      expect(run).toMatchObject({ outcome: 'failed', outcomeCode: 'BUDGET' });
      expect(run.messages[1]?.attempts).toEqual([]);
    });

    scenario('a budget that nobody could keep is refused, and nothing is sent', async (s) => {
      const refused = s.send('shell', 'echo hello', { budget: { tokens: 1000 } });
      await expect(refused).rejects.toMatchObject({
        code: 'NO_USAGE',
        message: expect.stringContaining('shell'),
      });
      const run = s.run('shell', ['echo one', { text: 'echo two', budget: { usd: 1 } }]);
      await expect(run).rejects.toMatchObject({ code: 'NO_USAGE' });
    });

    scenario('an agent whose usage nobody tells is not launched below a budget', async (s) => {
      const { queryId } = await s.send('worker', 'Try it.', { budget: { usd: 1 } });
      const tree = await s.closed(queryId);
      expect(tree.executions.map(({ kind }) => kind)).toEqual(['message']);
    });
  });
}
