import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, until } from '../../test/cli/bench.ts';
import { execution } from '../../test/cli/contract-server.ts';
import type { TranscriptItem } from '../contract/session.ts';

let bench: Bench;
let said: TranscriptItem[];
beforeEach(async () => {
  bench = await Bench.open();
  said = [];
  bench.server.routes[`GET /sessions/${session}/transcript`] = (_body, url) => {
    const after = url.searchParams.get('after');
    const behind = said.slice(after === null ? 0 : said.findIndex(({ id }) => id === after) + 1);
    const items = behind.slice(0, 2);
    return { body: { items, ...(behind.length > 2 ? { nextCursor: items.at(-1)?.id } : {}) } };
  };
});
afterEach(() => bench.close());

const session = 'ses_01AAAAAAAAAAAAAAAAAAAAAAAA';
const at = '2026-12-01T02:00:00Z';
const add = (kind: TranscriptItem['kind'], text: string): void => {
  said.push({ id: String(said.length + 1), at, kind, text });
};

const workflow = { name: 'shop/a', counts: { total: 0, ended: 0, failed: 0 }, steps: [] };

describe('logs', () => {
  it('of a session has all pages, each kind with its sign, and nothing that a terminal would obey', async () => {
    add('user', 'Fix it.\nAll of it.');
    add('toolCall', 'npm test');
    add('text', 'Done \u001b[2J.');
    const { code, out } = await bench.stemma('logs', session);
    expect(code).toBe(0);
    expect(out.trimEnd().split('\n')).toEqual([
      `${at} > Fix it.`,
      '                       All of it.',
      `${at} $ npm test`,
      `${at} < Done .`,
    ]);
    const json = await bench.stemma('logs', session, '--after', '2', '--json');
    expect(
      json.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([said[2]]);
  });

  it('of an execution and of a run are those of its session; what has none says where to look', async () => {
    add('text', 'Hello.');
    const exe = 'exe_01AAAAAAAAAAAAAAAAAAAAAAAA';
    const run = 'run_01AAAAAAAAAAAAAAAAAAAAAAAA';
    bench.server.routes[`GET /executions/${exe}`] = () => ({ body: execution({ id: exe, runsIn: session }) });
    bench.server.routes[`GET /runs/${run}`] = () => ({
      body: { id: run, project: 'shop', state: 'ended', messages: [], workflow },
    });
    expect((await bench.stemma('logs', exe)).out).toBe(`${at} < Hello.\n`);
    expect(await bench.stemma('logs', run)).toMatchObject({
      code: 3,
      err: expect.stringContaining(`each of its steps has: stemma workflow show ${run}`),
    });
  });

  it('are followed until somebody ends it', async () => {
    add('text', 'One.');
    const command = bench.command(['logs', session, '--follow']);
    await until(() => command.stdout.text.includes('One.'));
    add('text', 'Two.');
    await until(() => command.stdout.text.includes('Two.'));
    command.send('SIGINT');
    expect(await command.result).toMatchObject({
      code: 130,
      err: expect.stringContaining('the work goes on'),
    });
    expect(command.stdout.text.match(/One\./g)).toHaveLength(1);
  });
});
