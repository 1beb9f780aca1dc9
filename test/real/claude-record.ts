/**
 * Records what the real program prints, for the unit tests of the driver:
 *
 *   node --import tsx test/real/claude-record.ts          STEMMA_CLAUDE names another program than the installed one
 *
 * Each scene becomes test/corpus/claude/VERSION/NAME.jsonl: one line of output a line, without what depends on the machine,
 * and with long texts cut. The texts of a scene have the UUIDs of `textUuid`.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { argumentsOf, environmentOf } from '../../src/drivers/claude/command-line.ts';
import { AgentBench } from './agent-bench.ts';
import { claudeKit } from './claude-kit.ts';
import { findProgram } from './kit.ts';

type Line = Readonly<Record<string, unknown>>;

interface Scene {
  readonly name: string;
  readonly text: string;
  /** What happens once the first tool call, or the first request of the model, was seen. */
  readonly during?: 'steer' | 'withdraw' | 'interrupt' | 'queueTwo';
  /** So many results, and then idle, and the scene is over. Default 1. */
  readonly results?: number;
  /** What happens after the first idle. */
  readonly after?: 'stopTask' | 'another';
  readonly asks?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

const slowTool = '[[tool slow_echo {"secs":1,"text":"z"}]]';
const subAgent =
  '{"description":"helper","prompt":"[[shell sleep 1]] [[say child]]","subagent_type":"general-purpose","run_in_background":true}';
const scenes: readonly Scene[] = [
  { name: 'simple', text: '[[say hello]]' },
  { name: 'tool', text: '[[tool slow_echo {"secs":0,"text":"a"}]] [[say done]]' },
  { name: 'steer-in-tool', text: `${slowTool} [[say heard]]`, during: 'steer' },
  { name: 'steer-in-stream', text: '[[slow 2 first words]]', during: 'steer', results: 2 },
  { name: 'two-queued', text: '[[slow 2 first words]]', during: 'queueTwo', results: 2 },
  { name: 'withdrawn-steer', text: `${slowTool} [[say done]]`, during: 'withdraw' },
  { name: 'interrupted', text: '[[tool slow_echo {"secs":9,"text":"z"}]]', during: 'interrupt' },
  {
    name: 'usage-limit',
    text: '[[fail 429 resets=600]]',
    env: { ANTHROPIC_API_KEY: '', CLAUDE_CODE_OAUTH_TOKEN: 'x' },
  },
  { name: 'retried', text: '[[fail 529]] [[say at last]]' },
  { name: 'sign-in', text: '[[fail 401]]' },
  { name: 'background', text: '[[background sleep 1]] [[say left]]', results: 2 },
  { name: 'background-within', text: '[[background sleep 2]] [[say left]]', after: 'another', results: 2 },
  { name: 'background-stopped', text: '[[background sleep 60]] [[say left]]', after: 'stopTask', results: 2 },
  { name: 'sub-agent', text: `[[tool Agent ${subAgent}]] [[say parent]]`, results: 2 },
  { name: 'question', text: '[[escalate touch asked.txt]] [[say did it]]', asks: true },
];

/** The UUID of the nth text of a scene. */
const textUuid = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;

let controls = 0;
const program = findProgram(claudeKit.name);
if (!program) process.exit(1);
const bench = await AgentBench.start(claudeKit, program);
const { version = 'unknown' } = await bench.driver.probe(bench.profile());
const target = fileURLToPath(new URL(`../corpus/claude/${version}`, import.meta.url));
mkdirSync(target, { recursive: true });
for (const [index, scene] of scenes.entries()) await record(scene, index);
await bench.stop();
process.exit(0);

async function record(scene: Scene, index: number): Promise<void> {
  const profile = bench.profile({
    onQuestion: scene.asks ? 'ask' : 'deny',
    env: { ...bench.profile().env, ...scene.env },
  });
  const request = bench.request(`record${index}`, { profile });
  const [command = '', ...args] = argumentsOf(
    request,
    `11111111-1111-4111-8111-${String(index).padStart(12, '0')}`,
    false,
  );
  const child = spawn(command, args, {
    cwd: bench.cwd,
    env: environmentOf(profile),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line) as Line));
  const say = (n: number, content: string): void =>
    write(child, {
      type: 'user',
      message: { role: 'user', content },
      parent_tool_use_id: null,
      session_id: '',
      uuid: textUuid(n),
    });
  control(child, { subtype: 'initialize', perTaskStopAffordance: true });
  await until(() => lines.some(({ type }) => type === 'control_response'));
  const from = lines.length;
  const isIdleAfter = (results: number): boolean =>
    lines.filter(({ type }) => type === 'result').length >= results &&
    lines.findLast(({ state, subtype }) => state !== undefined && subtype === 'session_state_changed')?.[
      'state'
    ] === 'idle';
  say(1, scene.text);
  if (scene.asks) await answer(child, lines);
  if (scene.during) {
    await bench.model.waitFor((e) => e.type === 'request' && e.userTexts.at(-1) === scene.text);
    if (scene.text.includes('[[tool')) await until(() => JSON.stringify(lines).includes('"tool_use"'));
    await act(scene.during, child, say);
  }
  if (scene.after) await until(() => isIdleAfter(1));
  if (scene.after === 'another') say(2, '[[shell sleep 3]] [[say done]]');
  if (scene.after === 'stopTask') {
    const task = lines.findLast(({ subtype }) => subtype === 'task_started');
    control(child, { subtype: 'stop_task', task_id: task?.['task_id'] });
    await until(() => lines.some(({ subtype }) => subtype === 'task_notification'));
    say(2, '[[say next]]');
  }
  await until(() => isIdleAfter(scene.results ?? 1));
  child.kill('SIGKILL');
  const text = lines.slice(from).map((line) => JSON.stringify(scrub(line)));
  writeFileSync(join(target, `${scene.name}.jsonl`), `${text.join('\n')}\n`);
  console.log(version, scene.name, text.length);
}

async function act(
  what: NonNullable<Scene['during']>,
  child: ChildProcess,
  say: (n: number, text: string) => void,
): Promise<void> {
  if (what !== 'interrupt') say(2, '[[say second]]');
  if (what === 'queueTwo') say(3, '[[say third]]');
  await new Promise((resolve) => setTimeout(resolve, 200));
  if (what === 'withdraw') control(child, { subtype: 'cancel_async_message', message_uuid: textUuid(2) });
  if (what === 'interrupt') control(child, { subtype: 'interrupt' });
}

async function answer(child: ChildProcess, lines: readonly Line[]): Promise<void> {
  await until(() => lines.some(({ type }) => type === 'control_request'));
  const asked = lines.find(({ type }) => type === 'control_request');
  const { input } = (asked?.['request'] ?? {}) as { input?: unknown };
  const response = { behavior: 'allow', updatedInput: input };
  write(child, {
    type: 'control_response',
    response: { subtype: 'success', request_id: asked?.['request_id'], response },
  });
}

function control(child: ChildProcess, request: Line): void {
  write(child, { type: 'control_request', request_id: `control-${++controls}`, request });
}

function write(child: ChildProcess, message: Line): void {
  child.stdin?.write(`${JSON.stringify(message)}\n`);
}

/** Without what says something of the machine, and with texts only as long as they are told apart by. */
function scrub(line: Line): unknown {
  const kept = ['type', 'subtype', 'session_id', 'mcp_servers', 'capabilities', 'claude_code_version'];
  if (line['subtype'] === 'init') return Object.fromEntries(kept.map((key) => [key, line[key]]));
  return cut(line);
}

function cut(value: unknown): unknown {
  if (typeof value === 'string') {
    const text = value.replaceAll(bench.directory, '/bench').replaceAll(/\/tmp\/[^\s<]*/g, '/output');
    return text.length > 160 ? `${text.slice(0, 160)}…` : text;
  }
  if (Array.isArray(value)) return value.map(cut);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cut(inner)]));
}

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 3000) throw new Error('it did not happen within 30 seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
