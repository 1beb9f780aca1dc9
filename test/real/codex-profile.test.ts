import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TreeView } from '../../src/contract/execution.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit, findCodex } from './codex-kit.ts';
import type { AgentKit } from './kit.ts';

const program = findCodex();
const key = 'key-of-the-scripted-model';

/** Codex with a key that it gets by reference, and whatever else a profile can say to it. */
function kitWith(version: string): AgentKit {
  return {
    ...codexKit,
    profile(path, directory, model) {
      const { env, ...rest } = codexKit.profile(path, directory, model);
      const { SCRIPTED_KEY: _, ...others } = env ?? {};
      const secrets = { SCRIPTED_KEY: `cmd:echo ${key}` };
      return {
        ...rest,
        env: others,
        secrets,
        version,
        effort: 'high',
        sandbox: 'workspace',
        network: 'allowed',
      };
    },
  };
}

/** What Codex wrote down of each turn's settings, in its own record of the conversation. */
function recorded(home: string): string {
  return readdirSync(join(home, 'sessions'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(home, 'sessions', name), 'utf8').split('\n'))
    .filter((line) => line.includes('"turn_context"'))
    .join('\n');
}

describe.skipIf(!program)('a profile of the real codex', () => {
  let server: AgentServer;
  let tree: TreeView;

  beforeAll(async () => {
    server = await AgentServer.start(kitWith('0.171'), program ?? '', []);
    const run = await server.ended(await server.run([`Hello. [[say the key is ${key}]]`]), 60_000);
    [tree] = (await server.trees(run)) as [TreeView];
  }, 90_000);
  afterAll(() => server?.stop(), 60_000);

  test('gives it the secret without which its model could not be asked, and shows it to nobody', () => {
    expect(tree.executions[0]).toMatchObject({
      state: 'succeeded',
      result: 'the key is [secret SCRIPTED_KEY]',
    });
  });

  test('says how hard to think, and whether the network may be used', () => {
    const settings = recorded(join(server.directory, 'home'));
    expect(settings).toContain('"effort":"high"');
    expect(settings).toContain('"network_access":true');
  });
});

describe.skipIf(!program)('another version than the pinned one of the real codex', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(kitWith('0.170.1'), program ?? '', []);
  }, 60_000);
  afterAll(() => server?.stop(), 60_000);

  test('is not started: the message fails and says which version was found', async () => {
    const run = await server.ended(await server.run(['Hello.']), 30_000);
    const [tree] = (await server.trees(run)) as [TreeView];
    expect(tree.executions[0]?.error).toMatchObject({
      code: 'AGENT_UNAVAILABLE',
      message: expect.stringMatching(/pinned to version 0\.170\.1, and .* is version 0\.171\.0/),
    });
    expect(server.model.requests).toEqual([]);
  });
});
