import { describe, expect } from 'vitest';
import { callTool, sendAndHangUp, toolCall } from './raw-requests.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { ofKind } from './scene.ts';
import { gate } from './script-words.ts';

/** A shell command that tells its session's token and then runs until the scene has this file. */
const tellToken = (file: string): string => `echo "$STEMMA_TOKEN" > token; ${gate(file)}`;

const token = (s: Scene): Promise<string> => s.file('token');

/** Whose child is it? */
export function identityCases({ scenario }: Scenarios): void {
  describe.concurrent('identity', () => {
    scenario('identity survives detaching from the request', async (s) => {
      const admin = s.client.connection.token ?? '';
      const body = { message: tellToken('go'), agent: 'shell', cwd: s.directory, title: s.directory };
      await sendAndHangUp(s.client.connection.url, { path: '/api/v1/query', token: admin, body });
      const message = await s.until('the message of the lost client lives', async () =>
        (await s.client.call('listExecutions')).items.find(({ name }) => name === s.directory),
      );
      const args = { name: 'child', instruction: gate('child-go'), agent: 'shell' };
      const call = { path: '/mcp', token: await token(s), body: toolCall('run_in_background', args) };
      await sendAndHangUp(s.client.connection.url, call);
      const child = await s.named(message.id, 'child');
      expect(child).toMatchObject({ parentId: message.id, rootId: message.id, parentSource: 'turn' });
      s.open('go');
      await s.named(message.id, s.directory, (row) => row.state === 'succeeded');
      expect((await s.tree(message.id)).closed).toBe(false);
      s.open('child-go');
      const tree = await s.closed(message.id);
      expect(tree.executions.find(({ name }) => name === 'child')?.state).toBe('succeeded');
      await s.client.call('stopSession', { id: message.runsIn ?? '' });
    });

    scenario(
      'explicit and ambient identity resolve to the same parent and a correlation id to none',
      async (s) => {
        const { url } = s.client.connection;
        const { queryId } = await s.send('shell', tellToken('go'));
        const other = await s.client.call('registerExecution', { body: { name: 'other' } });
        const args = { name: 'ambient', instruction: 'echo ok', agent: 'shell' };
        const ambient = await callTool(url, await token(s), 'run_in_background', args);
        expect(ambient.data).toMatchObject({ parentId: queryId, rootId: queryId });
        const program = { url, token: s.bench.executionToken(queryId) };
        const explicit = await s.as(program.token).call('registerExecution', {
          body: { name: 'explicit', correlationId: other.id },
        });
        expect(explicit).toMatchObject({
          parentId: queryId,
          rootId: queryId,
          parentSource: 'explicit',
          correlationId: other.id,
        });
        const correlated = await s.client.call('registerExecution', {
          body: { name: 'correlated', correlationId: queryId },
        });
        expect(correlated).toMatchObject({ parentId: null, parentSource: 'none', rootId: correlated.id });
        for (const { id } of [explicit, correlated, other])
          await s.client.call('settleExecution', { id, body: { state: 'succeeded' } });
        expect((await s.tree(correlated.id)).closed).toBe(true);
        s.open('go');
        expect((await s.closed(queryId)).executions.map(({ name }) => name)).not.toContain('correlated');
      },
    );

    scenario("a launch without a parent attaches to the session's running turn", async (s) => {
      const { queryId, sessionId } = await s.send('worker', 'Start a job.');
      const job = await s.named(queryId, 'job');
      expect(job).toMatchObject({ parentId: queryId, parentSource: 'turn' });
      expect(job.reportsTo).toEqual({ sessionId, mode: 'each' });
      s.open('go');
      await s.closed(queryId);
    });

    scenario('tool calls in normal and in continuation turns carry the exact execution', async (s) => {
      const { queryId } = await s.send('worker', 'Start a chain.');
      const tree = await s.closed(queryId);
      const [of1, of2] = ofKind(tree, 'continuation');
      const parentOf = (name: string): string | null | undefined =>
        tree.executions.find((row) => row.name === name)?.parentId;
      expect(parentOf('first')).toBe(queryId);
      expect(of1?.parentId).toBe(queryId);
      expect(parentOf('second')).toBe(of1?.id);
      expect(of2?.parentId).toBe(of1?.id);
    });

    scenario('a launch after the end of the turn is refused', async (s) => {
      const { queryId } = await s.send('shell', tellToken('go'));
      const own = await token(s);
      s.open('go');
      await s.closed(queryId);
      const args = { name: 'too late', instruction: 'echo never', agent: 'shell' };
      const answer = await callTool(s.client.connection.url, own, 'run_in_background', args);
      expect(answer).toMatchObject({ isError: true, text: expect.stringContaining('TURN_ENDED') });
      expect((await s.tree(queryId)).executions).toHaveLength(1);
    });

    scenario('registration for another session and delivery across sessions are refused', async (s) => {
      const { url } = s.client.connection;
      const mine = await s.send('worker', 'Start a job.');
      const job = await s.named(mine.queryId, 'job');
      const theirs = await s.send('shell', tellToken('theirs'));
      const their = await token(s);
      for (const [tool, args] of [
        ['get_execution', { id: job.id }],
        ['send_to_execution', { id: job.id, text: 'echo intruder' }],
        ['cancel_execution', { id: job.id }],
      ] as const) {
        const answer = await callTool(url, their, tool, args);
        expect(answer, tool).toMatchObject({ isError: true, text: expect.stringContaining('NOT_FOUND') });
      }
      const stranger = s.as(s.bench.executionToken(theirs.queryId));
      const settling = stranger.call('settleExecution', { id: job.id, body: { state: 'succeeded' } });
      await expect(settling).rejects.toMatchObject({ code: 'FORBIDDEN' });
      await expect(stranger.call('getTree', { id: job.id })).rejects.toMatchObject({ code: 'FORBIDDEN' });
      const registering = s.as(their).call('registerExecution', { body: { name: 'forged' } });
      await expect(registering).rejects.toMatchObject({ code: 'FORBIDDEN' });
      s.open('theirs');
      s.open('go');
      await s.closed(theirs.queryId);
      await s.closed(mine.queryId);
      expect((await s.tree(theirs.queryId)).notices).toEqual([]);
      const { notices } = await s.tree(mine.queryId);
      expect(notices).toMatchObject([{ executionId: job.id, state: 'handled', sessionId: mine.sessionId }]);
    });

    scenario('waiting in a turn for what needs the end of that turn is refused', async (s) => {
      const { queryId } = await s.send('shell', tellToken('go'));
      const waiting = s.as(await token(s)).call('waitExecution', { id: queryId });
      await expect(waiting).rejects.toMatchObject({ code: 'WAIT_ON_SELF' });
      s.open('go');
      await s.closed(queryId);
    });
  });
}
