import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Bench } from './bench.ts';
import { isAlive } from './living-processes.ts';
import { type Ended, firstLine, stemma } from './server-process.ts';

/* The contract for whoever starts a server from a script: what it prints, writes and exits with. */

/** Where these tests work; theirs alone. */
const root = mkdtempSync(join(tmpdir(), 'stemma-start-'));

const up = (dataDir: string, ...more: string[]): Promise<Ended> =>
  stemma(['up', '--data', dataDir, '--port', '0', ...more], { cwd: root });

/** What a server prints, writes and exits with. */
export function startUpCases(): void {
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test.concurrent('the first line says where the server is, once it is ready; its files say the same', {
    timeout: 180_000,
  }, async () => {
    const dataDir = join(root, 'plain');
    const { line, process } = await firstLine(['up'], {
      cwd: root,
      env: { STEMMA_DATA: dataDir, STEMMA_PORT: '0' },
    });
    const said = /^stemma ready (http:\/\/127\.0\.0\.1:\d+) data=(\S+) token=(\S+) pid=(\d+)$/.exec(line);
    expect(said?.slice(2)).toEqual([dataDir, join(dataDir, 'token'), String(process.pid)]);
    const url = said?.[1] ?? '';
    const token = readFileSync(join(dataDir, 'token'), 'utf8');
    expect(token).toMatch(/^stm_api_\S+\n$/);
    for (const name of readdirSync(dataDir)) {
      const found = statSync(join(dataDir, name));
      expect([name, found.mode & 0o777]).toEqual([name, found.isDirectory() ? 0o700 : 0o600]);
    }
    const headers = { authorization: `Bearer ${token.trim()}` };
    expect((await fetch(`${url}/readyz`, { headers })).status).toBe(200);
    // Only an administrator makes these.
    const asked = await fetch(`${url}/api/v1/signin-links`, { method: 'POST', headers });
    expect(asked.status).toBe(201);
    const described = JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'));
    const files = { dataDir, tokenFile: join(dataDir, 'token') };
    expect(described).toMatchObject({ event: 'ready', url, ...files, pid: process.pid });

    const second = await up(dataDir);
    expect(second).toMatchObject({ code: 4, stdout: '' });
    expect(second.stderr).toContain(String(process.pid));

    expect(await process.signal('SIGTERM')).toMatchObject({ code: 0, signal: null, stdout: `${line}\n` });
    expect(existsSync(join(dataDir, 'server.json'))).toBe(false);
  });

  test.concurrent('it says which schedules of its file it took over, and which are as they were', {
    timeout: 180_000,
  }, async () => {
    const dataDir = join(root, 'with-schedules');
    const file = join(root, 'schedules.yaml');
    const start = async (...names: string[]): Promise<string> => {
      const said = names.map((name) => `  ${name}: { cron: "0 2 1 1 *", agent: demo, messages: [Go.] }`);
      writeFileSync(file, `project: shop\nschedules:\n${said.join('\n')}\n`);
      const { process } = await firstLine(['up', '--data', dataDir, '--port', '0', '--config', file]);
      return (await process.signal('SIGTERM')).stderr;
    };
    expect(await start('nightly', 'weekly')).toBe(
      'Schedules of shop: 2 created, 0 changed, 0 removed, 0 unchanged.\n+ shop/nightly\n+ shop/weekly\n',
    );
    expect(await start('nightly', 'yearly')).toContain('1 created, 0 changed, 1 removed, 1 unchanged');
  });

  test.concurrent('with --json the first line is an object; agents outlive SIGTERM and end with down --agents', {
    timeout: 180_000,
  }, async () => {
    const silent = { rules: [], profile: { command: ['/bin/sh', '-c', 'echo up > up; exec sleep 600'] } };
    const bench = await Bench.open({ silent });
    try {
      const { ready, process } = bench.server;
      const { dataDir } = bench;
      const fields = ['event', 'url', 'dataDir', 'tokenFile', 'pid', 'version', 'signInUrl'];
      expect(Object.keys(ready)).toEqual(fields);
      const tokenFile = join(dataDir, 'token');
      expect(ready).toMatchObject({ event: 'ready', dataDir, tokenFile, pid: process.pid });
      expect(process.stdout.split('\n')).toHaveLength(2);
      expect(JSON.parse(readFileSync(join(dataDir, 'server.json'), 'utf8'))).toEqual(ready);
      const signedIn = await fetch(ready.signInUrl, { redirect: 'manual' });
      const cookie = signedIn.headers.get('set-cookie') ?? '';
      expect(cookie).toMatch(/; HttpOnly/i);
      expect(cookie).toMatch(/; SameSite=Strict/i);
      await expectAgentsOutlive(bench);
    } finally {
      await bench.close();
    }
  });

  test.concurrent('auth token: made, used, listed and revoked; a revoked one of the directory is made anew', {
    timeout: 180_000,
  }, async () => {
    const dataDir = join(root, 'tokens');
    const start = async () => (await firstLine(['up', '--data', dataDir, '--port', '0'])).process;
    const auth = (...argv: string[]) => stemma(['auth', 'token', ...argv, '--data', dataDir]);
    const server = await start();
    const made = await auth('new', 'ci', '--scope', 'read');
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^stm_api_\S+\n$/) });
    expect(made.stderr).toContain('shown this once');
    const token = made.stdout.trim();
    const list = () => stemma(['ls', '--data', dataDir, '--token', token]);
    expect((await list()).code).toBe(0);
    const send = await stemma(['send', 'Hello.', '--agent', 'demo', '--data', dataDir, '--token', token]);
    expect(send).toMatchObject({ code: 5, stderr: expect.stringContaining('operate') });
    expect((await auth('new', 'ci', '--scope', 'admin')).code).toBe(4);
    expect((await auth('ls')).stdout).toMatch(/^ci +read .* ago +valid$/m);
    expect(await auth('revoke', 'ci')).toMatchObject({ code: 0, stdout: 'ci: revoked\n' });
    expect(await list()).toMatchObject({ code: 5, stderr: expect.stringContaining('--token') });
    expect((await auth('revoke', 'admin')).stderr).toContain('next start');
    expect((await auth('ls')).code).toBe(5);
    expect(readFileSync(join(dataDir, 'stemma.log'), 'utf8')).toMatch(
      /"actor":\{"kind":"person","name":"admin"\}[^\n]*"token.revoked"/,
    );
    await server.signal('SIGTERM');
    const next = await start();
    expect((await auth('ls')).stdout).toMatch(/^admin +admin .* valid$/m);
    await next.signal('SIGTERM');
  });

  test.concurrent('doctor looks at the configuration of the server that runs, wherever it is called', {
    timeout: 180_000,
  }, async () => {
    const dataDir = join(root, 'doctor');
    const file = join(root, 'used.yaml');
    writeFileSync(file, 'agents:\n  mine: { driver: script, command: [cat] }\n');
    const { process } = await firstLine(['up', '--data', dataDir, '--port', '0', '--config', file]);
    const seen = await stemma(['doctor', '--data', dataDir], { cwd: root });
    expect(seen.stdout).toMatch(/^ok +config: \S*used\.yaml, which the server\s+uses$/m);
    expect(seen.stdout).toMatch(/^ok +agent mine: found$/m);
    const other = join(root, 'other.yaml');
    writeFileSync(other, 'agents: {}\n');
    const asked = await stemma(['doctor', '--data', dataDir, '--config', other, '--json'], { cwd: root });
    const { items } = JSON.parse(asked.stdout) as { items: { what: string; state: string; seen: string }[] };
    expect(items.find(({ what }) => what === 'config')).toMatchObject({
      state: 'warn',
      seen: `${other}; the running server uses ${file}`,
    });
    await process.signal('SIGTERM');
  });

  test.concurrent('what cannot be used is exit 5 and named, before anything is started', {
    timeout: 180_000,
  }, async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    const cases: [string[], RegExp][] = [
      // Where Node's own recursive mkdir never returns.
      [['--data', '/proc/stemma'], /DATA_DIR_UNUSABLE/],
      [['--data', file, '--daemon'], /DATA_DIR_UNUSABLE/],
      [['--data', join(root, 'host'), '--host', 'no such host'], /no such host[^]*INVALID_CONFIG/],
    ];
    for (const [argv, said] of cases) {
      const ended = await stemma(['up', '--port', '0', '--json', ...argv], { cwd: root });
      expect({ argv, code: ended.code, stdout: ended.stdout }).toEqual({ argv, code: 5, stdout: '' });
      const { error } = JSON.parse(ended.stderr) as { error: { code: string; message: string } };
      expect(`${error.message} ${error.code}`).toMatch(said);
    }
  });

  test.concurrent('a mistake in the configuration is exit 5 and named with its line', {
    timeout: 180_000,
  }, async () => {
    const config = join(root, 'broken.yaml');
    writeFileSync(config, 'agents:\n  fast:\n    driver: acp\n    comand: [fast]\n');
    const ended = await up(join(root, 'broken'), '--config', config);
    expect(ended).toMatchObject({ code: 5, stdout: '' });
    expect(ended.stderr).toMatch(/broken\.yaml:4/);
    expect(ended.stderr).toContain('comand');
    expect(existsSync(join(root, 'broken', 'server.json'))).toBe(false);
  });
}

/** SIGTERM lets agents live on, the next server has them again, and `down --agents` ends them. */
async function expectAgentsOutlive(bench: Bench): Promise<void> {
  const scene = bench.scene();
  const goOn = 'echo $$ > agent; until [ -e go ]; do sleep 0.1; done; echo went on';
  const { queryId } = await scene.send('shell', goOn);
  const agent = Number(await scene.file('agent'));
  // An agent that never comes up is not waited for, and its message is not lost.
  const waiting = await scene.send('silent', 'Hello?');
  await scene.file('up');
  const began = performance.now();
  expect(await bench.server.process.signal('SIGTERM')).toMatchObject({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(isAlive(agent)).toBe(true);
  await bench.start();
  expect(await scene.execution(waiting.queryId)).toMatchObject({ closed: false });
  scene.open('go');
  await scene.closed(queryId);
  const { state, result } = await scene.execution(queryId);
  expect({ state, result: result?.trim() }).toEqual({ state: 'succeeded', result: 'went on' });
  await scene.send('shell', 'echo $$ > second; exec sleep 600');
  const second = Number(await scene.file('second'));
  const down = await stemma(['down', '--agents', '--data', bench.dataDir]);
  expect(down).toMatchObject({ code: 0, stderr: '' });
  expect(isAlive(second)).toBe(false);
  expect(await bench.server.process.ended).toMatchObject({ code: 0 });
}
