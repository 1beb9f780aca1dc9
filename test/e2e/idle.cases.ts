import { describe, expect } from 'vitest';
import type { Scenarios } from './scenario.ts';
import type { ScriptedAgent } from './script-words.ts';
import { waitFor } from './wait-for.ts';

/** An agent whose process may be of no use for a moment only. */
export const idleAgents: Readonly<Record<string, ScriptedAgent>> = {
  brief: { rules: [], otherwise: [{ say: 'Noted.' }], profile: { idleTimeout: '200ms' } },
};

/** What becomes of an agent's process when nothing needs it. */
export function idleCases({ alone }: Scenarios): void {
  describe.concurrent('an agent that nothing needs', () => {
    alone('loses its process, and its conversation goes on with the next message', async (s) => {
      const { queryId, sessionId } = await s.send('brief', 'One.');
      expect(await s.closed(queryId)).toMatchObject({ outcome: 'succeeded' });
      expect((await s.tree(queryId)).unseen).toEqual(['brief']);
      const { nativeId } = await s.client.call('getSession', { id: sessionId });
      await waitFor('its process is gone', () => s.processes().length === 0);
      await s.until('the session has none', async () => {
        const { state } = await s.client.call('getSession', { id: sessionId });
        return state === 'cold';
      });
      // At some moment or other of the end that comes again behind each.
      for (const text of ['Two.', 'Three.', 'Four.']) {
        const next = await s.send(sessionId, text);
        expect(await s.closed(next.queryId)).toMatchObject({ outcome: 'succeeded' });
      }
      expect(await s.prompts(sessionId)).toEqual(['One.', 'Two.', 'Three.', 'Four.']);
      expect((await s.client.call('getSession', { id: sessionId })).nativeId).toBe(nativeId);
    });
  });
}
