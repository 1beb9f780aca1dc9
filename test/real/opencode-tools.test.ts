import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findOpencode, startOpencodeBench } from './opencode-kit.ts';

const program = findOpencode();

/** Tool servers of a user under the name of ours: a program, one somewhere else with a bearer of its own, one switched off. */
const theirs: readonly (readonly [string, Record<string, unknown>])[] = [
  ['a program', { type: 'local', command: ['false'], environment: { A: 'b' } }],
  [
    'another address',
    {
      type: 'remote',
      url: 'http://127.0.0.1:1/mcp',
      headers: { authorization: 'Bearer theirs', 'X-Own': '1' },
    },
  ],
  ['switched off', { type: 'remote', url: 'http://127.0.0.1:1/mcp', enabled: false, oauth: { scope: 'x' } }],
];

describe.skipIf(!program)('tools beside a server of the same name', { timeout: 120_000 }, () => {
  it.each(theirs)('are reached with the bearer of their session: %s', async (_, server) => {
    const bench = await startOpencodeBench(program ?? '', { mcp: { stemma: server } });
    try {
      // The project has it too, in both places that opencode reads.
      const config = JSON.stringify({ mcp: { stemma: server } });
      writeFileSync(join(bench.cwd, 'opencode.json'), config);
      mkdirSync(join(bench.cwd, '.opencode'));
      writeFileSync(join(bench.cwd, '.opencode', 'opencode.json'), config);
      const talk = await bench.open('named');
      await talk.turn('[[tool slow_echo {"secs":0,"text":"named"}]] [[say done]]');
      expect(bench.tools.calls.map(({ bearer }) => bearer)).toEqual(['bearer-named']);
      expect(await talk.conversation.end()).toBe('dead');
    } finally {
      await bench.stop();
    }
  });
});
