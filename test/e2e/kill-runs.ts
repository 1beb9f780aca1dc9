import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StemmaError } from '../../src/base/errors.ts';
import type { RunFileInput } from '../../src/contract/run-file.ts';
import type { Run } from '../../src/contract/run.ts';
import type { Bench } from './bench.ts';
import { commandOf, isAlive } from './living-processes.ts';
import { noticesIn } from './script-words.ts';
import { waitFor } from './wait-for.ts';

/**
 * How a server is killed: at a fault point of its own, or so many milliseconds after the run was accepted, with all that
 * it had started if that is said.
 */
export type Kill = { readonly fault: string } | { readonly afterMs: number; readonly withAgents?: true };

/** What was left when the run had ended, for the test to judge. */
export interface KilledRun {
  readonly run: Run;
  /** How many servers died by the kills that were asked for. */
  readonly deaths: number;
  /** How many runs there are for the one request, however often it was repeated. */
  readonly runs: number;
  /** The names of the background agents that were launched below its messages, sorted. */
  readonly launched: readonly string[];
  /** Every prompt that the agent of the run was given, by its own record. */
  readonly prompts: readonly string[];
  /** Whether the agent that began the conversation is still the one that serves it. */
  readonly isAdopted: boolean;
  /** What is wrong with the record, in words; empty when each text reached the agent once and nothing is left open. */
  readonly faults: readonly string[];
}

/** Tells it from the runs of the background agents that it launches. */
const runName = 'the one run';

/** How long a run may take with all its restarts, in milliseconds. */
const runMs = 60_000;

/**
 * Plays a run to its end on servers that are killed one after the other, each followed by the next on the same data. The
 * client does what a careful client does: it repeats, with its key, what it got no answer to.
 */
export async function playWithKills(
  bench: Bench,
  body: RunFileInput,
  kills: readonly Kill[],
): Promise<KilledRun> {
  const left = [...kills];
  let deaths = 0;
  let runId: string | undefined;
  for (;;) {
    const kill = left.shift();
    const ended = await bench.start(kill && 'fault' in kill ? { STEMMA_FAULT: kill.fault } : {});
    if (ended?.signal === 'SIGKILL') deaths++;
    else if (ended) throw new Error(`the server did not start: ${ended.stderr}`);
    if (ended) continue;
    runId ??= await accept(bench, body);
    if (runId === undefined) deaths += await death(bench);
    else if (kill && 'afterMs' in kill) {
      await wait(kill.afterMs);
      await bench.kill();
      if (kill.withAgents) for (const pid of bench.agentProcesses()) process.kill(pid, 'SIGKILL');
      deaths++;
    } else if (await endsHere(bench, runId)) return judge(bench, runId, deaths);
    else deaths += await death(bench);
  }
}

/** The id of the run; undefined when the server died before it answered. */
async function accept(bench: Bench, body: RunFileInput): Promise<string | undefined> {
  return unlessDead(async () => {
    const once = { body: { ...body, name: runName }, idempotencyKey: runName };
    const { runId } = await bench.client.call('createRun', once);
    return runId;
  });
}

/** True when the run has ended, false when the server has died. */
async function endsHere(bench: Bench, id: string): Promise<boolean> {
  const { process } = bench.server;
  const isDecided = async (): Promise<'ended' | 'dead' | undefined> => {
    if (process.isOver) return 'dead';
    const run = await unlessDead(() => bench.client.call('getRun', { id }));
    return run?.state === 'ended' ? 'ended' : undefined;
  };
  const seen = (): unknown => unlessDead(() => bench.client.call('monitor'));
  return (await waitFor(`${id} has ended`, isDecided, { withinMs: runMs, seen, everyMs: 100 })) === 'ended';
}

async function death(bench: Bench): Promise<number> {
  const { signal } = await bench.server.process.ended;
  return signal === 'SIGKILL' ? 1 : 0;
}

async function unlessDead<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StemmaError && error.code === 'UNREACHABLE') return undefined;
    throw error;
  }
}

async function judge(bench: Bench, runId: string, deaths: number): Promise<KilledRun> {
  const { client } = bench;
  const run = await client.call('getRun', { id: runId });
  const { nativeId = '' } = await client.call('getSession', { id: run.sessionId ?? '' });
  const prompts = promptsOf(bench, nativeId);
  const runs = (await client.call('listRuns')).items.filter(({ name }) => name === run.name);
  const { items: live } = await client.call('monitor');
  const { items: notices } = await client.call('listNotices', { query: { limit: 500 } });
  // A result that is handed over again says so.
  const handed = prompts.filter((prompt) => !prompt.includes('(delivered again')).flatMap(noticesIn);
  const owed = notices.filter(({ sessionId }) => sessionId === run.sessionId).map(({ id }) => id);
  const faults = [
    ...twice(prompts.filter((prompt) => noticesIn(prompt).length === 0)).map((text) => `sent twice: ${text}`),
    ...twice(handed).map((id) => `handed twice: ${id}`),
    ...owed.filter((id) => !handed.includes(id)).map((id) => `never handed: ${id}`),
    ...notices
      .filter(({ state }) => state !== 'handled' && state !== 'waived')
      .map(({ id, state }) => `${id} is ${state}`),
    ...live.map(({ id, name }) => `still open: ${id} ${name}`),
    ...(await strangers(bench)),
  ];
  return {
    run,
    deaths,
    runs: runs.length,
    launched: await launchedBy(bench, run),
    prompts,
    isAdopted: wasAdopted(nativeId),
    faults,
  };
}

async function launchedBy(bench: Bench, run: Run): Promise<string[]> {
  const roots = run.messages.flatMap(({ attempts }) => attempts.map(({ executionId }) => executionId));
  const trees = await Promise.all(roots.map((id) => bench.client.call('getTree', { id })));
  const rows = trees.flatMap(({ executions }) => executions);
  return rows
    .filter(({ kind }) => kind === 'agent')
    .map(({ name }) => name)
    .sort();
}

function promptsOf(bench: Bench, nativeId: string): string[] {
  const file = join(bench.home, `${nativeId}.json`);
  if (!existsSync(file)) return [];
  return (JSON.parse(readFileSync(file, 'utf8')) as { turns: { prompt: string }[] }).turns.map(
    ({ prompt }) => prompt,
  );
}

function twice(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, index) => texts.indexOf(text) !== index))];
}

/** A demo agent puts its process into the id of a conversation that it begins, not of one that it loads. */
function processOf(nativeId: string): number {
  return Number(/-(\d+)-\d+$/.exec(nativeId)?.[1]);
}

function wasAdopted(nativeId: string): boolean {
  return isAlive(processOf(nativeId));
}

/** Processes of agents beside the one of the run, a while after all that they worked for has closed. */
async function strangers(bench: Bench): Promise<string[]> {
  const surplus = (): number[] => bench.agentProcesses().slice(1);
  await waitFor('one agent lives', () => surplus().length === 0).catch(() => undefined);
  return surplus().map((pid) => `more than one agent: ${commandOf(pid)}`);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
