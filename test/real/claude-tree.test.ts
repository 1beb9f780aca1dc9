import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AgentServer } from './agent-server.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';
import { firstHeard } from './model-log.ts';

const program = findProgram(claudeKit.name);

describe.skipIf(!program)('what the real Claude Code does after its turn has ended', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(claudeKit, program ?? '', [
      { when: '\\[stemma ntc_\\S+ #\\d+\\] (\\w+) succeeded', steps: '[[say handled $1]]' },
    ]);
  });
  afterAll(() => server?.stop());

  it('a launch by a background sub-agent stays in the tree, and the next message waits for all of it', async () => {
    const launch = JSON.stringify({ name: 'late', instruction: 'Late. [[slow 1 late work]]' });
    const prompt = `[[shell sleep 2]] [[tool run_in_background ${launch}]] [[say child]]`;
    const args = { description: 'helper', prompt, subagent_type: 'general-purpose', run_in_background: true };
    const first = `Begin. [[tool Agent ${JSON.stringify(args)}]] [[say parent]]`;
    const run = await server.ended(await server.run([first, 'Next. [[say next]]']), 60_000);
    expect(run.outcome).toBe('succeeded');
    const [tree] = await server.trees(run);
    const rows = tree?.executions ?? [];
    const message = rows.find((row) => row.id === tree?.root);
    const task = rows.find((row) => row.kind === 'task');
    const late = rows.find((row) => row.kind === 'agent' && row.name === 'late');
    expect([message, task, late].map((row) => row?.state)).toEqual(['succeeded', 'succeeded', 'succeeded']);
    // It was launched after the turn that began the sub-agent had ended.
    expect(late?.createdAt ?? '').toSatisfy((at: string) => at > (message?.endedAt ?? ''));
    expect(late?.parentId).toBe(tree?.root);
    expect(tree?.notices.map(({ state }) => state)).toEqual(['handled', 'handled']);
    expect(firstHeard(server.model, 'Next.')).toBeGreaterThan(firstHeard(server.model, 'late succeeded'));
  });

  it('a background command holds the tree, and its end is handled by a continuation', async () => {
    const run = await server.ended(
      await server.run(['Left. [[background sleep 2; echo over]] [[say left]]', 'After. [[say after]]']),
      60_000,
    );
    expect(run.outcome).toBe('succeeded');
    const [tree] = await server.trees(run);
    const rows = tree?.executions ?? [];
    expect(rows.map(({ kind, state }) => `${kind} ${state}`).sort()).toEqual([
      'continuation succeeded',
      'message succeeded',
      'task succeeded',
    ]);
    expect(tree?.notices.map(({ state }) => state)).toEqual(['handled']);
    const task = rows.find(({ kind }) => kind === 'task');
    const after = server.model.log[firstHeard(server.model, 'After.')];
    expect(after?.at ?? 0).toBeGreaterThan(Date.parse(task?.endedAt ?? ''));
  });
});
