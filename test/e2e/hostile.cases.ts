import { createHmac } from 'node:crypto';
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { ErrorCode } from '../../src/base/errors.ts';
import { callTool } from './raw-requests.ts';
import type { Scenarios } from './scenario.ts';
import type { Scene } from './scene.ts';
import { gate } from './script-words.ts';

/** What the server of the scene answers to a raw GET. */
async function get(s: Scene, path: string, token = s.client.connection.token): Promise<[number, Answer]> {
  const response = await fetch(`${s.client.connection.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return [response.status, (await response.json()) as Answer];
}

interface Answer {
  readonly code?: ErrorCode;
  readonly detail?: string;
  readonly items?: readonly { readonly id: string }[];
}

/** The token of a session, as its agent has it. */
function sessionToken(s: Scene, sessionId: string): string {
  const secret = readFileSync(join(s.bench.dataDir, 'secret'));
  return `stm_ses_${sessionId}.${createHmac('sha256', secret).update(sessionId).digest('base64url')}`;
}

const idsOf = ([, { items = [] }]: [number, Answer]): string[] => items.map(({ id }) => id);

/** Input that the whole product must refuse, or answer truly. */
export function hostileCases({ scenario }: Scenarios): void {
  describe.concurrent('hostile input', () => {
    scenario('a cursor that no answer gave is refused, by every list', async (s) => {
      const { sessionId } = await s.send('shell', 'true');
      const lists = ['executions', 'sessions', 'notices', 'runs', 'monitor'].map(
        (name) => `/${name}?cursor=garbage`,
      );
      const wrongKind = [`/executions?cursor=${sessionId}`, `/sessions/${sessionId}/transcript?after=-1`];
      for (const path of [...lists, ...wrongKind, `/sessions/${sessionId}/transcript?after=x`]) {
        const [status, { code, detail }] = await get(s, path);
        expect([path, status, code]).toEqual([path, 400, 'INVALID_INPUT']);
        expect(detail).toMatch(/cursor|after/);
      }
    });

    scenario('a directory that is not there is refused before anything is sent', async (s) => {
      const cwd = join(s.bench.dataDir, 'nowhere');
      await expect(s.client.call('query', { body: { message: 'Hi.', cwd } })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringContaining(cwd),
      });
      const run = { agent: 'shell', cwd, messages: ['true'] };
      await expect(s.client.call('createRun', { body: run })).rejects.toMatchObject({
        code: 'INVALID_INPUT',
        data: { key: 'cwd' },
      });
    });

    scenario('a session keeps its agent and its directory, and says so', async (s) => {
      const { queryId, sessionId } = await s.send('shell', 'true');
      const { agent, cwd } = await s.client.call('getSession', { id: sessionId });
      const send = (more: object) =>
        s.client.call('query', { body: { message: 'true', sessionId, ...more } });
      await expect(send({ agent: 'demo' })).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
      await expect(send({ cwd: '/' })).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
      const again = await send({ agent, cwd: `${cwd}/` });
      expect(again).toMatchObject({ sessionId, agent });
      await s.closed(queryId);
      await s.closed(again.queryId);
    });

    scenario('a filter is kept, or nothing fits it', async (s) => {
      const { queryId, sessionId } = await s.send('shell', 'true');
      const other = await s.client.call('registerExecution', { body: { name: 'other' } });
      await s.closed(queryId);
      expect(idsOf(await get(s, `/sessions?session=${sessionId}`))).toEqual([sessionId]);
      expect(idsOf(await get(s, `/sessions?session=${sessionId}&state=stopped`))).toEqual([]);
      expect(idsOf(await get(s, `/monitor?root=${other.id}`))).toEqual([other.id]);
      expect(idsOf(await get(s, `/monitor?root=${other.id}&kind=message`))).toEqual([]);
      for (const list of ['executions', 'sessions', 'notices', 'runs', 'monitor'])
        expect(idsOf(await get(s, `/${list}?label=none`))).toEqual([]);
      expect(idsOf(await get(s, `/notices?root=${other.id}`))).toEqual([]);
      await s.client.call('settleExecution', { id: other.id, body: { state: 'succeeded' } });
    });

    scenario('the run of a background agent is no run of a person', async (s) => {
      const { queryId, sessionId } = await s.send('shell', `echo up > up; ${gate('go')}`);
      await s.file('up');
      const { url } = s.client.connection;
      const args = { name: 'child', instruction: 'echo done', agent: 'shell' };
      const launched = await callTool(url, sessionToken(s, sessionId), 'run_in_background', args);
      const child = await s.execution(String(launched.data['executionId']));
      s.open('go');
      await s.closed(queryId);
      expect(idsOf(await get(s, `/runs?session=${child.runsIn}`))).toEqual([]);
      expect(idsOf(await get(s, `/notices?root=${queryId}`))).toHaveLength(1);
      const { runId, sessionId: own } = await s.run('shell', ['true']);
      await s.ended(runId);
      expect(idsOf(await get(s, `/runs?session=${own}`))).toEqual([runId]);
    });

    scenario("an agent's token waits for its own work and for nobody else's", async (s) => {
      const mine = await s.send('shell', 'true');
      const other = await s.client.call('registerExecution', { body: { name: 'secret' } });
      await s.closed(mine.queryId);
      const token = sessionToken(s, mine.sessionId);
      const [status, answer] = await get(s, `/executions/${other.id}/wait?timeoutMs=0`, token);
      expect([status, answer.code]).toEqual([403, 'FORBIDDEN']);
      expect(await get(s, `/executions/${mine.queryId}/wait?timeoutMs=0`, token)).toEqual([
        200,
        { closed: true, outcome: 'succeeded' },
      ]);
      await s.client.call('settleExecution', { id: other.id, body: { state: 'succeeded' } });
    });

    scenario('a result that is no text is refused, and the work can still be settled', async (s) => {
      const { id } = await s.client.call('registerExecution', { body: { name: 'outside' } });
      for (const result of ['a\0b', 'half \ud800'])
        await expect(
          s.client.call('settleExecution', { id, body: { state: 'succeeded', result } }),
        ).rejects.toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('result') });
      await expect(
        s.client.call('settleExecution', { id, body: { state: 'failed', error: 'a\0b' } }),
      ).rejects.toMatchObject({ code: 'INVALID_INPUT', message: expect.stringContaining('error') });
      const body = { state: 'succeeded' as const, result: { list: ['\0'] } };
      expect(await s.client.call('settleExecution', { id, body })).toMatchObject({
        result: '{"list":["\\u0000"]}',
      });
    });

    scenario('a working directory that is gone is told as such, by every kind of agent', async (s) => {
      for (const agent of ['shell', 'worker']) {
        const cwd = join(s.directory, 'nowhere');
        mkdirSync(cwd);
        const { id: sessionId } = await s.client.call('createSession', { body: { agent, cwd } });
        rmdirSync(cwd);
        const { queryId } = await s.client.call('query', { body: { message: 'echo hi', sessionId } });
        await s.closed(queryId);
        expect((await s.execution(queryId)).error).toEqual({
          code: 'AGENT_UNAVAILABLE',
          message: expect.stringContaining(`the working directory ${cwd} does not exist`),
        });
      }
    });

    scenario('to resume what does not wait for capacity is an error', async (s) => {
      const { queryId, sessionId } = await s.send('shell', 'true');
      await s.closed(queryId);
      await expect(
        s.client.call('decideCapacity', { id: sessionId, body: { action: 'resume' } }),
      ).rejects.toMatchObject({ code: 'ILLEGAL_STATE' });
    });
  });
}
