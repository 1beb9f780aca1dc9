import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startEdge, tokens } from '../../test/edges/running-edge.ts';
import type { RunningEdge } from '../../test/edges/running-edge.ts';
import { problem } from '../contract/problem.ts';
import { describeApi } from './openapi.ts';

let edge: RunningEdge;
beforeAll(async () => {
  edge = await startEdge();
});
afterAll(() => edge.stop());
beforeEach(() => edge.ledger.forget());

const nightly = {
  cron: '0 2 * * *',
  timezone: 'Europe/Berlin',
  agent: 'demo',
  cwd: '/shop',
  messages: ['Test it.', { text: 'Repair it.', timeout: '2h' }],
};
const at = (path: string): string => `/api/v1/schedules${path}`;
const send = async (method: string, path: string, body?: unknown, token: string = tokens.operate) => {
  const response = await edge.call(at(path), {
    method,
    token,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};
const refused = async (method: string, path: string, body?: unknown, token?: string) => {
  const answer = await send(method, path, body, token);
  return problem.parse(answer.body);
};

describe('a schedule that is put', () => {
  test('is answered whole, and can be sent back as it was answered', async () => {
    const made = await send('PUT', '/nightly', nightly);
    expect(made.status).toBe(200);
    expect(made.body).toMatchObject({
      id: expect.stringMatching(/^sch_/),
      project: 'default',
      name: 'nightly',
      origin: 'api',
      state: 'active',
      revision: 1,
      definition: {
        cron: '0 2 * * *',
        overlap: 'skip',
        session: { mode: 'fresh' },
        messages: [
          { text: 'Test it.', timeout: 14_400_000 },
          { text: 'Repair it.', timeout: 7_200_000 },
        ],
      },
    });
    const again = await send('PUT', '/nightly', made.body['definition']);
    expect(again.body).toMatchObject({ revision: 1, definition: made.body['definition'] });
  });

  test('is replaced whole: what the body leaves out has its default again', async () => {
    await send('PUT', '/nightly', { ...nightly, overlap: 'queueOne', labels: ['night'] });
    const { body } = await send('PUT', '/nightly', nightly);
    expect(body).toMatchObject({ revision: 2, definition: { overlap: 'skip', labels: [] } });
  });

  test.each([
    [{ messages: [] }, 'messages', 'needs at least one message'],
    [{ messages: undefined }, 'messages', 'is missing; a schedule needs messages or a workflow'],
    [{ cron: '0 2 * *' }, 'cron', '"0 2 * *" has 4 fields'],
    [{ workflow: 'all' }, 'workflow', 'there is "messages" already'],
    [{ timezone: 'Berlin' }, 'timezone', '"Berlin" is no time zone; did you mean Europe/Berlin?'],
    [{ overlaps: 'skip' }, 'overlaps', 'did you mean "overlap"?'],
  ])('with %j is refused, and nothing is changed', async (more, path, says) => {
    await send('PUT', '/nightly', nightly);
    const { code, data } = await refused('PUT', '/nightly', { ...nightly, ...more });
    expect(code).toBe('INVALID_INPUT');
    expect(data?.['issues']).toContainEqual(
      expect.objectContaining({ path, message: expect.stringContaining(says) }),
    );
    expect((await send('GET', '/nightly')).body).toMatchObject({ revision: 1 });
  });

  test('is previewed: what would be different, by the same checks, and nothing is changed', async () => {
    await send('PUT', '/nightly', nightly);
    const preview = await send('POST', '/nightly/preview', { ...nightly, overlap: 'queueOne' });
    expect(preview).toMatchObject({
      status: 200,
      body: { changed: ['overlap'], definition: { overlap: 'queueOne' } },
    });
    expect((await send('GET', '/nightly')).body).toMatchObject({
      revision: 1,
      definition: { overlap: 'skip' },
    });
    expect((await refused('POST', '/nightly/preview', { ...nightly, cron: 'x' })).code).toBe('INVALID_INPUT');
  });

  test('needs the scope operate, and a name', async () => {
    expect((await refused('PUT', '/nightly', nightly, tokens.read)).code).toBe('FORBIDDEN');
    expect((await refused('DELETE', '/nightly', undefined, tokens.read)).code).toBe('FORBIDDEN');
    expect((await refused('PUT', '/my%20schedule', nightly)).detail).toContain('is no name of a schedule');
    expect((await refused('PUT', '/a%2Fb%2Fc', nightly)).code).toBe('INVALID_INPUT');
  });
});

describe('a name', () => {
  beforeEach(async () => {
    await send('PUT', '/shop%2Fnightly', nightly);
    await send('PUT', '/shop%2Fimport', nightly);
    await send('PUT', '/blog%2Fnightly', nightly);
  });

  test('is enough where it is the only one, else it is refused with what it fits', async () => {
    expect((await send('GET', '/import')).body).toMatchObject({ project: 'shop', name: 'import' });
    const { code, status, data } = await refused('POST', '/nightly/pause', {});
    expect([code, status]).toEqual(['AMBIGUOUS_ID', 409]);
    expect(data?.['matches']).toEqual(['shop/nightly', 'blog/nightly']);
  });

  test.each(['/blog%2Fnightly', '/blog/nightly'])('with its project is written %s', async (path) => {
    expect((await send('GET', path)).body).toMatchObject({ project: 'blog', name: 'nightly' });
    const next = await send('GET', `${path}/next?n=2`);
    expect(next.body['items']).toHaveLength(2);
    await send('POST', `${path}/pause`, { reason: 'holiday' });
    expect((await send('GET', path)).body).toMatchObject({ state: 'paused', paused: { reason: 'holiday' } });
    expect((await send('GET', '/shop/nightly')).body).toMatchObject({ state: 'active' });
    expect((await send('DELETE', path)).body).toMatchObject({ state: 'removed' });
    expect((await refused('GET', path)).code).toBe('NOT_FOUND');
    expect((await send('GET', '/nightly')).body).toMatchObject({ project: 'shop' });
  });

  test('that nothing has is not found', async () => {
    for (const path of [
      '/nothing',
      '/shop%2Fnothing',
      '/%00',
      '/..%2F..%2Fetc',
      '/a%2Fb%2Fc',
      '/nothing/next',
    ])
      expect((await refused('GET', path)).code, path).toBe('NOT_FOUND');
  });

  test('is listed by project and label', async () => {
    await send('PUT', '/shop%2Fimport', { ...nightly, labels: ['data'] });
    const names = async (query: string) =>
      ((await send('GET', query)).body['items'] as { project: string; name: string }[]).map(
        ({ project, name }) => `${project}/${name}`,
      );
    expect(await names('')).toHaveLength(3);
    expect(await names('?project=blog')).toEqual(['blog/nightly']);
    expect(await names('?label=data')).toEqual(['shop/import']);
    expect(await names('?state=removed')).toEqual([]);
  });
});

describe('what is done with a schedule', () => {
  beforeEach(() => send('PUT', '/nightly', nightly));

  test('a trigger answers the run at once', async () => {
    const { status, body } = await send('POST', '/nightly/trigger');
    expect(status).toBe(202);
    expect(body).toMatchObject({
      runId: expect.stringMatching(/^run_/),
      instant: '2027-01-01T00:00:00.000Z',
    });
    const { body: page } = await send('GET', '/nightly/occurrences?state=ran');
    expect(page['items']).toMatchObject([{ schedule: 'nightly', trigger: 'manual', runId: body['runId'] }]);
    expect((await send('GET', '/nightly/occurrences?state=missed')).body['items']).toEqual([]);
  });

  test('a trigger that finds a run at work is a conflict with a code', async () => {
    const message = 'run_1 is still at work.';
    edge.ledger.schedules.refusal = { ok: false, code: 'OVERLAP', message, data: { runId: 'run_1' } };
    expect(await refused('POST', '/nightly/trigger')).toMatchObject({
      status: 409,
      code: 'OVERLAP',
      detail: message,
    });
  });

  test('the next instants are told in UTC and in its zone', async () => {
    edge.ledger.schedules.now = Date.UTC(2027, 2, 27, 12);
    expect((await send('GET', '/nightly/next?n=2')).body).toEqual({
      timezone: 'Europe/Berlin',
      items: [
        { instant: '2027-03-28T01:00:00.000Z', local: '2027-03-28T03:00:00+02:00' },
        { instant: '2027-03-29T00:00:00.000Z', local: '2027-03-29T02:00:00+02:00' },
      ],
    });
    expect((await refused('GET', '/nightly/next?n=0')).code).toBe('INVALID_INPUT');
    expect((await refused('GET', '/nightly/next?count=1')).code).toBe('INVALID_INPUT');
  });

  test('a backfill takes a range of instants', async () => {
    const body = { from: '2026-12-01T00:00:00Z', to: '2026-12-03T00:00:00Z', dryRun: true };
    const answer = await send('POST', '/nightly/backfill', body);
    expect([answer.status, answer.body['dryRun']]).toEqual([202, true]);
    expect(answer.body['due']).toEqual([
      { instant: '2026-12-01T01:00:00.000Z' },
      { instant: '2026-12-02T01:00:00.000Z' },
    ]);
    for (const wrong of [
      {},
      { ...body, to: body.from },
      { ...body, from: 'yesterday' },
      { ...body, dryrun: true },
    ])
      expect((await refused('POST', '/nightly/backfill', wrong)).code).toBe('INVALID_INPUT');
  });

  test('it is stopped, resumed and removed', async () => {
    const { body } = await send('POST', '/nightly/trigger');
    expect((await send('POST', '/nightly/stop', {})).body).toEqual({ runs: [body['runId']], skipped: [] });
    await send('POST', '/nightly/pause');
    expect((await send('POST', '/nightly/resume')).body).toMatchObject({ state: 'active' });
    expect((await send('GET', '/nightly/runs')).body).toEqual({ items: [] });
  });

  test('an idempotency key makes a repeated trigger one run', async () => {
    const headers = { 'idempotency-key': 'once' };
    const call = async () =>
      (await edge.call(at('/nightly/trigger'), { method: 'POST', headers, body: '{}' })).json() as Promise<{
        runId: string;
      }>;
    expect(await call()).toEqual(await call());
    expect(edge.ledger.schedules.calls.filter(({ what }) => what === 'trigger')).toHaveLength(1);
  });

  test('nothing is changed while the server stops, nothing is begun while it recovers', async () => {
    edge.ledger.state = 'recovering';
    expect((await refused('POST', '/nightly/trigger')).code).toBe('RECOVERING');
    expect((await send('GET', '/nightly')).status).toBe(200);
    edge.ledger.state = 'stopping';
    expect((await refused('PUT', '/nightly', nightly)).code).toBe('STOPPING');
    expect((await refused('DELETE', '/nightly')).code).toBe('STOPPING');
  });
});

describe('a file that is applied', () => {
  const apply = (schedules: unknown, more: object = {}) =>
    send('POST', '/apply', { project: 'shop', schedules, ...more });

  test('answers the difference; a dry run changes nothing', async () => {
    const none = { project: 'shop', dryRun: false, created: [], changed: [], unchanged: [], removed: [] };
    expect((await apply({ nightly, import: nightly }, { dryRun: true })).body).toEqual({
      ...none,
      dryRun: true,
      created: ['nightly', 'import'],
    });
    expect((await send('GET', '')).body['items']).toEqual([]);
    await apply({ nightly, import: nightly });
    expect((await apply({ nightly: { ...nightly, cron: '@daily' }, hourly: nightly })).body).toEqual({
      ...none,
      created: ['hourly'],
      changed: [{ name: 'nightly', keys: ['cron'] }],
      removed: ['import'],
    });
  });

  test('without schedules is refused; with none of them it removes all', async () => {
    await apply({ nightly });
    expect((await refused('POST', '/apply', { project: 'shop' })).detail).toContain('schedules: is missing');
    expect((await apply({})).body).toMatchObject({ removed: ['nightly'] });
  });

  test('with a mistake names its place', async () => {
    const { data } = await refused('POST', '/apply', {
      project: 'shop',
      schedules: { nightly: { ...nightly, messages: [] } },
    });
    expect(data?.['issues']).toMatchObject([{ path: 'schedules.nightly.messages' }]);
  });
});

describe('a run that stands still', () => {
  test('is resumed, or rerun from one of its messages', async () => {
    const id = edge.ledger.ids.make('run');
    edge.ledger.runs.set(id, { id, project: 'default', state: 'ended', messages: [] });
    const post = async (path: string, body: unknown) =>
      edge.post(`/api/v1/runs/${id}${path}`, body, tokens.operate);
    expect((await post('/resume', {})).status).toBe(200);
    expect(await (await post('/rerun', { from: 2 })).json()).toMatchObject({ id });
    expect(edge.ledger.calls.map(({ what, body }) => [what, body])).toEqual([
      ['resumeRun', undefined],
      ['rerunRun', { from: 2 }],
    ]);
    for (const wrong of [{}, { from: -1 }, { from: '' }, { from: 0, to: 1 }])
      expect((await post('/rerun', wrong)).status).toBe(400);
  });
});

describe('the description', () => {
  test('has the methods, and both ways to write a name', () => {
    const { paths } = describeApi('0');
    expect(Object.keys(paths[at('/{name}')] ?? {})).toEqual(['get', 'put', 'delete']);
    expect(paths[at('/{project}/{name}')]?.['put']?.['operationId']).toBe('putScheduleAlias');
    expect(JSON.stringify(paths[at('/{name}')]?.['put'])).toContain('#/components/schemas/ScheduleInput');
  });
});
