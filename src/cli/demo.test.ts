import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, until } from '../../test/cli/bench.ts';
import type { Run } from '../contract/run.ts';
import type { RunningServer } from './ports.ts';

let bench: Bench;
let stops: { agents?: boolean }[];
beforeEach(async () => {
  bench = await Bench.open();
  stops = [];
});
afterEach(() => bench.close());

/** A server that the command line is made to believe it started. */
async function startServer(): Promise<RunningServer> {
  const tokenFile = join(bench.directory, 'token');
  writeFileSync(tokenFile, 'stm_api_test');
  let tell = (): void => {};
  const stopped = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    url: bench.server.url,
    dataDir: bench.directory,
    tokenFile,
    pid: 1,
    version: '0',
    signInUrl: `${bench.server.url}/signin`,
    stopped,
    async stop(options = {}) {
      stops.push(options);
      tell();
    },
  };
}

describe('the demo', () => {
  const id = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';
  const run: Run = { id, project: 'p', name: 'demo', agent: 'demo', state: 'running', messages: [] };

  it('that is left in the middle says that its sequence goes on at the next start', async () => {
    bench.server.routes['GET /runs'] = () => ({ body: { items: [{ ...run, name: 'nightly' }] } });
    bench.server.routes['POST /runs'] = () => ({ status: 202, body: { runId: id } });
    bench.server.routes[`GET /runs/${id}`] = () => ({ body: run });
    const running = bench.command(['demo'], { startServer });
    await until(() => running.isListening('SIGINT') && bench.server.streams.size > 0);
    running.send('SIGINT');
    const { code, err } = await running.result;
    expect(code).toBe(130);
    expect(err).toContain('The server stops; the sequence goes on at the next start.');
    expect(stops).toEqual([{ agents: true }]);
  });

  it('shows the sequence that an earlier start left open, and begins no second one', async () => {
    bench.server.routes['GET /runs'] = () => ({ body: { items: [run] } });
    bench.server.routes[`GET /runs/${id}`] = () => ({
      body: { ...run, state: 'ended', outcome: 'succeeded' },
    });
    const { code, out, err } = await bench.command(['demo', '--once', '--data', 'd'], { startServer }).result;
    expect(code).toBe(0);
    expect(out).toContain(`run ${id}: succeeded`);
    expect(err).toContain('it goes on');
    expect(bench.server.seen.some(({ route }) => route === 'POST /runs')).toBe(false);
  });
});

describe('a server in the foreground', () => {
  it('that Ctrl-C stops says that agents live on; on SIGTERM it says nothing', async () => {
    for (const [signal, said] of [
      ['SIGINT', 'Stopped. Agents live on; "stemma up" goes on with them.\n'],
      ['SIGTERM', ''],
    ] as const) {
      const running = bench.command(['up'], { startServer });
      await until(() => running.stdout.text.includes('stemma ready'));
      running.send(signal);
      expect(await running.result).toMatchObject({ code: 0, err: said });
    }
  });
});
