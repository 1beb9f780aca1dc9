import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openDatabase } from '../src/store/sqlite/driver.ts';
import { report } from './figures.ts';
import { makeDirectory } from './load.ts';
import { clientOf, start, type Started, stop } from './server-process.ts';
import { type Cost, costOfTenths, databaseMb, heapOfTenths, ServerWatch } from './server-watch.ts';
import { rows, type Shape, steps } from './workflow-shapes.ts';

/*
 * Whether a step of a workflow, or a row of a `foreach`, costs more the more there are: a server of the product, SQLite, its
 * own runner. Only the server's own process is measured, from outside; scripts and agents are processes of their own.
 * `BENCH_SHAPES=chain:1000,layers:5000:agent,rows:10000` says which; `BENCH_NODE_ARGS` is given to the server's Node.
 */
const fallback = 'chain:100,chain:1000,wide:1000,layers:1000,layers:60:agent,rows:1000';
const chosen = (process.env['BENCH_SHAPES'] ?? fallback).split(',').map((text): Shape => {
  const [shape = '', count = '', what] = text.split(':');
  if (shape === 'rows') return rows(Number(count));
  return steps(shape, Number(count), what === 'agent' ? 'agent' : 'script');
});
/** How many agents are at work at once: each is a process of its own, and the others wait in line. */
const turns = 4;
const probe = ['--expose-gc', '--import', new URL('heap-probe.js', import.meta.url).href];
const nodeArgs = (process.env['BENCH_NODE_ARGS'] ?? '').split(' ').filter((word) => word !== '');

/** What one workflow came to. */
interface Measured {
  readonly tenths: readonly [Cost, Cost, Cost];
  readonly heapMb: readonly number[];
  readonly peakMb: number;
  readonly databaseMb: number;
  /** What was read of it when it was over. */
  readonly views: readonly View[];
}

interface View {
  readonly path: string;
  readonly ms: number;
  readonly bytes: number;
}

function place(directory: string, shape: Shape): string {
  for (const [name, text] of Object.entries(shape.files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  const config = join(directory, 'stemma.yaml');
  const file = { apiVersion: 'stemma/v1', project: 'bench', workflows: 'workflows', limits: { turns } };
  writeFileSync(config, JSON.stringify(file));
  return config;
}

async function measure(shape: Shape): Promise<Measured> {
  const directory = makeDirectory();
  const dataDir = join(directory, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const config = place(directory, shape);
  const heap = join(directory, 'heap');
  const env = { STEMMA_DEMO_HOME: join(directory, 'demo'), BENCH_HEAP_FILE: heap };
  const server = await start(dataDir, { config, env, nodeArgs: [...probe, ...nodeArgs] });
  const watch = new ServerWatch(server);
  const ended = await runToItsEnd(server, shape).catch(async (error: unknown) => {
    await stop(server, 'SIGTERM');
    throw error;
  });
  watch.end();
  const size = databaseMb(dataDir);
  const views = await viewsOf(server, ended);
  await stop(server, 'SIGTERM');
  const ends = await endsOf(join(dataDir, 'stemma.db'), ended.root);
  if (ends.length !== shape.count) throw new Error(`${shape.name}: ${ends.length} of ${shape.count} ended`);
  const heapMb = heapOfTenths(heap, ends);
  rmSync(directory, { recursive: true, force: true });
  return { tenths: costOfTenths(watch, ends), heapMb, peakMb: watch.peakMb, databaseMb: size, views };
}

/** What has run: its execution, and its run. */
interface Ended {
  readonly root: string;
  readonly runId: string;
}

async function runToItsEnd(server: Started, shape: Shape): Promise<Ended> {
  const client = clientOf(server);
  const { runId } = await client.call('runWorkflow', { id: shape.name, body: {} });
  for (;;) {
    const { items } = await client.call('listExecutions', { query: { limit: 100 } });
    const root = items.find(({ kind, parentId }) => kind === 'workflow' && parentId === null);
    if (!root) continue;
    for (let isClosed = false; !isClosed; )
      ({ closed: isClosed } = await client.call('waitExecution', {
        id: root.id,
        query: { timeoutMs: 60_000 },
      }));
    const { outcome, error } = await client.call('getExecution', { id: root.id });
    if (outcome !== 'succeeded') throw new Error(`${shape.name} (${runId}) ${outcome}: ${error?.message}`);
    return { root: root.id, runId };
  }
}

/** What people look at, once without being measured: the first of it compiles. */
async function viewsOf(server: Started, { root, runId }: Ended): Promise<View[]> {
  const token = `Bearer ${readFileSync(server.tokenFile, 'utf8').trim()}`;
  const views: View[] = [];
  for (const path of [
    `executions/${root}/workflow`,
    `executions/${root}/tree`,
    `runs/${runId}`,
    'executions',
  ]) {
    const url = `${server.url}/api/v1/${path}`;
    let [ms, bytes] = [Number.NaN, Number.NaN];
    for (let i = 0; i < 3; i++) {
      const begun = performance.now();
      const answer = await fetch(url, { headers: { authorization: token } });
      bytes = (await answer.arrayBuffer()).byteLength;
      ms = performance.now() - begun;
    }
    views.push({ path: path.replace(/(exe|run)_[^/]*/, 'ID'), ms, bytes });
  }
  return views;
}

/** When each step, or each row, was closed: what is farthest below the workflow, in the order of their ends. */
async function endsOf(file: string, root: string): Promise<number[]> {
  const db = await openDatabase(file);
  const read = (sql: string): number[] =>
    db
      .prepare(sql)
      .rows([root])
      .map(([at]) => Number(at));
  const messages = read(
    "SELECT closed_at FROM executions WHERE root_id = ? AND kind = 'message' ORDER BY closed_at",
  );
  const found = read(
    "SELECT closed_at FROM executions WHERE root_id = ? AND kind = 'step' ORDER BY closed_at",
  );
  db.close();
  return messages.length > found.length ? messages : found;
}

const table: string[][] = [
  [
    'shape',
    'CPU of each, ms: first tenth / middle / last',
    'last to first',
    'wall of each, ms',
    'heap in use, MB',
    'resident MB',
    'peak',
    'database MB',
  ],
];
const shown: string[][] = [['shape', 'what', 'ms', 'KB']];
for (const shape of chosen) {
  process.stderr.write(`${shape.name} …\n`);
  const { tenths, heapMb, peakMb, databaseMb: size, views } = await measure(shape);
  const each = (of: keyof Cost, digits: number): string =>
    tenths.map((cost) => cost[of].toFixed(digits)).join(' / ');
  const [first, , last] = tenths;
  table.push([
    shape.name,
    each('cpuMs', 2),
    (last.cpuMs / first.cpuMs).toFixed(2),
    each('wallMs', 1),
    heapMb.map((mb) => mb.toFixed(0)).join(' / '),
    each('residentMb', 0),
    peakMb.toFixed(0),
    size.toFixed(1),
  ]);
  // At once: whoever stops a long list of shapes has what was measured till then.
  process.stderr.write(`${table.at(-1)?.join(' | ')}\n`);
  for (const { path, ms, bytes } of views)
    shown.push([shape.name, path, ms.toFixed(1), (bytes / 1000).toFixed(0)]);
}
report('A step of a workflow, or a row of a foreach, in the server', 'dist', table);
report('What is read of it when it is over', 'dist', shown);
