import { readFileSync } from 'node:fs';
import { afterEach, expect, test, vi } from 'vitest';
import { Bench } from '../acp/acp-harness.ts';
import type { Conversation } from '../port.ts';

vi.setConfig({ testTimeout: 90_000 });

/* The example that `stemma demo` plays, prompt by prompt; whole runs of it are tests of the server. */

const example = new URL('../../../examples/demo/background-work.json', import.meta.url);
let bench: Bench;

afterEach(() => bench.close());

async function ask(conversation: Conversation, id: string, text: string): Promise<string[]> {
  const before = bench.events.length;
  await conversation.start({ id, text });
  await bench.event('turnEnded', (end) => end.nativeTurnId === `prompt:${id}`);
  const told = bench.told().slice(before);
  return told.filter((line) => line.startsWith('toolCall') || line.startsWith('ended'));
}

test('the example launches, retries what failed, acknowledges what succeeded, and publishes', async () => {
  bench = new Bench(JSON.parse(readFileSync(example, 'utf8')) as Record<string, unknown>);
  const conversation = await bench.conversation();
  const notice = (name: string, how: string): string =>
    `[stemma ntc_01 #1] ${name} ${how} (exe_01)\nsome result`;
  expect(await ask(conversation, '1', 'Run the nightly checks.')).toEqual([
    'toolCall: run_in_background',
    'toolCall: run_in_background',
    'ended succeeded: Started: lint and tests.',
  ]);
  expect(await ask(conversation, '2', 'Run the tests.')).toEqual([
    'toolCall: npm test',
    'ended failed: agent: The test run broke off: a port was busy.',
  ]);
  const both = `${notice('lint', 'succeeded')}\n\n${notice('tests', 'failed')}`;
  expect(await ask(conversation, '3', both)).toEqual([
    'toolCall: run_in_background',
    'ended succeeded: The second run has started; its result will come to me.',
  ]);
  expect(await ask(conversation, '4', 'Run the tests a second time.')).toEqual([
    'toolCall: npm test',
    'ended succeeded: 118 tests passed; the failure was a busy port.',
  ]);
  expect(await ask(conversation, '5', notice('tests', 'succeeded'))).toEqual([
    'ended succeeded: Noted: tests succeeded.',
  ]);
  expect(await ask(conversation, '6', 'Summarise what the checks found.')).toEqual([
    'ended succeeded: Lint: no problems. Tests: one failure on a busy port, all 118 passed on the second run.',
  ]);
  expect(await ask(conversation, '7', 'Publish the report.')).toEqual([
    'toolCall: run_in_background',
    'ended succeeded: Publishing has started.',
  ]);
});
