import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bench, until } from '../../test/cli/bench.ts';
import { exe, execution, problem } from '../../test/cli/contract-server.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

describe('exec', () => {
  const token = 'stm_exe_child';
  beforeEach(() => {
    bench.server.routes['POST /executions'] = () => ({
      status: 201,
      body: { ...execution({ kind: 'outside' }), token },
    });
    bench.server.routes[`POST /executions/${exe}/settle`] = () => ({
      body: execution({ kind: 'outside', closed: true }),
    });
  });
  const settled = (): unknown => bench.server.seen.find(({ route }) => route.endsWith('/settle'))?.body;

  it('gives the command its identity, and passes its exit code on', async () => {
    const file = join(bench.directory, 'env');
    const script = `printf '%s %s %s' "$STEMMA_URL" "$STEMMA_TOKEN" "$TRACEPARENT" > ${file}; exit 7`;
    expect(await bench.stemma('exec', '--key', 'k', '--', 'sh', '-c', script)).toEqual({
      code: 7,
      out: '',
      err: '',
    });
    expect(readFileSync(file, 'utf8')).toBe(
      `${bench.server.url} ${token} 00-${'ab'.repeat(16)}-${'ab'.repeat(8)}-01`,
    );
    expect(bench.server.seen[0]?.body).toMatchObject({
      kind: 'outside',
      key: 'k',
      name: expect.stringMatching(/^sh -c printf/),
    });
    expect(settled()).toEqual({ state: 'failed', error: { message: 'sh ended with exit code 7' } });
  });

  it('of a command that does not exist is 127, and settled', async () => {
    expect(await bench.stemma('exec', '--', '/no/such/program')).toMatchObject({
      code: 127,
      err: 'stemma: There is no program "/no/such/program".\n',
    });
    expect(settled()).toMatchObject({ state: 'failed' });
  });

  it('passes a signal on to the whole group, and settles as cancelled', async () => {
    const file = join(bench.directory, 'started');
    const running = bench.command(['exec', '--', 'sh', '-c', `sleep 60 & echo > ${file}; wait`]);
    await until(() => existsSync(file));
    running.send('SIGTERM');
    expect(await running.result).toMatchObject({ code: 143 });
    expect(settled()).toMatchObject({ state: 'cancelled' });
  });

  it('starts nothing when it could not be registered', async () => {
    bench.server.routes['POST /executions'] = () => problem('PARENT_CLOSED', 'the parent is closed');
    const file = join(bench.directory, 'started');
    expect(await bench.stemma('exec', '--', 'touch', file)).toMatchObject({ code: 4 });
    expect(existsSync(file)).toBe(false);
  });
});
