import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../e2e/bench.ts';
import { type Kill, playWithKills } from '../e2e/kill-runs.ts';
import { launch, noticeOf, on, say, type ScriptedAgent } from '../e2e/script-words.ts';
import { firstLine, stemma } from '../e2e/server-process.ts';
import { sortedDump } from '../../src/store/conformance/adapters.ts';
import { dumpOfPostgres } from '../../src/store/conformance/dump.ts';
import { recount } from '../../src/ledger/recount.ts';
import { makeDatabase } from './cluster.ts';

const server = process.env['STEMMA_TEST_POSTGRES'];

/** Says that it ran, so that work that ran twice shows. */
const work = (name: string, command: string): string => `echo ${name} >> ran; sleep 0.2; ${command}`;

const nightly: ScriptedAgent = {
  rules: [
    on(noticeOf('tests', 'failed'), launch('tests', work('tests', 'echo fine')), say('Once more.')),
    on(
      '^Run the checks',
      launch('lint', work('lint', 'echo fine')),
      launch('tests', work('tests', 'exit 1')),
      say('Started.'),
    ),
    on('^Publish', launch('publish', work('publish', 'echo online')), say('Started.')),
  ],
};

const kills: readonly Kill[] = [
  { fault: 'commit.before:8' },
  { fault: 'commit.after:6' },
  { fault: 'send.written:1' },
  { fault: 'call.registered:1' },
];

describe.skipIf(server === undefined)('a server on PostgreSQL', () => {
  let bench: Bench;
  let url: string;
  let made = 0;
  beforeEach(async () => {
    bench = Bench.prepare({ nightly });
    url = await makeDatabase(server ?? '', `server_${process.pid}_${++made}`);
  });
  afterEach(() => bench.close(), 60_000);

  const configure = (database: string): void => {
    const config = JSON.parse(readFileSync(bench.configFile, 'utf8')) as object;
    writeFileSync(bench.configFile, JSON.stringify({ ...config, database }));
  };
  const up = ['up', '--port', '0', '--json'];

  it('sends the next message only when the tree of the last one is closed, though it is killed again and again', {
    timeout: 240_000,
  }, async () => {
    configure(url);
    const scene = bench.scene();
    const messages = ['Run the checks.', 'Publish the report.'];
    const played = await playWithKills(bench, { agent: 'nightly', cwd: scene.directory, messages }, kills);
    expect(played).toMatchObject({ faults: [], isAdopted: true, runs: 1, deaths: kills.length });
    expect(played.run.outcome).toBe('succeeded');
    expect((await scene.lines('ran')).sort()).toEqual(played.launched);
    const dump = sortedDump(await dumpOfPostgres(url));
    const counts = recount(dump);
    expect(dump.executions.filter((row) => row.open !== counts.get(row.id))).toEqual([]);
    const [first, second] = dump.executions.filter((row) => row.parentId === null);
    expect(first?.kind).toBe('message');
    expect(second?.startedAt ?? 0).toBeGreaterThanOrEqual(first?.closedAt ?? Number.POSITIVE_INFINITY);
    expect(dump.executions.every((row) => row.closed)).toBe(true);
  });

  it('is the only one on its database', async () => {
    const env = { STEMMA_DATABASE: url };
    const first = await firstLine([...up, '--data', join(bench.directory, 'first')], { env });
    expect(JSON.parse(first.line)).toMatchObject({ event: 'ready' });
    try {
      const second = await stemma([...up, '--data', join(bench.directory, 'second')], { env });
      expect([second.code, JSON.parse(second.stderr)]).toMatchObject([
        4,
        { error: { code: 'DATABASE_IN_USE' } },
      ]);
    } finally {
      await first.process.signal('SIGTERM');
    }
  });

  it('is told by the doctor, which changes nothing', async () => {
    const look = async (): Promise<string> => {
      const place = { cwd: bench.directory, env: { STEMMA_DATABASE: url } };
      const { stdout } = await stemma(['doctor', '--data', bench.dataDir], place);
      return /^\w+ +database: .*(?:\n {6}\S.*)*/m.exec(stdout)?.[0].replaceAll(/\s+/g, ' ') ?? stdout;
    };
    expect(await look()).toMatch(/^ok database: 127\.0\.0\.1:\d+\/\w+, PostgreSQL \d+.*, schema 0 of \d+$/);
    const env = { STEMMA_DATABASE: url };
    const first = await firstLine([...up, '--data', join(bench.directory, 'fourth')], { env });
    try {
      expect(await look()).toMatch(/schema (\d+) of \1, a server works on it$/);
    } finally {
      await first.process.signal('SIGTERM');
    }
  });

  it('says what is wrong with a database that cannot be opened, without its password', async () => {
    const away = new URL(url);
    away.port = '1';
    away.password = 'canary-of-the-database';
    const dataDir = join(bench.directory, 'third');
    const { code, stdout, stderr } = await stemma([...up, '--data', dataDir], {
      env: { STEMMA_DATABASE: away.href },
    });
    expect([code, stdout]).toEqual([5, '']);
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error.code).toBe('DATABASE_UNAVAILABLE');
    expect(error.message).toContain(`127.0.0.1:1${away.pathname}`);
    expect(stderr + readFileSync(join(dataDir, 'stemma.log'), 'utf8')).not.toContain('canary');
  });
});
