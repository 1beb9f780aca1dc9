/**
 * Records what the real program tells its clients, for the unit tests of the driver:
 *
 *   node --import tsx test/real/opencode-record.ts
 *
 * Each scene becomes test/corpus/opencode/VERSION/NAME.jsonl: which session and which texts of ours it is about, then one event a line,
 * as it came, and at the end what the record says of it.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../src/base/clock.ts';
import { OpencodeApi } from '../../src/drivers/opencode/api.ts';
import { EventStream } from '../../src/drivers/opencode/event-stream.ts';
import { readEvent } from '../../src/drivers/opencode/read-event.ts';
import { readAttachment } from '../../src/drivers/opencode/server.ts';
import { messageIdOf } from '../../src/drivers/opencode/state.ts';
import { AgentBench } from './agent-bench.ts';
import { findOpencode, opencodeKit, writeOpencodeHome } from './opencode-kit.ts';

interface Scene {
  readonly name: string;
  readonly text: string;
  /** During the first call, or while it writes: a text is steered in, or steered in and the turn interrupted. */
  readonly during?: 'steer' | 'interrupt';
  /** The answer to the permission that is asked for. */
  readonly reply?: Readonly<Record<string, string>>;
  /** How many times it becomes idle. */
  readonly idles?: number;
  /** The text is a person's. */
  readonly isTyped?: boolean;
}

const child = '[[shell echo in the child]] [[say child done]]';
const task = { description: 'sub', subagent_type: 'general' };

const scenes: readonly Scene[] = [
  { name: 'simple', text: '[[say hello]]' },
  { name: 'typed', text: '[[say hello]]', isTyped: true },
  { name: 'tool', text: '[[shell echo a]] [[say done]]' },
  { name: 'steer-in-tool', text: '[[shell sleep 2]] [[say done]]', during: 'steer' },
  { name: 'steer-in-stream', text: '[[slow 3]]', during: 'steer' },
  { name: 'interrupted-steer', text: '[[shell sleep 30]]', during: 'interrupt' },
  { name: 'usage-limit', text: '[[fail 429 resets=1]]' },
  { name: 'bad-request', text: '[[fail 400]]' },
  { name: 'sign-in', text: '[[fail 401]]' },
  { name: 'permitted', text: '[[shell echo a]] [[say done]]', reply: { reply: 'once' } },
  { name: 'refused', text: '[[shell echo a]] [[say done]]', reply: { reply: 'reject' } },
  {
    name: 'refused-and-told',
    text: '[[shell echo a]] [[say done]]',
    reply: { reply: 'reject', message: 'no' },
  },
  {
    name: 'sub-agent',
    text: `[[tool task ${JSON.stringify({ ...task, prompt: child })}]] [[say parent done]]`,
  },
  {
    name: 'background-sub-agent',
    text: `[[tool task ${JSON.stringify({ ...task, background: true, prompt: '[[shell sleep 2]] [[say child done]]' })}]] [[say left it]]`,
    idles: 2,
  },
];

const program = findOpencode();
if (!program) process.exit(1);
const keepAlive = setInterval(() => undefined, 60_000);
const bench = await AgentBench.start(opencodeKit, program);
writeOpencodeHome(`${bench.directory}/home`, bench.model.url);
const { version = 'unknown' } = await bench.driver.probe(bench.profile());
const target = fileURLToPath(new URL(`../corpus/opencode/${version}`, import.meta.url));
mkdirSync(target, { recursive: true });
const env = { ...bench.profile().env, OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS: 'true' };
const first = await bench.open('first', { profile: bench.profile({ env }) });
const attachment = await readAttachment(first.request.directory);
if (!attachment) throw new Error('no server listens');
const api = new OpencodeApi({ ...attachment, identity: { pid: 2, startedAt: '' } });
let heard: unknown[] = [];
const stream = new EventStream(api, systemClock, {
  onOpen: () => undefined,
  onBroken: () => undefined,
  onEvent: (event) => void heard.push(event),
});
stream.start();
const wanted = process.argv.slice(2);
for (const scene of scenes) if (wanted.length === 0 || wanted.includes(scene.name)) await record(scene);
await stream.close();
await first.conversation.end();
await bench.stop();
clearInterval(keepAlive);
process.exit(0);

async function record(scene: Scene): Promise<void> {
  heard = [];
  const permission = scene.reply ? [{ permission: 'bash', pattern: '*', action: 'ask' }] : [];
  const { id } = (await call('POST', '/session', { title: scene.name, permission })) as { id: string };
  const deliveries = scene.isTyped ? [] : [`${scene.name}-1`, `${scene.name}-2`];
  await send(id, scene.text, deliveries[0]);
  if (scene.during) {
    const mark = scene.text.includes('slow') ? '"message.part.delta"' : '"status":"running"';
    await until(() => told(mark));
    await send(id, 'steered', deliveries[1]);
    if (scene.during === 'interrupt') await call('POST', `/session/${id}/abort`);
  }
  if (scene.reply) {
    await until(() => told('"permission.asked"'));
    const [asked] = (await call('GET', '/permission')) as { id: string; sessionID: string }[];
    await call('POST', `/permission/${asked?.id}/reply`, scene.reply);
  }
  const isIdle = (event: unknown): boolean =>
    JSON.stringify(event).includes('"session.idle"') && JSON.stringify(event).includes(id);
  const finished = scene.during === 'interrupt' || scene.text.includes('fail') ? 2 : (scene.idles ?? 1);
  await until(() => heard.filter(isIdle).length >= finished);
  const messages = await call('GET', `/session/${id}/message`);
  const lines = heard.filter((event) => {
    const read = readEvent(event);
    return Array.isArray(read) ? read.length > 0 : !('mark' in read);
  });
  const all = [{ sessionId: id, deliveries }, ...lines, { record: messages }];
  const text = all.map((line) => JSON.stringify(line)).join('\n');
  const scrubbed = text.replaceAll(bench.directory, '/bench').replaceAll(bench.directory.slice(1), 'bench');
  writeFileSync(
    `${target}/${scene.name}.jsonl`,
    `${scrubbed.replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:1')}\n`,
  );
  console.log(scene.name, lines.length);
}

async function send(sessionId: string, text: string, delivery: string | undefined): Promise<void> {
  const named = delivery === undefined ? {} : { messageID: messageIdOf(delivery) };
  await call('POST', `/session/${sessionId}/prompt_async`, { ...named, parts: [{ type: 'text', text }] });
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await api.call(method, path, body, 60_000);
  if (answer.outcome !== 'ok') throw new Error(answer.message);
  return answer.result;
}

function told(part: string): boolean {
  return heard.some((event) => JSON.stringify(event).includes(part));
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 6000) throw new Error('it did not happen within 60 seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
