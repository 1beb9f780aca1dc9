import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Execution } from '../contract/execution.ts';
import type { Run } from '../contract/run.ts';
import { Bench, until } from '../../test/cli/bench.ts';
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
    await bench.stemma('send', 'Hi.', '--session', ses, '--budget-usd', '2.50', '--budget-tokens', '200k');
    expect(queries()[2]?.body).toMatchObject({ budget: { usd: 2.5, tokens: 200_000 } });
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
      currentId: exe,
      next: 1,
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
        `-> stemma resume ${id} goes on where it stopped`,
      ],
    });
    expect((await bench.stemma('tree', id)).out).toContain('⊘ message Two. (never sent)');
  });

  it('of a run that backs off says until when, and which message failed', async () => {
    const id = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';
    const failed = { state: 'failed', closed: true, outcome: 'failed' } as const;
    const until = new Date(Date.parse(instant) + 60_000).toISOString();
    const body = {
      id,
      project: 'p',
      state: 'waiting',
      waiting: { for: 'retry', since: instant, until, text: 'message 1 failed (TIMED_OUT)' },
      currentId: exe,
      next: 1,
      messages: [{ index: 0, text: 'One.', attempts: [{ executionId: exe, attempt: 1, ...failed }] }],
    };
    bench.server.routes[`GET /runs/${id}`] = () => ({ body });
    const { code, out } = await bench.stemma('why', id);
    expect(code).toBe(0);
    expect(out.replaceAll(/\s+/g, ' ')).toContain(`(until ${until}): message 1 failed (TIMED_OUT).`);
    expect(JSON.parse((await bench.stemma('why', id, '--json')).out)).toMatchObject({ run: { id } });
  });

  it('of what failed names what was not mended by another attempt, and of many the last', async () => {
    const failed = { state: 'failed', closed: true, outcome: 'failed' } as const;
    const error = { code: 'EXIT', message: 'exit code 1' };
    const step = (id: string, name: string, attempt: number, more: object): Execution =>
      execution({
        id,
        parentId: exe,
        kind: 'step',
        name,
        key: `step:${name}`,
        attempt,
        closed: true,
        ...more,
      });
    const root = execution({ ...failed, kind: 'workflow', name: 'nightly' });
    const flaky = Array.from({ length: 12 }, (_, n) => [
      step(`exe_F${n}`, `flaky${n}`, 1, { state: 'failed' }),
      execution({
        id: `exe_G${n}`,
        parentId: `exe_F${n}`,
        kind: 'message',
        name: `try ${n}`,
        ...failed,
        error,
      }),
      step(`exe_H${n}`, `flaky${n}`, 2, { state: 'succeeded' }),
    ]).flat();
    const last = step('exe_L', 'deploy', 1, { state: 'failed', error });
    bench.server.routes[`GET /executions/${exe}`] = () => ({ body: root });
    bench.server.routes[`GET /executions/${exe}/tree`] = () => ({
      body: tree(root, { executions: [root, ...flaky, last] }),
    });
    const { out } = await bench.stemma('why', exe, '--json');
    const { failures } = JSON.parse(out) as { failures: { executionId: string }[] };
    expect(failures.map(({ executionId }) => executionId)).toEqual(['exe_L']);
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
