/**
 * Records what the real program writes, for the unit tests of the driver:
 *
 *   node --import tsx test/real/pi-record.ts
 *
 * Each scene becomes test/corpus/pi/VERSION/NAME.jsonl: what was sent to it (`{"text"}`), then each line of its output and
 * how far into the output it went (`{"line", "end"}`).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { AgentBench } from './agent-bench.ts';
import { findPi, piKit } from './pi-kit.ts';

interface Scene {
  readonly name: string;
  readonly text: string;
  /** What is done when the first call has begun, or the answer, if there is none. */
  readonly during?: 'steer' | 'interrupt' | 'steer and interrupt';
}

const scenes: readonly Scene[] = [
  { name: 'simple', text: '[[say hello]]' },
  { name: 'tool', text: '[[tool slow_echo {"secs":0,"text":"a"}]] [[say done]]' },
  { name: 'steer-in-tool', text: '[[tool slow_echo {"secs":1,"text":"z"}]] [[say done]]', during: 'steer' },
  { name: 'interrupted-tool', text: '[[shell sleep 9]]', during: 'interrupt' },
  { name: 'interrupted-steer', text: '[[hang 9]]', during: 'steer and interrupt' },
  { name: 'usage-limit', text: '[[fail 429 resets=600]]' },
  { name: 'server-error', text: '[[fail 500]]' },
  { name: 'sign-in', text: '[[fail 401]]' },
  { name: 'cut', text: '[[drop 0.3]]' },
];

const program = findPi();
if (!program) process.exit(1);
const bench = await AgentBench.start(piKit, program);
const { version = 'unknown' } = await bench.driver.probe(bench.profile());
const target = fileURLToPath(new URL(`../corpus/pi/${version}`, import.meta.url));
mkdirSync(target, { recursive: true });
for (const scene of scenes) await record(scene);
await bench.stop();
process.exit(0);

async function record({ name, text, during }: Scene): Promise<void> {
  const talk = await bench.open(name);
  await talk.turn('[[say warm]]');
  const before = bench.model.requests.length;
  await talk.conversation.start({ id: 'delivery-1', text });
  await bench.model.waitFor((e) => e.type === 'request' && e.number > before);
  if (text.includes('[[shell') || text.includes('[[tool'))
    await talk.event('item', (e) => e.item.kind === 'toolCall');
  if (during?.includes('steer')) await talk.conversation.steer({ id: 'delivery-2', text: 'steered' });
  if (during?.includes('interrupt')) await talk.conversation.interrupt();
  await talk.event('turnEnded', (e) => e.nativeTurnId.endsWith('delivery-1'));
  await talk.conversation.detach();
  const { directory } = talk.request;
  const sent = readFileSync(join(directory, 'sent.log'), 'utf8').split('\n');
  const texts = sent.filter((line) => line.startsWith('{"t":"text"')).map((line) => `{"text":${line}}`);
  const output = readFileSync(join(directory, 'out.log'), 'utf8').split('\n').slice(0, -1);
  let end = 0;
  const lines = output.flatMap((line) => {
    end += Buffer.byteLength(line) + 1;
    // Pieces of answers repeat everything that was said before them, and the driver passes them over.
    return line.startsWith('{"type":"message_update"') ? [] : [JSON.stringify({ line, end })];
  });
  const whole = [...texts, ...lines].map((line) => `${line}\n`).join('');
  writeFileSync(join(target, `${name}.jsonl`), whole.replaceAll(bench.directory, '/bench'));
  console.log(name, lines.length);
}
