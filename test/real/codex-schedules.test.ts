import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Run } from '../../src/contract/run.ts';
import type { BodyInputOf } from '../../src/contract/routes.ts';
import type { Occurrence } from '../../src/contract/schedule.ts';
import { userTexts } from '../model/model-request.ts';
import { processesWithEnvironment } from '../e2e/living-processes.ts';
import { AgentServer } from './agent-server.ts';
import { codexKit } from './codex-kit.ts';
import { findProgram } from './kit.ts';
import { firstHeard } from './model-log.ts';

const program = findProgram(codexKit.name);
const rules = [
  { when: '^\\[stemma exe_\\w+ again #\\d+\\]', steps: '[[say well again]]' },
  { when: '^LIMITED', steps: '[[fail 429 resets=4]]' },
];
const patienceMs = 60_000;

type Input = BodyInputOf<'putSchedule'>;

describe.skipIf(!program)('schedules with the real Codex', () => {
  let server: AgentServer;
  beforeAll(async () => {
    server = await AgentServer.start(codexKit, program ?? '', rules);
  });
  afterAll(() => server?.stop());

  const put = (name: string, more: Partial<Input> & Pick<Input, 'messages'>): Promise<unknown> =>
    server.client.call('putSchedule', {
      id: name,
      body: {
        agent: codexKit.name,
        cwd: server.cwd,
        cron: '0 2 1 1 *',
        workspace: 'shared',
        ...more,
      } as Input,
    });
  const trigger = async (id: string): Promise<string> =>
    (await server.client.call('triggerSchedule', { id, body: {} })).runId;
  const runOf = async (name: string): Promise<Run> => server.ended(await trigger(name), patienceMs);
  const occurrence = async (name: string, fits: (one: Occurrence) => boolean): Promise<Occurrence> => {
    for (const until = Date.now() + patienceMs; ; await delay(50)) {
      const { items } = await server.client.call('listOccurrences', { id: name });
      const found = items.find(fits);
      if (found) return found;
      if (Date.now() > until) throw new Error(`no such occurrence: ${JSON.stringify(items)}`);
    }
  };
  /** A directory with a repository of one commit. */
  const repository = (name: string): string => {
    const directory = join(server.directory, name);
    mkdirSync(directory);
    writeFileSync(join(directory, 'read.me'), 'first\n');
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@localhost', ...args], { cwd: directory });
    git('init', '-q');
    git('add', '.');
    git('commit', '-qm', 'first');
    return directory;
  };

  test('a fresh conversation knows nothing of the one before, a kept one does', async () => {
    await put('fresh', { session: 'fresh', messages: ['FRESH {{date}} [[say done]]'] });
    const [one, two] = [await runOf('fresh'), await runOf('fresh')];
    expect(one).toMatchObject({ outcome: 'succeeded', schedule: expect.stringContaining('fresh') });
    expect(two.sessionId).not.toBe(one.sessionId);
    await put('kept', { session: 'keep', messages: ['KEPT then "{{previous.result}}" [[say remembered]]'] });
    const [first, second] = [await runOf('kept'), await runOf('kept')];
    expect(second.sessionId).toBe(first.sessionId);
    const told = server.model.requests.map((request) =>
      userTexts(request).filter((said) => said.startsWith('KEPT')),
    );
    expect(told.at(-1)).toEqual([
      'KEPT then "" [[say remembered]]',
      'KEPT then "remembered" [[say remembered]]',
    ]);
    const day = new Date().toISOString().slice(0, 10);
    expect(server.model.requests.flatMap(userTexts)).toContain(`FRESH ${day} [[say done]]`);
  });

  test('a run in a worktree leaves the directory alone, and what it made is kept', async () => {
    const cwd = repository('shop');
    await put('tree', {
      cwd,
      workspace: 'worktree',
      messages: ['[[shell echo mine > made.txt]] [[say made]]'],
    });
    const run = await runOf('tree');
    expect(run.outcome, await server.describe(run)).toBe('succeeded');
    expect(existsSync(join(cwd, 'made.txt'))).toBe(false);
    const listed = execFileSync('git', ['worktree', 'list', '--porcelain'], { cwd, encoding: 'utf8' });
    const paths = [...listed.matchAll(/^worktree (.*)$/gm)].map((match) => match[1] ?? '');
    expect(paths.filter((path) => existsSync(join(path, 'made.txt')))).toHaveLength(1);
  });

  test('two runs that want one directory for themselves work one after the other, and why names the first', async () => {
    const cwd = repository('alone');
    for (const name of ['first', 'second'])
      await put(name, {
        cwd,
        workspace: 'exclusive',
        messages: [`${name} [[slow 2 at work]]`, `${name} ends [[say ended]]`],
      });
    const one = await trigger('first');
    await expect
      .poll(() => firstHeard(server.model, 'first [[slow'), { timeout: patienceMs })
      .toBeGreaterThan(-1);
    const two = await trigger('second');
    await expect
      .poll(async () => (await server.client.call('getRun', { id: two })).waiting, { timeout: patienceMs })
      .toMatchObject({ for: 'workspace', text: expect.stringContaining(one) });
    expect(await server.ended(one, patienceMs)).toMatchObject({ outcome: 'succeeded' });
    expect(await server.ended(two, patienceMs)).toMatchObject({ outcome: 'succeeded' });
    expect(firstHeard(server.model, 'second [[slow')).toBeGreaterThan(firstHeard(server.model, 'first ends'));
  });

  test('an instant whose precondition is false is skipped, with the reason, and asks no model', async () => {
    await put('idle', {
      cron: '* * * * * *',
      onlyIf: 'echo nothing new; exit 3',
      messages: ['NEVER [[say x]]'],
    });
    const skipped = await occurrence('idle', ({ state }) => state === 'skipped');
    await server.client.call('pauseSchedule', { id: 'idle', body: {} });
    expect(skipped.reason).toMatch(/^precondition: .*3.*nothing new/s);
    expect(firstHeard(server.model, 'NEVER')).toBe(-1);
  });

  test('a schedule that follows another one runs for its instant, when all of that is closed', async () => {
    const child = JSON.stringify({ name: 'slow', instruction: 'CHILD [[slow 2 done]]' });
    await put('import', { messages: [`IMPORT [[tool run_in_background ${child}]] [[say started]]`] });
    const { cron: _never, ...follow } = { cron: undefined, after: { schedule: 'import' } };
    await server.client.call('putSchedule', {
      id: 'report',
      body: {
        agent: codexKit.name,
        cwd: server.cwd,
        workspace: 'shared',
        ...follow,
        messages: ['REPORT [[say told]]'],
      },
    });
    const { instant } = await server.client.call('triggerSchedule', { id: 'import', body: {} });
    const ran = await occurrence('report', ({ state }) => state === 'ran');
    expect(ran.instant).toBe(instant);
    expect(await server.ended(ran.runId ?? '', patienceMs)).toMatchObject({ outcome: 'succeeded', instant });
    expect(firstHeard(server.model, 'REPORT')).toBeGreaterThan(firstHeard(server.model, 'slow succeeded'));
  });

  test('a failed message is tried again as a root of its own, and its check decides', async () => {
    const check = 'test -e tried || { touch tried; exit 1; }';
    await put('retry', {
      messages: [
        { text: 'TRIED [[say ok]]', check, retry: { max: 2, backoff: '1s' } },
        'BEHIND [[say behind]]',
      ],
    });
    const run = await runOf('retry');
    expect(run).toMatchObject({
      outcome: 'succeeded',
      messages: [
        {
          attempts: [
            { attempt: 1, outcome: 'failed' },
            { attempt: 2, outcome: 'succeeded' },
          ],
        },
        { attempts: [{ attempt: 1 }] },
      ],
    });
    expect(
      server.model.requests.flatMap((r) => userTexts(r).slice(-1)).filter((t) => t.startsWith('TRIED')),
    ).toHaveLength(2);
  });

  test('a message that is out of time ends with everything below it, processes too', async () => {
    const mark = `hung-${process.pid}`;
    const child = JSON.stringify({ name: 'hung', instruction: `[[shell STEMMA_MARK=${mark} sleep 600]]` });
    await put('hangs', {
      messages: [
        { text: `[[tool run_in_background ${child}]] [[say started]]`, timeout: '6s' },
        'NOT SENT [[say x]]',
      ],
    });
    const id = await trigger('hangs');
    await expect
      .poll(() => processesWithEnvironment(mark).length, { timeout: patienceMs })
      .toBeGreaterThan(0);
    expect(await server.ended(id, patienceMs)).toMatchObject({ outcome: 'failed', outcomeCode: 'TIMED_OUT' });
    expect(processesWithEnvironment(mark)).toEqual([]);
    expect(firstHeard(server.model, 'NOT SENT')).toBe(-1);
  });

  test('a usage limit suspends the run at its message, and it goes on there once, with nothing repeated', async () => {
    await put('limited', { messages: ['BEFORE [[say before]]', 'LIMITED: write.', 'AFTER [[say after]]'] });
    const id = await trigger('limited');
    await expect
      .poll(() => server.client.call('getRun', { id }), { timeout: patienceMs })
      .toMatchObject({ state: 'waiting', waiting: { for: 'capacity', until: expect.any(String) } });
    expect(await server.ended(id, patienceMs)).toMatchObject({
      outcome: 'succeeded',
      messages: [{ attempts: [{}] }, { attempts: [{}] }, { attempts: [{}] }],
    });
    const opened = (part: string): number =>
      new Set(
        server.model.log.flatMap((e) =>
          e.type === 'request' && e.userTexts.at(-1)?.includes(part) ? [e.turnId] : [],
        ),
      ).size;
    expect([opened('BEFORE'), opened('again #'), opened('AFTER')]).toEqual([1, 1, 1]);
  });
});
