import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Execution, TreeView } from '../../src/contract/execution.ts';
import { AgentServer } from './agent-server.ts';
import { Attached } from './attached.ts';
import { type AgentKit, findProgram } from './kit.ts';

const background = (name: string, instruction: string): string =>
  `[[tool run_in_background ${JSON.stringify({ name, instruction })}]]`;

const hasTmux = spawnSync('tmux', ['-V']).status === 0;
if (!hasTmux) console.warn('\n  SKIPPED: tmux is missing. Install the package tmux.\n');

/** How one agent's own screen is used. */
export interface TerminalPlan {
  /** Whether what is typed while a turn runs is taken up in that turn. */
  readonly joinsTurns: boolean;
  /** Whether commands that the agent leaves running are known as tasks. */
  readonly hasTasks: boolean;
  /** Whether our texts go through the composer that a person uses too. */
  readonly typesOurs?: boolean;
  /** How long whatever is waited for may take, in milliseconds. Default 30,000. */
  readonly patienceMs?: number;
}

/** A person at the real agent's own screen, through `stemma session attach`, beside messages of ours. */
export function terminalCases(
  kit: AgentKit,
  { joinsTurns, hasTasks, typesOurs = false, patienceMs = 30_000 }: TerminalPlan,
): void {
  const program = findProgram(kit.program ?? kit.name);
  const timeout = 2 * patienceMs;
  describe.skipIf(!program || !hasTmux)(`the terminal of the real ${kit.name}`, { timeout }, () => {
    let server: AgentServer;
    let session: string;
    const open: Attached[] = [];

    beforeAll(async () => {
      const rules = [{ when: '\\[stemma ntc_\\S+ #\\d+\\] (\\w+) succeeded', steps: '[[say handled $1]]' }];
      server = await AgentServer.start(kit, program ?? '', rules);
      const sent = await send('Hello. [[say first answer]]');
      session = sent.sessionId;
      await closed(sent.queryId);
    }, timeout);
    afterEach(() => {
      for (const attached of open.splice(0)) attached.close();
    });
    afterAll(() => server?.stop());

    const send = (message: string, more: object = {}): Promise<{ queryId: string; sessionId: string }> =>
      server.client.call('query', { body: { message, agent: kit.name, cwd: server.cwd, ...more } });
    const attach = (): Attached => {
      const attached = new Attached(join(server.directory, 'data'), session, patienceMs);
      open.push(attached);
      return attached;
    };
    const closed = async (id: string): Promise<TreeView> => {
      const query = { timeoutMs: patienceMs };
      const answer = await server.client.call('waitExecution', { id, query });
      const tree = await server.client.call('getTree', { id });
      expect(answer.closed, JSON.stringify(tree.holding)).toBe(true);
      return tree;
    };
    /** The message that a typed text became. */
    const typed = async (start: string): Promise<Execution> => {
      let found: Execution | undefined;
      await expect
        .poll(
          async () => {
            const { items } = await server.client.call('listExecutions', { query: { limit: 200 } });
            found = items.find((row) => row.kind === 'message' && row.name.startsWith(start));
            return found;
          },
          { timeout: patienceMs },
        )
        .toBeDefined();
      return found as Execution;
    };

    test('what was said is on the screen; what is typed is a message with a root of its own, and holds what it launches', async () => {
      const attached = attach();
      await attached.shows('first answer');
      await attached.submit(
        `Typed one. ${background('lint', 'Lint it. [[slow 1 lint is clean]]')} [[say it runs]]`,
      );
      await attached.shows('it runs');
      const message = await typed('Typed one.');
      expect(message).toMatchObject({ parentId: null, parentSource: 'none', runsIn: session });
      const tree = await closed(message.id);
      expect(tree.outcome).toBe('succeeded');
      const child = tree.executions.find((row) => row.kind === 'agent');
      expect(child).toMatchObject({ parentId: message.id, parentSource: 'turn', state: 'succeeded' });
      expect(tree.notices.map((notice) => notice.state)).toEqual(['handled']);
      await attached.shows('handled lint');
      expect(await attached.detach()).toBe(0);
    });

    test.skipIf(!hasTasks)(
      'what runs in the background is left alone by who attaches and leaves',
      async () => {
        const text = 'Left. [[background sleep 4; echo late]] [[say left running]]';
        const ours = await send(text, { sessionId: session });
        const attached = attach();
        await attached.shows('left running');
        await attached.detach();
        const tree = await closed(ours.queryId);
        const task = tree.executions.find((row) => row.kind === 'task');
        expect(task?.state).toBe('succeeded');
      },
    );

    test('a message of ours is seen on the screen, and the next one waits for what is typed meanwhile', async () => {
      const attached = attach();
      await attached.shows(/handled lint|left running|handled/);
      const ours = await send('Ours. [[shell sleep 2]] [[say ours is done]]', { sessionId: session });
      await attached.shows('sleep 2');
      await attached.submit('Typed two. [[say typed is done]]');
      const message = await typed('Typed two.');
      const next = await send('Next. [[say next is done]]', { sessionId: session });
      const [tree, own] = [await closed(ours.queryId), await closed(message.id)];
      await closed(next.queryId);
      const [oursEnd, typedEnd] = [tree, own].map((each) =>
        each.executions.find((row) => row.id === each.root),
      );
      expect([oursEnd?.state, typedEnd?.state]).toEqual(['succeeded', 'succeeded']);
      // Of one turn, both settle at the same boundary.
      if (joinsTurns) expect(typedEnd?.endedAt).toBe(oursEnd?.endedAt);
      const nextBegan = (await server.client.call('getExecution', { id: next.queryId })).startedAt ?? '';
      expect(nextBegan >= (typedEnd?.endedAt ?? '')).toBe(true);
      await attached.shows('next is done');
    });

    test.skipIf(!typesOurs)(
      'what a person has typed and not submitted is not submitted with ours',
      async () => {
        const attached = attach();
        await attached.shows('next is done');
        attached.press('half a thought');
        await attached.shows('half a thought');
        const ours = await send('Patient. [[say patient]]', { sessionId: session });
        // Whether it waits can only be seen by its not having gone; the looks at the composer are half a second apart.
        await delay(2_500);
        expect(server.model.log.some((event) => JSON.stringify(event).includes('Patient.'))).toBe(false);
        expect((await server.client.call('getExecution', { id: ours.queryId })).closed).toBe(false);
        attached.press('\x15');
        expect((await closed(ours.queryId)).outcome).toBe('succeeded');
        expect(server.model.log.some((event) => JSON.stringify(event).includes('half a thought'))).toBe(
          false,
        );
      },
    );

    test('kill -9 of the server: the screen lives on, and is attached to again', async () => {
      const attached = attach();
      await attached.shows(/next is done|patient/);
      await attached.submit('Typed three. [[shell sleep 3]] [[say survived]]');
      await typed('Typed three.');
      await server.kill();
      expect(await attached.exited).toBe(6);
      await server.up();
      const again = attach();
      await again.shows('survived');
      const message = await typed('Typed three.');
      expect((await closed(message.id)).outcome).toBe('succeeded');
      const { items } = await server.client.call('listExecutions', { query: { limit: 200 } });
      expect(items.filter((row) => row.name.startsWith('Typed three.'))).toHaveLength(1);
      await again.submit('Typed four. [[say four]]');
      expect((await closed((await typed('Typed four.')).id)).outcome).toBe('succeeded');
      expect(items.filter((row) => row.kind === 'late')).toEqual([]);
    });

    test('a stopped session has no terminal, and what was open ends', async () => {
      const attached = attach();
      await attached.shows('four');
      await server.client.call('stopSession', { id: session, body: {} });
      expect(await attached.exited).toBe(0);
      await attached.shows('The terminal has ended');
      const refused = attach();
      expect(await refused.exited).toBe(4);
      await refused.shows('SESSION_STOPPED');
    });
  });
}
