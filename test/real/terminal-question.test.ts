import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Execution, Waiting } from '../../src/contract/execution.ts';
import { AgentServer } from './agent-server.ts';
import { Attached } from './attached.ts';
import { codexKit } from './codex-kit.ts';
import { type AgentKit, findProgram } from './kit.ts';

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');
const program = hasTmux ? findProgram('codex') : undefined;
const patienceMs = 30_000;

/** Codex that asks before it leaves its sandbox. */
const askingKit: AgentKit = {
  ...codexKit,
  profile: (...given) => ({ ...codexKit.profile(...given), sandbox: 'workspace', onQuestion: 'ask' }),
};

describe.skipIf(!program)(
  'a question of the real codex, at its screen and at ours',
  { timeout: 90_000 },
  () => {
    let server: AgentServer;
    const open: Attached[] = [];
    beforeAll(async () => {
      server = await AgentServer.start(askingKit, program ?? '', []);
    });
    afterEach(() => {
      for (const attached of open.splice(0)) attached.close();
    });
    afterAll(() => server?.stop());

    /** Sends a message whose turn asks, and attaches while it waits for the answer. */
    async function ask(text: string): Promise<{ id: string; waiting: Waiting; attached: Attached }> {
      const sent = await server.client.call('query', {
        body: { message: text, agent: 'codex', cwd: server.cwd },
      });
      const waits = async (): Promise<Waiting | undefined> => (await row(sent.queryId)).waiting;
      await expect.poll(async () => (await waits())?.for, { timeout: patienceMs }).toBe('input');
      const attached = new Attached(join(server.directory, 'data'), sent.sessionId, patienceMs);
      open.push(attached);
      return { id: sent.queryId, waiting: (await waits()) as Waiting, attached };
    }
    const row = (id: string): Promise<Execution> => server.client.call('getExecution', { id });
    const answer = (id: string, { questionId = '' }: Waiting, choice: string): Promise<unknown> =>
      server.client.call('answerExecution', { id, body: { questionId, choice } });
    const closed = async (id: string): Promise<Execution> => {
      await server.client.call('waitExecution', { id, query: { timeoutMs: patienceMs } });
      return row(id);
    };

    test('who attaches meanwhile sees it and answers there, which the server sees', async () => {
      const { id, waiting, attached } = await ask('[[escalate touch allowed]] [[say went on]]');
      await attached.shows(/touch allowed[\s\S]*(1\.|Yes)/);
      expect((await row(id)).waiting?.questionId).toBe(waiting.questionId);
      attached.press('y');
      const end = await closed(id);
      expect(end).toMatchObject({ state: 'succeeded', closed: true });
      expect(end.waiting).toBeUndefined();
      expect(existsSync(join(server.cwd, 'allowed'))).toBe(true);
      await attached.shows('went on');
      await expect(answer(id, waiting, 'accept')).rejects.toThrow();
    });

    test('an answer of ours takes the question off the screen', async () => {
      const { id, waiting, attached } = await ask('[[escalate touch refused]] [[say without it]]');
      await attached.shows(/touch refused[\s\S]*(1\.|Yes)/);
      await answer(id, waiting, 'decline');
      expect(await closed(id)).toMatchObject({ state: 'succeeded', closed: true });
      expect(existsSync(join(server.cwd, 'refused'))).toBe(false);
      await attached.shows('without it');
      await attached.submit('Typed after. [[say heard it]]');
      await attached.shows('heard it');
    });
  },
);
