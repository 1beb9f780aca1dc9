import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AgentServer } from './agent-server.ts';
import { geminiKit } from './gemini-kit.ts';
import { type AgentKit, findProgram } from './kit.ts';
import { qwenKit } from './qwen-kit.ts';

/*
 * What an ACP agent does with a second prompt during a turn is up to it: Gemini cancels the first one. So a message for a
 * busy session waits, whoever sends it.
 */

for (const kit of [geminiKit, qwenKit]) busyCase(kit);

function busyCase(kit: AgentKit): void {
  const program = findProgram(kit.name);
  describe.skipIf(!program)(`a busy session of the real ${kit.name}`, () => {
    let server: AgentServer;
    beforeAll(async () => {
      server = await AgentServer.start(kit, program ?? '', []);
    });
    afterAll(() => server?.stop());

    test('gets no second message before its turn has ended, and each message once', async () => {
      const { client, model, cwd } = server;
      const body = { agent: kit.name, cwd, message: 'MARK-FIRST [[slow 4]] ' };
      const first = await client.call('query', { body });
      await model.waitFor(
        (e) => e.type === 'request' && e.userTexts.at(-1)?.includes('MARK-FIRST') === true,
        30_000,
      );
      const { sessionId } = first;
      const second = await client.call('query', {
        body: { sessionId, message: 'MARK-SECOND [[say second]]' },
      });
      for (const { queryId } of [first, second]) {
        const { closed } = await client.call('waitExecution', { id: queryId, query: { timeoutMs: 50_000 } });
        expect(closed).toBe(true);
        expect(await client.call('getExecution', { id: queryId })).toMatchObject({ state: 'succeeded' });
      }
      const requests = model.log.filter((event) => event.type === 'request');
      const about = (mark: string) => requests.filter((event) => event.userTexts.at(-1)?.includes(mark));
      expect([about('MARK-FIRST').length, about('MARK-SECOND').length]).toEqual([1, 1]);
      const answered = model.log.findIndex(
        (event) => event.type === 'ended' && event.number === about('MARK-FIRST')[0]?.number,
      );
      expect(model.log[answered]).toMatchObject({ how: 'answered' });
      expect(model.log.findIndex((event) => event === about('MARK-SECOND')[0])).toBeGreaterThan(answered);
    });
  });
}
