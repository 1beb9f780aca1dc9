import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Bench } from '../../test/cli/bench.ts';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { VirtualClock } from '../base/virtual-clock.ts';

let edge: RunningEdge;
let bench: Bench;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());
beforeEach(async () => {
  edge.ledger.forget();
  bench = await Bench.open();
  mkdirSync(join(bench.directory, 'shop'));
});
afterEach(() => bench.close());

const clock = new VirtualClock(Date.UTC(2027, 2, 26, 12));
const shop = (): string => join(bench.directory, 'shop');
const write = (text: string): void => writeFileSync(join(shop(), 'stemma.yaml'), text);
const stemma = (...argv: string[]) =>
  bench.command(argv, {
    cwd: shop(),
    env: { STEMMA_URL: edge.url, STEMMA_TOKEN: tokens.operate, TZ: 'America/New_York' },
  }).result;
const alone = (...argv: string[]) =>
  bench.command(argv, { cwd: shop(), clock, env: { TZ: 'America/New_York' } }).result;

const nightly = `
  nightly:
    cron: "30 2 * * *"
    timezone: Europe/Berlin
    agent: demo
    messages: [Test it.]
`;
const importing = `
  import:
    every: 15m
    agent: codex
    cwd: data
    messages: [Fetch the data.]
  report:
    after: { schedule: import, deadline: "06:00" }
    agent: demo
    messages: [Write the report.]
`;

describe('without a server', () => {
  it('the next instants of a file are told in its zone and in yours, with what the clocks do', async () => {
    write(`schedules:${nightly}`);
    const { code, out, err } = await alone('schedule', 'next', 'nightly', '-n', '3');
    expect(code).toBe(0);
    expect(
      out
        .split('\n')
        .slice(0, 4)
        .map((line) => line.trimEnd()),
    ).toEqual([
      expect.stringMatching(/^IN ITS ZONE \(Europe\/Berlin\) +IN YOURS$/),
      expect.stringMatching(/^Sat 2027-03-27 02:30 \+01:00 +Fri 2027-03-26 21:30 -04:00 +in 13h30m$/),
      expect.stringMatching(
        /^Sun 2027-03-28 03:00 \+02:00 +Sat 2027-03-27 21:00 -04:00 +in 1d13h +made up for 02:30/,
      ),
      expect.stringMatching(/^Mon 2027-03-29 02:30 \+02:00 +Sun 2027-03-28 20:30 -04:00/),
    ]);
    expect(err).toContain('At 02:30');
    const json = await alone('schedule', 'next', 'shop/nightly', '-n', '2', '--json');
    expect(JSON.parse(json.out)).toMatchObject({
      timezone: 'Europe/Berlin',
      items: [{ instant: '2027-03-27T01:30:00.000Z' }, { instant: '2027-03-28T01:00:00.000Z' }],
    });
  });

  it('a schedule that runs after another has no instants, and says so; one that is not there is asked for at the server', async () => {
    write(`schedules:${importing}`);
    const report = await alone('schedule', 'next', 'report');
    expect(report).toMatchObject({ code: 0, out: '', err: expect.stringContaining('runs after import') });
    expect((await alone('schedule', 'next', 'nothing')).code).toBe(6);
    const named = await alone('schedule', 'next', 'nothing', '--config', 'stemma.yaml');
    expect(named).toMatchObject({ code: 3, err: expect.stringContaining('there are import, report') });
  });

  it('a dry run checks the file and shows what it says', async () => {
    write(`schedules:${nightly}${importing}`);
    const { code, out, err } = await alone('schedule', 'apply', '--dry-run');
    expect(code).toBe(0);
    expect(out).toMatch(/shop\/nightly +Sat 2027-03-27 02:30 \+01:00 +At 02:30/);
    expect(out).toMatch(/shop\/report +after import, until 06:00/);
    expect(err).toContain('stemma.yaml: 3 schedules are valid.');
    const json = await alone('schedule', 'apply', '--dry-run', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ project: 'shop', dryRun: true, schedules: [{}, {}, {}] });
    expect((await alone('schedule', 'apply')).code).toBe(6);
  });

  it.each([
    [
      'agent: demo',
      'agent: dmeo',
      /^stemma\.yaml:6:12: schedules\.nightly\.agent: no agent "dmeo".*did you mean "demo"\?/,
    ],
    [
      'agent: demo',
      'agent: demo\n    notify: [ops, phon]',
      /:7:19: schedules\.nightly\.notify\[1\]: no target "phon"/,
    ],
    ['"30 2 * * *"', '"30 25 * * *"', /:4:11: schedules\.nightly\.cron: hour: "25" is not from 0 to 23/],
    [
      '"30 2 * * *"',
      '"0 0 30 2 *"',
      /:4:11: schedules\.nightly\.cron: day of month: "0 0 30 2 \*" never comes/,
    ],
    [
      'Europe/Berlin',
      'Europe/Berlim',
      /:5:15: schedules\.nightly\.timezone: "Europe\/Berlim" is no time zone; did you mean Europe\/Berlin/,
    ],
    [
      '[Test it.]',
      '["Test {{dat}}."]',
      /:7:16: schedules\.nightly\.messages\[0\]\.text: line 1, character 6 .*did you mean \{\{date\}\}/,
    ],
    ['[Test it.]', '[]', /:7:15: schedules\.nightly\.messages: needs at least one message/],
    [
      'messages: [Test it.]',
      'workflow: { name: all, retry: 2 }',
      /:7:35: schedules\.nightly\.workflow\.retry: /,
    ],
    ['timezone', 'timzone', /:5:5: the key "timzone" is not known here\. Did you mean "timezone"\?/],
    [
      'cron: "30 2 * * *"',
      'after: { schedule: nightly }',
      /:4:24: schedules\.nightly\.after\.schedule: these run after each other in a circle/,
    ],
  ])('with %j written as %j the place is told', async (right, wrong, says) => {
    write(`schedules:\n${nightly.replace(right, wrong)}`);
    const { code, out, err } = await alone('schedule', 'apply', '--dry-run');
    expect(err.replace(/^stemma: /, '')).toMatch(says);
    expect([code, out]).toEqual([5, '']);
  });

  it('a file that says nothing of schedules is not one that has none', async () => {
    write('limits: { turns: 1 }\n');
    const refused = await alone('schedule', 'apply', '--dry-run');
    expect(refused).toMatchObject({ code: 5, err: expect.stringContaining('says nothing of schedules') });
    write('schedules: {}\n');
    expect((await alone('schedule', 'apply', '--dry-run')).code).toBe(0);
  });
});

describe('a file that is applied', () => {
  it('makes the schedules of the server be its own; the dry run shows the difference', async () => {
    write(`project: store\nschedules:${nightly}${importing}`);
    const dry = await stemma('schedule', 'apply', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      out: '+ store/nightly\n+ store/import\n+ store/report\n',
      err: 'Nothing was changed; it would be: 3 created, 0 changed, 0 removed, 0 unchanged.\n',
    });
    expect(edge.ledger.schedules.rows).toEqual([]);
    await stemma('schedule', 'apply');
    expect(edge.ledger.schedules.rows.map(({ definition }) => definition.cwd)).toEqual([
      shop(),
      join(shop(), 'data'),
      shop(),
    ]);
    write(`project: store\nschedules:${nightly.replace('30 2', '0 3')}`);
    const again = await stemma('schedule', 'apply', 'stemma.yaml');
    expect(again.out).toBe('~ store/nightly  (cron)\n- store/import\n- store/report\n');
    const json = await stemma('schedule', 'apply', '--json');
    expect(JSON.parse(json.out)).toMatchObject({ project: 'store', unchanged: ['nightly'], created: [] });
  });

  it('shows what the server refuses at its place in the file', async () => {
    write(`schedules:${nightly}`);
    const issues = [
      { path: 'schedules.nightly.agent', message: 'no agent "demo" is configured', nearest: 'codex' },
    ];
    edge.ledger.schedules.refusal = {
      ok: false,
      code: 'INVALID_INPUT',
      message: 'Not valid.',
      data: { issues },
    };
    const { code, err } = await stemma('schedule', 'apply');
    expect(err).toMatch(
      /^stemma: stemma\.yaml:5:12: schedules\.nightly\.agent: no agent "demo" is configured\n\n {2}5 \| {5}agent: demo/,
    );
    expect(code).toBe(5);
  });

  it('says what to do when the server does not know an agent or a target that the file describes', async () => {
    const described = 'agents: { shell: { driver: script, command: [sh] } }\n';
    write(`${described}schedules:${nightly.replace('demo', 'shell')}`);
    const refusal = (path: string) => ({
      ok: false as const,
      code: 'INVALID_INPUT' as const,
      message: 'Not valid.',
      data: { issues: [{ path, message: 'is not configured' }] },
    });
    edge.ledger.schedules.refusal = refusal('schedules.nightly.agent');
    const { code, err } = await stemma('schedule', 'apply');
    expect(err).toMatch(/Restart it: stemma down, then stemma up\.\nstemma: stemma\.yaml:6:12: /);
    expect(code).toBe(5);
    edge.ledger.schedules.refusal = refusal('schedules.nightly.cron');
    expect((await stemma('schedule', 'apply')).err).not.toContain('Restart');
    write(`schedules:${nightly.replace('demo', 'shell')}`);
    edge.ledger.schedules.refusal = refusal('schedules.nightly.agent');
    expect((await stemma('schedule', 'apply')).err).not.toContain('Restart');
  });
});

describe('a schedule by flags', () => {
  const add = (...more: string[]) =>
    stemma(
      'schedule',
      'add',
      'nightly',
      '--cron',
      '0 2 * * *',
      '--agent',
      'demo',
      '--message',
      'Test it.',
      ...more,
    );

  it('is added, and not silently over another one', async () => {
    const { code, out } = await add(
      '--message',
      'Repair it.',
      '--timezone',
      'Europe/Berlin',
      '--label',
      'night',
    );
    expect([code, out]).toEqual([0, expect.stringMatching(/^default\/nightly: active; At 02:00.*\n$/)]);
    expect(edge.ledger.schedules.rows[0]?.definition).toMatchObject({
      cwd: shop(),
      labels: ['night'],
      messages: [{ text: 'Test it.' }, { text: 'Repair it.' }],
    });
    const again = await add();
    expect([again.code, again.err]).toEqual([4, expect.stringContaining('--replace')]);
    expect((await add('--replace')).code).toBe(0);
    expect(edge.ledger.schedules.rows[0]?.definition.messages).toHaveLength(1);
  });

  it.each([
    [['--overlap', 'queue'], 2, 'skip, queueOne'],
    [['--every', '15m'], 2, 'there is "cron" already'],
    [['--only-if', ''], 2, 'onlyIf'],
    [['--session', 'new'], 2, 'session'],
  ])('with %j is a usage error', async (more, exit, says) => {
    const { code, err } = await add(...more);
    expect([code, err]).toEqual([exit, expect.stringContaining(says)]);
  });

  it('is listed, shown, paused, resumed, stopped and removed', async () => {
    await add();
    expect((await stemma('schedule', 'ls')).out).toMatch(
      /NAME .*\ndefault\/nightly +active +never +At 02:00/,
    );
    expect((await stemma('schedule', 'pause', 'nightly', '--reason', 'holiday')).out).toMatch(
      /: paused; .*; what comes is skipped until it is resumed$/m,
    );
    expect((await stemma('schedule', 'ls')).out).toMatch(/ paused +never +/);
    const shown = await stemma('schedule', 'show', 'default/nightly');
    expect(shown.out).toMatch(
      /state +paused since .*: holiday\n[^]*overlap +skip\n[^]*catch-up +latest, within 1d00h/,
    );
    expect(JSON.parse((await stemma('schedule', 'show', 'nightly', '--json')).out)).toMatchObject({
      state: 'paused',
    });
    expect((await stemma('schedule', 'resume', 'nightly')).out).toContain('active');
    const { out: runId } = await stemma('schedule', 'trigger', 'nightly');
    expect(runId).toMatch(/^run_\w+\n$/);
    expect((await stemma('schedule', 'occurrences', 'nightly')).out).toMatch(
      new RegExp(`manual +ran +${runId.trim()}`),
    );
    expect((await stemma('schedule', 'runs', 'nightly')).err).toContain('has not run yet');
    expect((await stemma('schedule', 'stop', 'nightly')).out).toBe(runId);
    expect((await stemma('schedule', 'rm', 'nightly')).out).toContain('removed');
    expect(await stemma('schedule', 'show', 'nightly')).toMatchObject({ code: 3 });
    expect((await stemma('schedule', 'ls')).err).toContain('There is no schedule');
  });

  it('is run for a range of its own days', async () => {
    await add('--timezone', 'Europe/Berlin');
    const range = ['--from', '2026-12-01', '--to', '2026-12-03T00:00'];
    const { out, err } = await stemma('schedule', 'backfill', 'nightly', ...range, '--dry-run');
    expect(out).toBe('Tue 2026-12-01 02:00 +01:00\nWed 2026-12-02 02:00 +01:00\n');
    expect(err).toBe('2 instants would run.\n');
    const wrong = await stemma('schedule', 'backfill', 'nightly', '--from', 'monday', '--to', '2026-12-03');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('--from: "monday" is no time')]);
  });
});

describe('run SCHEDULE', () => {
  it('follows the run, and its exit code is the outcome', async () => {
    await stemma('schedule', 'add', 'nightly', '--every', '1h', '--agent', 'demo', '--message', 'Test it.');
    edge.ledger.schedules.onTrigger = (id) =>
      edge.ledger.runs.set(id, {
        id,
        project: 'default',
        state: 'ended',
        outcome: 'failed',
        outcomeCode: 'CHECK_FAILED',
        messages: [],
      });
    const { code, out, err } = await stemma('run', 'nightly');
    expect([code, out]).toEqual([1, expect.stringMatching(/^run run_\w+: failed \(CHECK_FAILED\)/)]);
    expect(err).toMatch(/^run run_/);
  });

  it('that is not begun says why', async () => {
    await stemma('schedule', 'add', 'nightly', '--every', '1h', '--agent', 'demo', '--message', 'Test it.');
    edge.ledger.schedules.triggered = { state: 'skipped', reason: 'overlap: run_1 is still at work' };
    const { code, err } = await stemma('run', 'nightly');
    expect([code, err]).toEqual([4, expect.stringContaining('skipped (overlap: run_1 is still at work)')]);
  });

  it('has a name, which is no id: who asks for it as one is told so', async () => {
    const { code, err } = await stemma('why', 'nightly');
    expect([code, err]).toEqual([3, expect.stringContaining('a name is none')]);
    expect((await stemma('why', 'exe_01K')).err).not.toContain('a name is none');
  });

  it('of a name that nothing has is not found; of a file that is not there too', async () => {
    expect(await stemma('run', 'nothing')).toMatchObject({
      code: 3,
      err: expect.stringContaining('no schedule'),
    });
    expect(await stemma('run', 'nothing.yaml')).toMatchObject({
      code: 3,
      err: expect.stringContaining('run file'),
    });
  });
});

describe('a run that stands still', () => {
  it('is rerun from one of its messages, or resumed', async () => {
    const id = edge.ledger.ids.make('run');
    edge.ledger.runs.set(id, { id, project: 'default', state: 'ended', messages: [] });
    expect((await stemma('rerun', id, '--from', '2')).out).toBe(`run ${id} goes on\n`);
    expect((await stemma('resume', id)).out).toBe(`run ${id} goes on\n`);
    expect(edge.ledger.calls.map(({ what, body }) => [what, body])).toEqual([
      ['rerunRun', { from: 1 }],
      ['resumeRun', undefined],
    ]);
    expect((await stemma('rerun', id)).code).toBe(2);
  });

  it('is rerun from one of its steps, or does one of them alone', async () => {
    const id = edge.ledger.ids.make('run');
    edge.ledger.runs.set(id, { id, project: 'default', state: 'ended', messages: [] });
    await stemma('rerun', id, '--from', 'build');
    await stemma('resume', id, '--from', 'build', '--only');
    expect(edge.ledger.calls.map(({ what, body }) => [what, body])).toEqual([
      ['rerunRun', { from: 'build' }],
      ['rerunRun', { from: 'build', only: true }],
    ]);
    expect(await stemma('resume', id, '--only')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--only needs --from STEP'),
    });
  });
});
