import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AgentServer } from '../test/real/agent-server.ts';
import { type AgentKit, findProgram } from '../test/real/kit.ts';
import { findKits } from '../test/real/kits.ts';
import { percentile, report } from './figures.ts';

/*
 * What agents cost the server, and how soon it knows that a turn has ended. Real programs on the scripted model; only the
 * server's own process is measured. `BENCH_AGENTS`: how many run at once (20); `BENCH_TURNS`: how many turns are timed (40).
 */
const running = Number(process.env['BENCH_AGENTS'] ?? 20);
const turns = Number(process.env['BENCH_TURNS'] ?? 40);
const idleSessions = 100;
const seconds = 10;
const ticksPerSecond = 100;

function ticks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? Number.NaN) / 1024;
}

/** Its share of one core over some seconds, and its memory at their end. */
async function cost(pid: number): Promise<readonly [string, string]> {
  const before = ticks(pid);
  await delay(seconds * 1000);
  const share = ((ticks(pid) - before) / ticksPerSecond / seconds) * 100;
  return [`${share.toFixed(1)} %`, residentMb(pid).toFixed(0)];
}

async function until(condition: () => Promise<boolean>, what: () => Promise<string>): Promise<void> {
  for (let i = 0; i < 2400; i++) {
    if (await condition()) return;
    await delay(50);
  }
  throw new Error(`it did not happen within two minutes: ${await what()}`);
}

/** Why turns ended that were to go on: each reason once. */
async function failures(server: AgentServer): Promise<string> {
  const { items } = await server.client.call('listExecutions', { query: { limit: 100 } });
  const ended = items.flatMap(({ outcomeCode, error }) =>
    outcomeCode ? [error?.message ?? outcomeCode] : [],
  );
  return ended.length === 0 ? 'none failed' : `${ended.length} failed: ${[...new Set(ended)].join('; ')}`;
}

async function openSessions(server: AgentServer, agent: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++)
    ids.push((await server.client.call('createSession', { body: { agent, cwd: server.cwd } })).id);
  return ids;
}

/** Every session works on a long answer at the same time, while the server is measured. */
async function costOfRunning(
  server: AgentServer,
  sessions: readonly string[],
): Promise<readonly [string, string]> {
  // Long enough for the last of them to begin while the first still runs: each takes seconds of a core to come up. No word
  // comes twice, since an agent that watches for loops ends a turn that repeats itself; and no text, since the model knows
  // the conversations of agents that name none by what is said in them.
  const words = Array.from({ length: 2000 }, (_, i) => `word${i}`);
  for (const [i, sessionId] of sessions.entries()) {
    const message = `Number ${i}. [[slow 600 ${words.join(' ')}]]`;
    await server.client.call('query', { body: { sessionId, message } });
  }
  const streaming = (): number =>
    server.model.log.filter((event) => event.type === 'request').length -
    server.model.log.filter((event) => event.type === 'ended').length;
  await until(
    async () => streaming() >= sessions.length,
    async () => `${sessions.length} turns stream; ${streaming()} do, and ${await failures(server)}`,
  );
  const measured = await cost(server.pid);
  for (const id of sessions) await server.client.call('stopSession', { id, body: {} });
  return measured;
}

interface Delays {
  readonly fromModel: number[];
  /** Where the agent writes a file: from the last byte in it. */
  readonly fromFile: number[];
}

/** Short turns one after the other: from the last byte of the model's answer, and of the agent's output, to the settled turn. */
async function delaysOf(server: AgentServer, agent: string): Promise<Delays> {
  const [sessionId = ''] = await openSessions(server, agent, 1);
  const output = join(server.directory, 'data', 'sessions', sessionId, 'out.log');
  const delays: Delays = { fromModel: [], fromFile: [] };
  for (let i = 0; i < turns; i++) {
    const { queryId: id } = await server.client.call('query', {
      body: { sessionId, message: '[[say ready]]' },
    });
    await server.client.call('waitExecution', { id, query: { timeoutMs: 60_000 } });
    const { endedAt = '' } = await server.client.call('getExecution', { id });
    const settled = Date.parse(endedAt);
    const answered = server.model.log.findLast((event) => event.type === 'ended')?.at ?? Number.NaN;
    delays.fromModel.push(settled - answered);
    const written = statSync(output, { throwIfNoEntry: false })?.mtimeMs;
    if (written !== undefined) delays.fromFile.push(Math.max(0, settled - written));
  }
  await server.client.call('stopSession', { id: sessionId, body: {} });
  return delays;
}

function shown(values: readonly number[]): string {
  if (values.length === 0) return '-';
  return `${percentile(values, 0.5).toFixed(0)} / ${percentile(values, 0.99).toFixed(0)}`;
}

async function measure(kit: AgentKit, program: string): Promise<readonly string[]> {
  const server = await AgentServer.start(kit, program, []);
  try {
    const delays = await delaysOf(server, kit.name);
    const sessions = await openSessions(server, kit.name, running);
    const [cpu, memory] = await costOfRunning(server, sessions);
    return [kit.name, cpu, memory, shown(delays.fromModel), shown(delays.fromFile)];
  } finally {
    await server.stop();
  }
}

async function idle(kit: AgentKit, program: string): Promise<void> {
  const server = await AgentServer.start(kit, program, []);
  await openSessions(server, kit.name, idleSessions);
  const before = readdirSync('/proc').length;
  const [cpu, memory] = await cost(server.pid);
  report(`${idleSessions} idle sessions without a process, for ${seconds} s`, 'dist', [
    ['server CPU (of one core)', 'resident MB', 'processes begun'],
    [cpu, memory, String(Math.max(0, readdirSync('/proc').length - before))],
  ]);
  await server.stop();
}

const chosen = process.env['BENCH_KITS']?.split(',');
const kits = (await findKits()).filter((kit) => chosen?.includes(kit.name) ?? true);
const installed = kits.flatMap((kit) => {
  const program = findProgram(kit.program ?? kit.name);
  return program === undefined ? [] : [{ kit, program }];
});
const [first] = installed;
if (first) await idle(first.kit, first.program);
const rows: (readonly string[])[] = [];
for (const { kit, program } of installed) {
  process.stderr.write(`${kit.name} …\n`);
  rows.push(await measure(kit, program));
}
report(`${running} agents streaming, ${seconds} s; then ${turns} short turns, one after the other`, 'dist', [
  ['agent', 'server CPU', 'resident MB', 'model to settled, p50 / p99 ms', 'file to settled, p50 / p99 ms'],
  ...rows,
]);
process.exit(0);
