import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution } from '../contract/execution.ts';
import type { Run } from '../contract/run.ts';
import { Bench, Recorder, until } from '../../test/cli/bench.ts';
import { type Answer, exe, execution, instant, problem, ses, tree } from '../../test/cli/contract-server.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

describe('send', () => {
  const sent = { queryId: exe, sessionId: ses, disposition: 'queued' };

  it('prints the id alone on stdout, and the answer of the server with --json', async () => {
    bench.server.routes['POST /query'] = () => ({ status: 202, body: sent });
    const argv = [
      'send',
      '-',
      '--agent',
      'codex',
      '--timeout',
      '1h',
      '--join',
      'all',
      '--idempotency-key',
      'k1',
    ];
    const plain = await bench.stemma(...argv);
    expect(plain).toMatchObject({ code: 0, out: `${exe}\n` });
    expect(plain.err).toContain(ses);
    const queries = () => bench.server.seen.filter(({ route }) => route === 'POST /query');
    expect(queries()[0]?.body).toEqual({
      message: 'from stdin',
      agent: 'codex',
      cwd: bench.directory,
      timeout: 3_600_000,
      join: 'all',
    });
    expect(queries()[0]?.headers['idempotency-key']).toBe('k1');
    const json = await bench.stemma('send', 'Hi.', '--json', '--session', ses, '--reject');
    expect(JSON.parse(json.out)).toEqual(sent);
    expect(queries()[1]?.body).toEqual({ message: 'Hi.', sessionId: ses, whenBusy: 'reject' });
  });

  it.each([
    [{ outcome: 'succeeded' }, 0],
    [{ outcome: 'failed', outcomeCode: 'CHECK_FAILED' }, 1],
    [{ outcome: 'cancelled' }, 1],
    [{ outcome: 'failed', outcomeCode: 'TIMED_OUT' }, 124],
  ] as const)('--wait with %j prints the answer and exits %i', async (end, exit) => {
    let polls = 0;
    bench.server.routes['POST /query'] = () => ({ status: 202, body: sent });
    bench.server.routes[`GET /executions/${exe}/wait`] = () => ({
      body: ++polls < 2 ? { closed: false } : { closed: true, ...end },
    });
    bench.server.routes[`GET /executions/${exe}/tree`] = () => ({
      body: tree(
        execution({ closed: true, closedAt: '2026-01-01T00:00:02.000Z', result: 'It is \x1b[31mdone.' }),
      ),
    });
    const { code, out, err } = await bench.stemma('send', 'Hi.', '--wait');
    expect({ code, out }).toEqual({ code: exit, out: 'It is done.\n' });
    expect(polls).toBe(2);
    const said = err.trim().split('\n').slice(1);
    expect(said).toEqual(
      end.outcome === 'succeeded'
        ? []
        : [`${'outcomeCode' in end ? end.outcomeCode : end.outcome} after 2.0s`],
    );
  });

  it('--wait prints what the agent said last in its own session, not what it said before the results', async () => {
    bench.server.routes['POST /query'] = () => ({ status: 202, body: { ...sent, agent: 'demo' } });
    bench.server.routes[`GET /executions/${exe}/wait`] = () => ({
      body: { closed: true, outcome: 'succeeded' },
    });
    const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;
    const said = (id: string, second: number, result: string, more: Partial<Execution> = {}): Execution =>
      execution({
        id,
        parentId: exe,
        kind: 'continuation',
        endedAt: at(second),
        runsIn: ses,
        result,
        ...more,
      });
    const root = said(exe, 1, 'I started two.', { parentId: null, kind: 'message', closed: true });
    const executions = [
      root,
      said('exe_2', 3, 'Both passed.'),
      said('exe_3', 2, 'One passed.'),
      said('exe_4', 4, ' '),
      said('exe_5', 5, 'Nested.', { runsIn: 'ses_other' }),
      said('exe_6', 6, 'A test.', { kind: 'agent' }),
    ];
    bench.server.routes[`GET /executions/${exe}/tree`] = () => ({ body: tree(root, { executions }) });
    const plain = await bench.stemma('send', 'Hi.', '--wait');
    expect(plain).toMatchObject({
      code: 0,
      out: 'Both passed.\n',
      err: expect.stringContaining('(agent demo)'),
    });
    const { out } = await bench.stemma('send', 'Hi.', '--wait', '--json');
    expect(JSON.parse(out)).toMatchObject({ result: 'I started two.', answer: 'Both passed.' });
  });
});

describe('a look at the agent, before anything is sent', () => {
  const profile = { name: 'codex', driver: 'codex', command: ['codex'] };

  function answerLook(check: { found: boolean; warnings: string[] }, more: object = {}): void {
    bench.server.routes['GET /agents'] = () => ({ body: { items: [{ ...profile, ...more }] } });
    bench.server.routes['POST /agents/codex/check'] = () => ({ body: { name: 'codex', ...check } });
    bench.server.routes['POST /query'] = () => ({
      status: 202,
      body: { queryId: exe, sessionId: ses, disposition: 'started' },
    });
  }
  const routes = (): string[] => bench.server.seen.map(({ route }) => route);

  it('says what its driver warns of, and sends', async () => {
    answerLook({ found: true, warnings: ['It has no sign-in.'] });
    const { code, err } = await bench.stemma('send', 'Hi.', '--agent', 'codex');
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: codex: It has no sign-in\.\nstarted in session/);
    expect(routes()).toEqual(['GET /agents', 'POST /agents/codex/check', 'POST /query']);
  });

  it('refuses what cannot be started, with the exit code of agent check', async () => {
    answerLook({ found: false, warnings: ['There is no program codex.'] }, { isDefault: true });
    writeFileSync(join(bench.directory, 'r.yaml'), 'agent: codex\nmessages: [One.]\n');
    for (const argv of [
      ['send', 'Hi.'],
      ['run', 'r.yaml'],
    ]) {
      const { code, out, err } = await bench.stemma(...argv);
      expect({ argv, code, out }).toEqual({ argv, code: 5, out: '' });
      expect(err).toMatch(/agent codex cannot be started: There is no program codex\..*Nothing was sent/);
    }
    expect(routes().filter((route) => route === 'POST /query' || route === 'POST /runs')).toEqual([]);
  });

  it('is left out where it would start the agent, and where the agent is known already', async () => {
    answerLook({ found: false, warnings: [] }, { driver: 'acp' });
    expect(await bench.stemma('send', 'Hi.', '--agent', 'codex')).toMatchObject({ code: 0 });
    expect(await bench.stemma('send', 'Hi.', '--session', ses)).toMatchObject({ code: 0 });
    expect(routes()).toEqual(['GET /agents', 'POST /query', 'POST /query']);
  });
});

describe('cancel', () => {
  const runId = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';

  it('of a run returns when the run has ended', async () => {
    let state: Run['state'] = 'running';
    const run = (): Run => ({
      id: runId,
      project: 'p',
      state,
      messages: [],
      ...(state === 'ended' ? { outcome: 'cancelled' } : {}),
    });
    bench.server.routes[`GET /runs/${runId}`] = () => ({ body: run() });
    bench.server.routes[`POST /runs/${runId}/cancel`] = () => ({ body: run() });
    const running = bench.command(['cancel', runId]);
    await until(() => bench.server.streams.size > 0);
    state = 'ended';
    bench.server.publish('', 'run.state');
    expect(await running.result).toMatchObject({ code: 0, out: `${runId}: cancelled\n` });
    expect(await bench.stemma('cancel', runId)).toMatchObject({
      code: 0,
      out: `${runId}: cancelled already; nothing was cancelled\n`,
    });
  });

  it('of what is closed says that nothing was cancelled', async () => {
    const closed = execution({ state: 'succeeded', closed: true, outcome: 'succeeded' });
    bench.server.routes[`GET /executions/${exe}`] = () => ({ body: closed });
    expect(await bench.stemma('cancel', exe)).toEqual({
      code: 0,
      out: `${exe}: succeeded already; nothing was cancelled\n`,
      err: '',
    });
  });
});

describe('wait', () => {
  it.each([
    [['turn runs'], 124],
    [['turn runs', 'waits for capacity: come back at noon'], 7],
    [['waits for login', 'waits for input: Delete it?'], 8],
  ])('that gives up says what holds it: %j exits %i', async (evidences, exit) => {
    const holding = evidences.map((evidence) => ({
      executionId: exe,
      name: 'Hello.',
      why: evidence.startsWith('waits') ? 'waiting' : 'running',
      since: instant,
      evidence,
    }));
    bench.server.routes[`GET /executions/${exe}/wait`] = () => ({ body: { closed: false, holding } });
    const { code, out, err } = await bench.stemma('wait', exe, '--timeout', '0s');
    expect({ code, out }).toEqual({ code: exit, out: '' });
    expect(err).toMatch(/- Hello\. \((running|waiting \S+ for (login|input|capacity))/);
  });

  it('goes on over a restart of the server', async () => {
    const answers: Answer[] = [
      { body: { closed: false } },
      problem('STOPPING', 'bye'),
      problem('RECOVERING', 'soon'),
      { body: { closed: true, outcome: 'succeeded' } },
    ];
    bench.server.routes[`GET /executions/${exe}/wait`] = () =>
      answers.shift() ?? problem('INTERNAL', 'asked too often');
    expect(await bench.stemma('wait', exe, '--json')).toMatchObject({
      code: 0,
      out: `{"id":"${exe}","closed":true,"outcome":"succeeded"}\n`,
      err: 'The server is gone; trying again (stemma up starts one).\n',
    });
  });

  it('that the user ends says that the work goes on, with exit code 130', async () => {
    bench.server.routes[`GET /executions/${exe}/wait`] = () => new Promise(() => {});
    const running = bench.command(['wait', exe]);
    await until(() => bench.server.seen.length > 0);
    running.send('SIGINT');
    expect(await running.result).toMatchObject({
      code: 130,
      err: expect.stringMatching(/work goes on[^]*stemma cancel/),
    });
    expect(running.isListening('SIGINT')).toBe(false);
  });
});

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

describe('ls', () => {
  it('shows as open what ended itself and waits for something below, and says for what', async () => {
    const row = { id: exe, name: 'Hello.', kind: 'message', createdAt: instant, ageMs: 8_000 };
    const holding = [{ executionId: 'exe_2', name: 'tests', why: 'running', since: instant, evidence: 'x' }];
    const own = [{ executionId: exe, name: 'Hello.', why: 'running', since: instant, evidence: 'x' }];
    const open = { executions: 1, notices: 0 };
    bench.server.routes['GET /monitor'] = () => ({
      body: {
        items: [
          { ...row, state: 'succeeded', holding, open },
          { ...row, state: 'running', holding: own, open },
        ],
        eventCursor: 'c',
      },
    });
    const { out } = await bench.stemma('ls');
    expect(out.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^exe_01A+  ◎ open     8\.0s  message Hello\.  tests \(running \S+\)$/),
      expect.stringMatching(/^exe_01A+  ● running  8\.0s  message Hello\.$/),
    ]);
  });
});

describe('why', () => {
  it('of a run says where the run stands, and then what holds the message at which it stands', async () => {
    const id = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';
    const failed = { state: 'failed', closed: true, outcome: 'failed' } as const;
    const attempts = [{ executionId: exe, attempt: 1, ...failed }];
    const body = {
      id,
      project: 'p',
      name: 'nightly',
      state: 'ended',
      outcome: 'failed',
      messages: [
        { index: 0, text: 'One.', attempts },
        { index: 1, text: 'Two.', attempts: [] },
      ],
    };
    bench.server.routes[`GET /runs/${id}`] = () => ({ body });
    bench.server.routes[`GET /executions/${exe}`] = () => ({ body: execution(failed) });
    bench.server.routes[`GET /executions/${exe}/tree`] = () => ({ body: tree(execution(failed)) });
    const { code, out } = await bench.stemma('why', id);
    expect({ code, lines: out.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        `run nightly (${id}) ended: failed; 1 of 2 messages closed, 1 never sent.`,
        'message Hello. is closed: failed. Nothing holds it.',
      ],
    });
    expect((await bench.stemma('tree', id)).out).toContain('⊘ message Two. (never sent)');
  });

  it('walks down to what holds it, and says what one can do', async () => {
    const child = execution({ id: 'exe_C', parentId: exe, kind: 'workflow', name: 'nightly' });
    const step = execution({ id: 'exe_S', parentId: 'exe_C', kind: 'step', name: 'tests' });
    const root = execution({ state: 'succeeded', open: 1, endedAt: instant });
    const holding = [{ executionId: 'exe_S', why: 'running', since: instant, evidence: 'heartbeat 2s ago' }];
    const view = tree(root, { executions: [root, child, step], holding });
    for (const one of [root, child]) {
      bench.server.routes[`GET /executions/${one.id}`] = () => ({ body: one });
      bench.server.routes[`GET /executions/${one.id}/tree`] = () => ({ body: view });
    }
    const { code, out } = await bench.stemma('why', exe);
    expect(code).toBe(0);
    expect(out).toMatch(
      /^message Hello\. is open \(\S+; itself succeeded\)\. It waits for:\n- workflow nightly > step tests \(running \S+\)\n {4}heartbeat 2s ago\n {4}-> wait, or stemma cancel exe_S\n$/,
    );
    const json = JSON.parse((await bench.stemma('why', 'exe_C', '--json')).out) as {
      holding: { path: string[] }[];
    };
    expect(json.holding[0]?.path).toEqual(['step tests']);
  });
});
