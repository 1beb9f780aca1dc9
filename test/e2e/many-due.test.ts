import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import type { Event } from '../../src/contract/events.ts';
import type { Holding } from '../../src/contract/execution.ts';
import { Bench } from './bench.ts';
import type { Scene } from './scene.ts';
import { stemma } from './server-process.ts';

/* Many schedules that are due at the same instant, and few turns that may run at once. */

const many = 200;
const turns = 4;

const bench = Bench.prepare({});
afterAll(() => bench.close(), 180_000);

test('200 that are due at once run four at a time, in the order of asking, and each that waits says for whom', {
  timeout: 180_000,
}, async () => {
  const scene = bench.scene(true);
  await startWithAllDue(scene);
  const { events } = bench;
  const waits = (): Event[] => events.of('execution.waiting').filter((event) => waitsFor(event) === 'slot');
  await scene.until(`all but ${turns} wait`, () => waits().length === many - turns);
  await scene.until('the first ones work', async () => (await scene.lines('log')).length === turns);

  const running = events.of('turn.started').map((event) => event.sessionId);
  expect(running).toHaveLength(turns);
  const evidence = await whyOf(waits().at(-1));
  expect(evidence).toMatch(/^waits for slot: 4 of 4 turns are running: ses_\w+ \(run /);
  for (const session of running) expect(evidence).toContain(session);

  scene.open('go');
  await scene.until('each has run', () => endedRuns(events.events).length === many);
  expect(endedRuns(events.events).filter((event) => event.data['outcome'] !== 'succeeded')).toEqual([]);
  expect(mostAtOnce(events.events)).toBe(turns);
  expect(mostInLog(await scene.lines('log'))).toEqual({ begun: many, most: turns });
  const asked = waits().map((event) => event.rootId);
  const started = events.of('execution.started').map((event) => event.rootId);
  expect(started).toHaveLength(many);
  expect(started.slice(turns)).toEqual(asked);
  await expectRowsOfOneInstant();
});

/** Starts the server with a file whose schedules are all due at one instant soon, however long a start takes. */
async function startWithAllDue(scene: Scene): Promise<void> {
  const config = JSON.parse(readFileSync(bench.configFile, 'utf8')) as Record<string, unknown>;
  for (let aheadMs = 3_000; ; aheadMs *= 2) {
    const at = new Date(Math.ceil((Date.now() + aheadMs) / 1_000) * 1_000).toISOString();
    const schedule = (number: number): unknown => ({
      at,
      agent: 'shell',
      cwd: scene.directory,
      workspace: 'shared',
      messages: [`echo +${number} >> log; until [ -e go ]; do sleep 0.1; done; echo -${number} >> log`],
    });
    const numbers = Array.from({ length: many }, (_, index) => index + 1);
    const schedules = Object.fromEntries(numbers.map((number) => [`s${number}`, schedule(number)]));
    writeFileSync(bench.configFile, JSON.stringify({ ...config, limits: { turns }, schedules }));
    const ended = await bench.start();
    if (!ended) return;
    if (!ended.stderr.includes('.at') || aheadMs > 60_000) throw new Error(ended.stderr);
  }
}

/** What `stemma why RUN` says of the run whose message waits. */
async function whyOf(waiting: Event | undefined): Promise<string> {
  const [run] = bench.events.of('run.state', { session: waiting?.sessionId ?? '' });
  const told = await stemma(['why', String(run?.data['runId']), '--json', '--data', bench.dataDir]);
  const { holding } = JSON.parse(told.stdout) as { holding: Holding[] };
  expect(holding).toMatchObject([{ executionId: waiting?.rootId, why: 'waiting' }]);
  return holding[0]?.evidence ?? '';
}

async function expectRowsOfOneInstant(): Promise<void> {
  const schedules = (await bench.client.call('listSchedules', { query: { limit: many } })).items;
  expect(schedules).toHaveLength(many);
  const instants = new Set<string>();
  for (const { project, name } of schedules) {
    const { items } = await bench.client.call('listOccurrences', { id: `${project}/${name}` });
    expect(items).toMatchObject([{ state: 'ran', trigger: 'time' }]);
    for (const { instant } of items) instants.add(instant);
  }
  expect(instants.size).toBe(1);
}

function waitsFor({ data }: Event): unknown {
  const waiting = data['waiting'] as { for: string } | null | undefined;
  return waiting?.for;
}

function endedRuns(events: readonly Event[]): Event[] {
  return events.filter((event) => event.type === 'run.state' && event.data['state'] === 'ended');
}

/** How many turns ran at the same time, at most, as the ledger tells it. */
function mostAtOnce(events: readonly Event[]): number {
  const open = new Set<unknown>();
  let most = 0;
  for (const { type, data } of events) {
    if (type === 'turn.started') open.add(data['turnId']);
    if (type === 'turn.ended') open.delete(data['turnId']);
    most = Math.max(most, open.size);
  }
  return most;
}

/** The same as the agents themselves wrote it down: each a line when it begins, and one before its end. */
function mostInLog(lines: readonly string[]): { begun: number; most: number } {
  const begun = new Set<string>();
  let open = 0;
  let most = 0;
  for (const line of lines) {
    if (line.startsWith('+')) begun.add(line);
    open += line.startsWith('+') ? 1 : -1;
    most = Math.max(most, open);
  }
  return { begun: begun.size, most };
}
