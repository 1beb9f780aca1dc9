import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import type { Waiting } from '../../src/contract/execution.ts';
import { AgentServer } from './agent-server.ts';
import { claudeKit } from './claude-kit.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';
import { opencodeKit } from './opencode-kit.ts';
import { piKit } from './pi-kit.ts';
import { firstHeard } from './model-log.ts';

/** What the model does with the first try of a message; with the second, which says so, it is well again. */
const rules = [
  { when: '^\\[stemma exe_\\w+ again #\\d+\\]', steps: '[[say well again]]' },
  { when: '^Limited', steps: '[[fail 429 resets=5]]' },
  { when: '^Busy', steps: '[[fail 429 resets=3]] [[say well again]]' },
  { when: '^Expired', steps: '[[fail 401]]' },
  { when: '^Next', steps: '[[say next]]' },
];

/**
 * How a limit ends. `instant`: the program passes on what the provider said. `person`: it does not, and a person says so.
 * `byItself`: the program waits within its turn and tries again.
 */
const kits = [
  { kit: codexKit, ends: 'instant' },
  { kit: claudeKit, ends: 'person' },
  { kit: opencodeKit, ends: 'byItself' },
  { kit: piKit, ends: 'person' },
] as const;

describe.each(kits)('limits of the real $kit.name', ({ kit, ends }) => {
  const program = findProgram(kit.name);
  let server: AgentServer;
  beforeAll(async () => {
    if (program) server = await AgentServer.start(kit, program, rules);
  });
  afterAll(() => server?.stop());

  async function waits(runId: string, what: Waiting['for']): Promise<{ id: string; waiting: Waiting }> {
    const until = Date.now() + 45_000;
    for (;;) {
      const run = await server.client.call('getRun', { id: runId });
      const id = run.messages[0]?.attempts[0]?.executionId;
      const row = id === undefined ? undefined : await server.client.call('getExecution', { id });
      if (id !== undefined && row?.waiting?.for === what) return { id, waiting: row.waiting };
      if (Date.now() > until || run.state === 'ended')
        throw new Error(`it does not wait for ${what}: ${JSON.stringify(row)}`);
      await delay(50);
    }
  }

  test.skipIf(!program)('a usage limit is waited out, and the sequence goes on behind it', async () => {
    const first = ends === 'byItself' ? 'Busy: write it.' : 'Limited: write it.';
    const runId = await server.run([first, 'Next: read it.']);
    const { id, waiting } = await waits(runId, 'capacity');
    if (ends === 'person') await answerWhenHeld(server, id);
    else expect(Date.parse(waiting.until ?? '')).toBeGreaterThan(Date.parse(waiting.since));
    expect(await server.ended(runId, 45_000)).toMatchObject({ outcome: 'succeeded' });
    expect(await server.client.call('getExecution', { id })).toMatchObject({ state: 'succeeded' });
    const again = firstHeard(server.model, 'again #1');
    expect(again > -1).toBe(ends !== 'byItself');
    expect(firstHeard(server.model, 'Next: read it.')).toBeGreaterThan(again);
  });

  test.skipIf(!program)('an expired sign-in waits for a person, and is told as one', async () => {
    const runId = await server.run(['Expired: write it.', 'Next: read it.']);
    const { id, waiting } = await waits(runId, 'login');
    expect(waiting.until).toBeUndefined();
    await answerWhenHeld(server, id);
    expect(await server.ended(runId, 45_000)).toMatchObject({ outcome: 'succeeded' });
  });
});

/** Some programs try again by themselves first: only what waits outside a turn can be resumed. */
async function answerWhenHeld(server: AgentServer, id: string): Promise<void> {
  for (let i = 0; i < 900; i++) {
    const { state } = await server.client.call('getExecution', { id });
    if (state === 'queued') break;
    await delay(50);
  }
  await server.client.call('answerExecution', { id, body: { choice: 'resume' } });
}
