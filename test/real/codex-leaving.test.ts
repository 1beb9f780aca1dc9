import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AgentBench } from './agent-bench.ts';
import { findCodex, startCodexBench } from './codex-kit.ts';

const program = findCodex();

describe.skipIf(!program)('a conversation of Codex that is opened while the last other one is ended', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
  });
  afterAll(() => bench.stop());

  it('is not ended with it, whichever of the two is asked for first', async () => {
    for (const first of ['opened', 'ended', 'opened', 'ended']) {
      const name = `${first}-${bench.model.requests.length}`;
      const old = await bench.open(`old-${name}`);
      await old.turn('Old. [[say old]]');
      const early = first === 'opened' ? bench.open(`new-${name}`) : undefined;
      const ending = old.conversation.end();
      const [talk] = await Promise.all([early ?? bench.open(`new-${name}`), ending]);
      expect(await ending).toBe('dead');
      expect(await talk.turn('New. [[say new]]')).toMatchObject({ status: 'succeeded', answer: 'new' });
      expect(talk.all('exited')).toEqual([]);
      expect(await talk.conversation.end()).toBe('dead');
    }
  });
});
