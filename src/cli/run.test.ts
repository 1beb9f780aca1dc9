import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution } from '../contract/execution.ts';
import type { Run } from '../contract/run.ts';
import { Bench, Recorder, until } from '../../test/cli/bench.ts';
import { exe, execution, instant, problem, ses, tree } from '../../test/cli/contract-server.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

describe('run', () => {
  const runId = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';
  const second = 'exe_01BBBBBBBBBBBBBBBBBBBBBBBB';

  /** A run of two messages; `advance` moves it on by one step. */
  function playRun(): { readonly advance: () => void } {
    let step = 0;
    const done = { state: 'succeeded', closed: true, endedAt: instant, outcome: 'succeeded' } as const;
    const message = (id: string, name: string, isDone: boolean): Execution =>
      execution({ id, rootId: id, name, ...(isDone ? done : {}) });
    const attempt = (id: string, isDone: boolean) => {
      const end = isDone
        ? { state: 'succeeded' as const, outcome: 'succeeded' as const }
        : { state: 'running' as const };
      return [{ executionId: id, attempt: 1, closed: isDone, ...end }];
    };
    bench.server.routes['POST /runs'] = () => ({ status: 202, body: { runId } });
    bench.server.routes[`GET /runs/${runId}`] = () => {
      const body: Run = {
        id: runId,
        project: 'p',
        sessionId: ses,
        createdAt: instant,
        ...(step < 2 ? {} : { endedAt: instant }),
        state: step < 2 ? 'running' : 'ended',
        ...(step < 2 ? {} : { outcome: 'succeeded' }),
        messages: [
          { index: 0, text: 'One.', attempts: attempt(exe, step > 0) },
          { index: 1, text: 'Two.', attempts: step > 0 ? attempt(second, step > 1) : [] },
        ],
      };
      return { body };
    };
    bench.server.routes[`GET /executions/${exe}/tree`] = () => ({
      body: tree(message(exe, 'One.', step > 0)),
    });
    bench.server.routes[`GET /executions/${second}/tree`] = () => ({
      body: tree(message(second, 'Two.', step > 1)),
    });
    return {
      advance() {
        step++;
        bench.server.publish(exe);
        bench.server.publish('', 'run.state');
      },
    };
  }

  it('sends the file, logs each change, and ends with the outcome', async () => {
    const { advance } = playRun();
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: demo\nmessages: [One., Two.]\n');
    const running = bench.command(['run', 'r.yaml']);
    await until(() => running.stdout.text.includes('running'));
    advance();
    await until(() => running.stdout.text.includes('Two.'));
    advance();
    const { code, out, err } = await running.result;
    expect(code).toBe(0);
    expect(err).toContain(`The answers: stemma tree ${runId} --results`);
    expect(out.replace(/ *\+?\d+(\.\d+)?[smhd]\S*/g, '')).toBe(
      [
        '  ● message One. · running',
        '  ✓ message One. · closed: succeeded',
        '  ● message Two. · running',
        '  ✓ message Two. · closed: succeeded',
        `run ${runId}: succeeded after`,
        '',
      ].join('\n'),
    );
    expect(bench.server.seen.find(({ route }) => route === 'POST /runs')?.body).toMatchObject({
      agent: 'demo',
      cwd: bench.directory,
    });
  });

  it('prints NDJSON with --json', async () => {
    const { advance } = playRun();
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: demo\nmessages: [One., Two.]\n');
    const running = bench.command(['run', 'r.yaml', '--json']);
    await until(() => running.stdout.text.includes('"execution"'));
    advance();
    await until(() => running.stdout.text.includes(second));
    advance();
    const { code, out } = await running.result;
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string });
    expect(code).toBe(0);
    expect(lines[0]).toEqual({ event: 'started', runId });
    expect(lines.at(-1)).toEqual({ event: 'end', id: runId, outcome: 'succeeded' });
    expect(new Set(lines.map(({ event }) => event))).toEqual(new Set(['started', 'run', 'execution', 'end']));
  });

  it('redraws in place on a terminal, and gives the cursor back when the user leaves', async () => {
    playRun();
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: demo\nmessages: [One., Two.]\n');
    const running = bench.command(['run', 'r.yaml'], { stdout: new Recorder(true) });
    await until(() => running.stdout.text.includes('not sent yet'));
    running.send('SIGINT');
    const { code, out, err } = await running.result;
    expect(code).toBe(130);
    expect(err).toMatch(new RegExp(`work goes on[^]*stemma cancel ${runId}`));
    expect(out.startsWith('\x1b[?25l')).toBe(true);
    expect(out.endsWith('\x1b[?25h')).toBe(true);
    expect(bench.server.seen.some(({ route }) => route.endsWith('/cancel'))).toBe(false);
    await until(() => bench.server.streams.size === 0);
  });

  it('says that its server is gone, and goes on when it is back', async () => {
    const { advance } = playRun();
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: demo\nmessages: [One., Two.]\n');
    const running = bench.command(['run', 'r.yaml'], { stdout: new Recorder(true) });
    await until(() => running.stdout.text.includes('running'));
    const known = bench.server.routes[`GET /runs/${runId}`];
    bench.server.routes[`GET /runs/${runId}`] = () => problem('STOPPING', 'bye');
    for (const stream of bench.server.streams) stream.destroy();
    await until(() => running.stdout.text.includes('The server is gone; trying again'));
    if (known) bench.server.routes[`GET /runs/${runId}`] = known;
    advance();
    await until(() => /Two\..*running/.test(running.stdout.text));
    advance();
    expect(await running.result).toMatchObject({ code: 0 });
  });

  it('of an agent that cannot be started exits 5', async () => {
    const { advance } = playRun();
    bench.server.routes[`GET /runs/${runId}`] = () => ({
      body: {
        id: runId,
        project: 'p',
        state: 'ended',
        outcome: 'failed',
        outcomeCode: 'AGENT_UNAVAILABLE',
        createdAt: instant,
        endedAt: '2026-01-01T00:00:07.000Z',
        messages: [{ index: 0, text: 'One.', attempts: [] }],
      },
    });
    advance();
    const { code, out } = await bench.stemma('tree', runId, '--follow');
    expect({ code, out }).toEqual({
      code: 5,
      out: `run ${runId}: failed (AGENT_UNAVAILABLE) after 7.0s\n`,
    });
  });

  it('of a file with a mistake sends nothing and exits 5', async () => {
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: demo\nmesages: [One.]\n');
    const { code, out, err } = await bench.stemma('run', 'r.yaml');
    expect({ code, out, seen: bench.server.seen }).toEqual({ code: 5, out: '', seen: [] });
    expect(err).toContain(
      'r.yaml:2:1: the key "mesages" is not known here. Did you mean "messages"?\n\n  2 | mesages: [One.]\n    | ^\n',
    );
    expect(await bench.stemma('run', 'none.yaml')).toMatchObject({ code: 3 });
  });
});
