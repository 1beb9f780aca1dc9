/**
 * What becomes of a text that pi accepted into a running turn and never took up, seen with the real program:
 *
 *   node --import tsx test/real/pi-queue.ts [TIMES]
 *
 * Each case runs TIMES times (default 20) in a process of its own and prints how often the text was queued at the end, how
 * often the next turn told it to the model, and how often it did after the conversation was loaded again.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type ModelServer, startModelServer } from '../model/model-server.ts';
import { findProgram } from './kit.ts';
import { writePiHome } from './pi-kit.ts';

type Json = Readonly<Record<string, unknown>>;

class Pi {
  readonly heard: Json[] = [];
  readonly child: ChildProcess;
  /** What was heard before this place does not count. */
  mark = 0;
  #count = 0;

  constructor(program: string, directory: string, more: readonly string[] = []) {
    const env = { PATH: process.env['PATH'] ?? '', HOME: directory, PI_OFFLINE: '1' };
    const args = ['--mode', 'rpc', '--model', 'scripted/scripted', ...more];
    this.child = spawn(program, args, { env, cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
    if (!this.child.stdout) throw new Error('no output');
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.heard.push(JSON.parse(line) as Json);
    });
  }

  send(command: Json): string {
    const id = `r${++this.#count}`;
    this.child.stdin?.write(`${JSON.stringify({ id, ...command })}\n`);
    return id;
  }

  async ask(command: Json): Promise<Json> {
    const id = this.send(command);
    return this.until((m) => m['type'] === 'response' && m['id'] === id);
  }

  async until(fits: (message: Json) => boolean, from = this.mark): Promise<Json> {
    for (let i = 0; i < 12_000; i++) {
      const found = this.heard.slice(from).find(fits);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`it did not happen: ${JSON.stringify(this.heard.slice(-3)).slice(0, 800)}`);
  }

  async state(): Promise<{ pendingMessageCount: number; isStreaming: boolean; sessionFile: string }> {
    return (await this.ask({ type: 'get_state' }))['data'] as never;
  }

  async idle(): Promise<void> {
    while ((await this.state()).isStreaming) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  async end(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}

const isType =
  (type: string) =>
  (message: Json): boolean =>
    message['type'] === type;
const isTool = isType('tool_execution_start');
const isEnd = isType('agent_end');

interface Case {
  readonly name: string;
  readonly prompt: string;
  /** When the text is steered in. */
  readonly when: (pi: Pi, model: ModelServer) => Promise<unknown>;
  readonly next?: (pi: Pi) => Promise<unknown>;
  readonly isKilled?: boolean;
}

const modelAsked = (_: Pi, model: ModelServer): Promise<unknown> =>
  model.waitFor((e) => e.type === 'request');
const cases: readonly Case[] = [
  {
    name: 'in a tool, normal end',
    prompt: '[[shell sleep 0.3]] [[say done]]',
    when: (pi) => pi.until(isTool),
  },
  { name: 'in the last stream, normal end', prompt: '[[slow 0.4]]', when: modelAsked },
  { name: 'at the end itself', prompt: '[[say done]]', when: (pi) => pi.until(isType('turn_end')) },
  { name: 'model silent, then 401', prompt: '[[fail 401 0.3]]', when: modelAsked },
  {
    name: 'model silent, then 500 and retries',
    prompt: '[[fail 500 0.3]] [[say better]]',
    when: modelAsked,
    next: (pi) => pi.until(isType('auto_retry_end')),
  },
  {
    name: 'in a tool, abort',
    prompt: '[[shell sleep 5]]',
    when: (pi) => pi.until(isTool),
    next: (pi) => pi.ask({ type: 'abort' }),
  },
  {
    name: 'in a stream, abort',
    prompt: '[[slow 5]]',
    when: modelAsked,
    next: (pi) => pi.ask({ type: 'abort' }),
  },
  { name: 'in a tool, kill -9', prompt: '[[shell sleep 5]]', when: (pi) => pi.until(isTool), isKilled: true },
];

interface Outcome {
  /** pi told of it as a message of the turn. */
  readonly taken: boolean;
  /** A request of the turn carried it. */
  readonly isHeard: boolean;
  readonly pending: number;
  readonly surfaced: boolean;
}

async function run(program: string, one: Case, isReloaded: boolean): Promise<Outcome> {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-pi-queue-'));
  const model = await startModelServer();
  writePiHome(join(directory, '.pi/agent'), model.url);
  let pi = new Pi(program, directory);
  try {
    const { sessionFile } = await pi.state();
    await pi.ask({ type: 'prompt', message: 'first [[say warm]]' });
    await pi.until(isEnd);
    const heard = model.log.length;
    pi.mark = pi.heard.length;
    await pi.ask({ type: 'prompt', message: one.prompt });
    const after = { ...model, waitFor: async () => model.waitFor((e) => model.log.indexOf(e) >= heard) };
    await one.when(pi, after as ModelServer);
    await pi.ask({ type: 'steer', message: 'MARK' });
    if (one.isKilled) {
      await pi.end();
      pi = new Pi(program, directory, ['--session', sessionFile]);
    } else {
      await one.next?.(pi);
      await pi.until(isEnd);
      await pi.idle();
    }
    const pending = (await pi.state()).pendingMessageCount;
    const taken = pi.heard.some((m) => m['type'] === 'message_start' && JSON.stringify(m).includes('"MARK"'));
    const isHeard = model.heard('MARK') > 0;
    if (isReloaded) await pi.ask({ type: 'switch_session', sessionPath: sessionFile });
    const before = pi.heard.length;
    await pi.ask({ type: 'prompt', message: 'PROBE [[say probed]]' });
    await pi.until(isEnd, before);
    const probe = model.requests.filter((r) => JSON.stringify(r.conversation).includes('PROBE'));
    const surfaced = !isHeard && probe.some((r) => JSON.stringify(r.conversation).includes('MARK'));
    return { taken, isHeard, pending, surfaced };
  } finally {
    await pi.end();
    await model.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

const program = findProgram('pi');
if (!program) process.exit(1);
const times = Number(process.argv[2] ?? 20);
const only = process.argv[3];
for (const one of cases.filter(({ name }) => only === undefined || name.includes(only))) {
  for (const isReloaded of [false, true]) {
    const outcomes: Outcome[] = [];
    for (let i = 0; i < times; i++) outcomes.push(await run(program, one, isReloaded));
    const count = (fits: (outcome: Outcome) => boolean): number => outcomes.filter(fits).length;
    const line = {
      case: one.name,
      loadedAgain: isReloaded,
      times,
      taken: count((o) => o.taken),
      heard: count((o) => o.isHeard),
      queuedAtEnd: count((o) => o.pending > 0),
      surfacedLater: count((o) => o.surfaced),
    };
    console.log(JSON.stringify(line));
  }
}
process.exit(0);
