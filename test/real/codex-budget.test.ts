import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TreeView } from '../../src/contract/execution.ts';
import type { Run } from '../../src/contract/run.ts';
import { isAlive, processesIn } from '../e2e/living-processes.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit, findCodex } from './codex-kit.ts';
import { firstHeard } from './model-log.ts';

const launch = (name: string, instruction: string): string =>
  `[[tool run_in_background ${JSON.stringify({ name, instruction })}]] [[say started ${name}]]`;

// Each answer of the scripted model is told as 120 tokens, when the tools that it called have answered: the message and its
// child have two each, the grandchild two before the one that it is still saying.
const background = '[[background sh -c "echo $$ > leaf; exec sleep 600"]]';
const grandchild = `Dig. ${background} [[shell true]] [[slow 300 This takes its time]]`;
const text = `Go. ${launch('child', `Go on. ${launch('grandchild', grandchild)}`)}`;
const budget = { tokens: 650 };

const program = findCodex();

describe.skipIf(!program)('a budget on the real codex', () => {
  let server: AgentServer;
  let run: Run;
  let tree: TreeView;

  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', []);
    const messages = [{ text, budget }, 'Never sent. [[say never]]'];
    const body = { agent: 'codex', cwd: server.cwd, messages };
    const { runId } = await server.client.call('createRun', { body });
    run = await server.ended(runId, 60_000);
    [tree] = (await server.trees(run)) as [TreeView];
  }, 90_000);
  afterAll(() => server?.stop(), 60_000);

  test('is exceeded by what a grandchild uses in a turn that still runs: the tree ends as that', () => {
    expect(tree).toMatchObject({ closed: true, outcome: 'failed', outcomeCode: 'BUDGET' });
    const root = tree.executions.find((row) => row.id === tree.root);
    expect(root).toMatchObject({ spent: { inputTokens: 600, outputTokens: 120 }, budget });
    const dug = tree.executions.find((row) => row.kind === 'message' && row.name.startsWith('Dig.'));
    expect(dug).toMatchObject({ state: 'cancelled', usage: { inputTokens: 200, outputTokens: 40 } });
  });

  test('leaves no process of the grandchild alive, nor what it ran in the background', async () => {
    const leaf = join(server.cwd, 'leaf');
    expect(existsSync(leaf)).toBe(true);
    const pid = Number(readFileSync(leaf, 'utf8'));
    await waitFor('what ran in the background is dead', () => !isAlive(pid));
    expect(processesIn(server.cwd).filter(isSleep)).toEqual([]);
  });

  test('ends the sequence: the next message never reaches the model', () => {
    expect(run).toMatchObject({ outcome: 'failed', outcomeCode: 'BUDGET' });
    expect(firstHeard(server.model, 'Never sent.')).toBe(-1);
  });

  test('in dollars, which codex does not tell, is refused', async () => {
    const body = { message: 'Hello.', agent: 'codex', cwd: server.cwd, budget: { usd: 1 } };
    await expect(server.client.call('query', { body })).rejects.toMatchObject({ code: 'NO_USAGE' });
  });
});

function isSleep(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep');
}
