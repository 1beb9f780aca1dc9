import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { processesWithEnvironment } from '../e2e/living-processes.ts';
import type { AgentBench } from './agent-bench.ts';
import { findCodex, startCodexBench } from './codex-kit.ts';

const program = findCodex();
const unknown = '00000000-0000-7000-8000-000000000000';

describe.skipIf(!program)('an opening with Codex that fails', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
  });
  afterAll(() => bench.stop());
  const living = (): number => processesWithEnvironment(bench.directory).length;

  it('leaves no server that nobody ends: alone', async () => {
    const { opened } = await bench.tryOpen('alone', { nativeId: unknown, position: 1 });
    expect(opened).toMatchObject({ ok: false, code: 'SESSION_GONE' });
    await expect.poll(living, { timeout: 10_000 }).toBe(0);
  });

  it('leaves no server that nobody ends: beside the end of the last conversation', async () => {
    const old = await bench.open('old');
    await old.turn('Old. [[say old]]');
    const opening = bench.tryOpen('gone', { nativeId: unknown, position: 1 });
    const [{ opened }, ended] = await Promise.all([opening, old.conversation.end()]);
    expect([opened, ended]).toEqual([expect.objectContaining({ ok: false, code: 'SESSION_GONE' }), 'dead']);
    await expect.poll(living, { timeout: 10_000 }).toBe(0);
  });
});
