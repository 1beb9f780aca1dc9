/**
 * Records what the real program tells its clients, for the unit tests of the driver:
 *
 *   node --import tsx test/real/codex-record.ts
 *
 * Each scenario becomes test/corpus/codex/VERSION/NAME.jsonl: one notification a line, as it came.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { RpcClient } from '../../src/drivers/codex/rpc-client.ts';
import { readNotification, threadAnswer, turnStartAnswer } from '../../src/drivers/codex/wire.ts';
import { findCodex, serverDirectoryOf, startCodexBench } from './codex-kit.ts';

interface Scene {
  readonly name: string;
  readonly text: string;
  /** After so many milliseconds of the first call's start, a text is steered in, or the turn is interrupted. */
  readonly during?: 'steer' | 'interrupt';
  /** Waits for this to have happened after the turn's end. */
  readonly until?: string;
}

const scenes: readonly Scene[] = [
  { name: 'simple', text: '[[say hello]]' },
  { name: 'tool', text: '[[tool slow_echo {"secs":0,"text":"a"}]] [[say done]]' },
  { name: 'steer-in-tool', text: '[[tool slow_echo {"secs":1,"text":"z"}]] [[say done]]', during: 'steer' },
  { name: 'steer-in-stream', text: '[[slow 3]] [[say heard]]', during: 'steer' },
  { name: 'interrupted-steer', text: '[[tool slow_echo {"secs":3,"text":"z"}]]', during: 'interrupt' },
  { name: 'usage-limit', text: '[[fail 429 resets=600]]' },
  { name: 'server-error', text: '[[fail 500]]' },
  { name: 'sign-in', text: '[[fail 401]]' },
  {
    name: 'background',
    text: '[[background sleep 1; echo late]] [[say left]]',
    until: '"type":"commandExecution"',
  },
  {
    name: 'sub-agent',
    text: '[[tool spawn_agent {"message":"[[shell sleep 1]] [[say child]]"}]] [[say parent]]',
    until: 'turn/completed',
  },
];

const program = findCodex();
if (!program) process.exit(1);
setInterval(() => undefined, 60_000);
const bench = await startCodexBench(program);
const { version = 'unknown' } = await bench.driver.probe(bench.profile());
const target = fileURLToPath(new URL(`../corpus/codex/${version}`, import.meta.url));
mkdirSync(target, { recursive: true });
const first = await bench.open('first');
let heard: { method: string; params: unknown }[] = [];
const connected = await RpcClient.connect(join(serverDirectoryOf(bench), 's'), systemClock, 5000, {
  onNotification: (method, params) => void heard.push({ method, params }),
  onRequest: () => undefined,
  onNoise: () => undefined,
  onClose: () => undefined,
});
if (!connected.ok) throw new Error(connected.message);
const { client } = connected;
const clientInfo = { name: 'recorder', title: 'recorder', version: '1' };
await client.request('initialize', { clientInfo, capabilities: { experimentalApi: true } }, 10_000);
client.notify('initialized');
for (const scene of scenes) await record(scene);
client.close();
await first.conversation.detach();
await bench.stop();
process.exit(0);

async function record(scene: Scene): Promise<void> {
  heard = [];
  const config = {
    mcp_servers: { stemma: { url: bench.tools.url, default_tools_approval_mode: 'approve' } },
  };
  const settings = { cwd: bench.cwd, approvalPolicy: 'never', sandbox: 'danger-full-access', config };
  const { thread } = threadAnswer.parse(resultOf(await client.request('thread/start', settings, 10_000)));
  const threadId = thread.id;
  const start = { threadId, clientUserMessageId: 'delivery-1', input: toInput(scene.text) };
  const { turn } = turnStartAnswer.parse(resultOf(await client.request('turn/start', start, 10_000)));
  if (scene.during) {
    await until(() => heard.some(({ method, params }) => method === 'item/started' && !isUser(params)));
    const steer = {
      threadId,
      expectedTurnId: turn.id,
      clientUserMessageId: 'delivery-2',
      input: toInput('steered'),
    };
    await client.request('turn/steer', steer, 10_000);
    if (scene.during === 'interrupt')
      await client.request('turn/interrupt', { threadId, turnId: turn.id }, 10_000);
  }
  const isEnd = ({ method, params }: { method: string; params: unknown }): boolean =>
    method === 'turn/completed' && JSON.stringify(params).includes(turn.id);
  await until(() => heard.some(isEnd));
  const { until: last } = scene;
  if (last)
    await until(() =>
      heard.slice(heard.findIndex(isEnd) + 1).some((line) => JSON.stringify(line).includes(last)),
    );
  const lines = heard.filter(({ method, params }) => readNotification(method, params) !== undefined);
  const text = lines.map((line) => JSON.stringify(line)).join('\n');
  writeFileSync(join(target, `${scene.name}.jsonl`), `${text.replaceAll(bench.directory, '/bench')}\n`);
  console.log(scene.name, lines.length);
}

function resultOf(answer: { readonly outcome: string }): unknown {
  if (answer.outcome === 'ok' && 'result' in answer) return answer.result;
  throw new Error(JSON.stringify(answer));
}

function toInput(text: string): unknown {
  return [{ type: 'text', text, text_elements: [] }];
}

function isUser(params: unknown): boolean {
  return JSON.stringify(params).includes('"userMessage"');
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 1500) throw new Error('it did not happen within 15 seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
