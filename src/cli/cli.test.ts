import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Bench } from '../../test/cli/bench.ts';
import type { StartOptions } from './ports.ts';
import { ContractServer, exe, problem } from '../../test/cli/contract-server.ts';
import { loadConfigFile } from './config-file.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await Bench.open();
});
afterEach(() => bench.close());

describe('usage', () => {
  it.each([
    [['lss'], /unknown command 'lss'[^]*Did you mean ls\?/],
    [['send', 'x', '--sesion', 'y'], /unknown option '--sesion'[^]*Did you mean --session\?/],
    [['send'], /missing required argument 'text'/],
    [['send', 'x', '--steer', '--reject'], /cannot be used with/],
    [['send', 'x', '--timeout', '30'], /30s, 90m or 4h/],
    [['cancel', 'x', '--scope', 'all'], /Allowed choices are execution, tree/],
    [['notice', 'waive', 'ntc_1'], /required option '--reason <text>'/],
    [['up', '--port', '99999'], /whole number from 0 to 65535/],
    [[], /Usage: stemma/],
  ])('%j is a usage error that says what is right', async (argv, said) => {
    const { code, out, err } = await bench.stemma(...argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(said);
  });

  it('of a word that is empty says which; every usage error begins with the name of the program', async () => {
    const empty = await bench.stemma('tree', '');
    expect(empty).toEqual({ code: 2, out: '', err: 'stemma: The argument <id> is empty. [INVALID_INPUT]\n' });
    expect((await bench.stemma('send', '')).err).toBe('stemma: The message is empty. [INVALID_INPUT]\n');
    expect((await bench.stemma('lss')).err).toMatch(/^stemma: unknown command 'lss'/);
  });

  it.each([
    [['lss', '--json'], /unknown command 'lss'/],
    [['--json', 'send'], /missing required argument 'text'/],
    [['up', '--json', '--port', 'x'], /whole number from 0 to 65535/],
    [['session', '--json'], /A command is missing/],
    [['exec', '--json', '--', 'x', '--help'], undefined],
    [['exec', 'x', '--', '--json'], undefined],
  ])('%j is JSON on stderr, where JSON was asked for', async (argv, said) => {
    const { code, out, err } = await bench.stemma(...argv);
    if (said === undefined) return expect(err).not.toContain('INVALID_INPUT');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    const { error } = JSON.parse(err) as { error: { code: string; message: string } };
    expect(error).toMatchObject({ code: 'INVALID_INPUT', message: expect.stringMatching(said) });
  });

  it('an empty host is no host: a variable that is not set must not open the server to everybody', async () => {
    const seen: StartOptions[] = [];
    const startServer = (options: StartOptions) => {
      seen.push(options);
      return Promise.reject(new Error('seen'));
    };
    await bench.command(['up', '--host', '', '--config', ''], { startServer }).result;
    await bench.command(['up', '--host', '::1'], { startServer }).result;
    expect(seen.map(({ host }) => host)).toEqual([undefined, '::1']);
  });

  it('prints the version and the help on stdout', async () => {
    expect(await bench.stemma('--version')).toEqual({ code: 0, out: '1.2.3\n', err: '' });
    const help = await bench.stemma('run', '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain('--json');
    const all = await bench.stemma('--help');
    expect(all.out).toMatch(/^The server:\n {2}up [^]*^By itself:\n {2}schedule [^]*^ {2}import /m);
    expect(all.out).not.toContain('\nCommands:\n');
  });
});

describe('errors', () => {
  it.each([
    ['NOT_FOUND', 3],
    ['AMBIGUOUS_ID', 2],
    ['SESSION_BUSY', 4],
    ['FORBIDDEN', 5],
    ['STOPPING', 6],
  ] as const)('%s of the server is told, with exit code %i', async (code, exit) => {
    bench.server.routes[`POST /executions/${exe}/detach`] = () =>
      problem(code, `it is so \x1b[2Jwith ${exe}`);
    const result = await bench.stemma('detach', exe);
    expect(result).toEqual({ code: exit, out: '', err: `stemma: it is so with ${exe} [${code}]\n` });
  });

  it('a token that nobody knows is a mistake of the configuration, and where the right one is, is told', async () => {
    bench.server.routes['GET /monitor'] = () =>
      problem('UNAUTHORIZED', 'Nobody issued this token. Send "Authorization: Bearer …".');
    const { code, out, err } = await bench.stemma('ls', '--data', 'd');
    expect({ code, out }).toEqual({ code: 5, out: '' });
    expect(err).toBe(
      `stemma: Nobody issued this token. Name another token with --token or STEMMA_TOKEN; that of this data directory is in ${join(bench.directory, 'd', 'token')}. [UNAUTHORIZED]\n`,
    );
  });

  it('are JSON on stderr with --json', async () => {
    const { code, out, err } = await bench.stemma('tree', exe, '--json');
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'NOT_FOUND' } });
  });

  it('say that no server runs, and how to start one, with exit code 6', async () => {
    const nowhere = { STEMMA_DATA: join(bench.directory, 'none') };
    expect(await bench.command(['ls'], { env: nowhere }).result).toMatchObject({
      code: 6,
      err: expect.stringMatching(/ "stemma up"/),
    });
    expect(await bench.command(['ls'], { env: { ...nowhere, npm_command: 'exec' } }).result).toMatchObject({
      code: 6,
      err: expect.stringMatching(/"npx --no-install stemma up"/),
    });
    const torn = { STEMMA_URL: bench.server.url, STEMMA_TOKEN: 'two\nlines' };
    expect(await bench.command(['ls'], { env: torn }).result).toMatchObject({
      code: 2,
      err: expect.stringMatching(/token has a line break/),
    });
    const dead = { STEMMA_URL: 'http://127.0.0.1:1', STEMMA_TOKEN: 'x' };
    expect(await bench.command(['wait', exe], { env: dead }).result).toMatchObject({ code: 6, out: '' });
    expect(await bench.command(['down'], { env: nowhere }).result).toMatchObject({ code: 6 });
  });

  it('of a program that is no Stemma server are not taken for an answer', async () => {
    bench.server.routes['GET /version'] = () => ({ status: 404, body: { message: 'nope' } });
    expect(await bench.stemma('status')).toMatchObject({
      code: 6,
      err: expect.stringMatching(/no Stemma server/),
    });
  });
});

describe('finding the server', () => {
  it('takes the data directory, and sends its token only to its own server', async () => {
    bench.server.routes['GET /monitor'] = () => ({ body: { items: [], eventCursor: 'c' } });
    const tokenFile = join(bench.directory, 'token');
    writeFileSync(tokenFile, 'stm_api_local\n');
    const ready = {
      event: 'ready',
      url: bench.server.url,
      dataDir: bench.directory,
      tokenFile,
      pid: process.pid,
      version: '1',
      signInUrl: 'x',
    };
    writeFileSync(join(bench.directory, 'server.json'), JSON.stringify(ready));
    const authorization = (): string | undefined => bench.server.seen.at(-1)?.headers.authorization;
    expect(await bench.command(['ls', '--data', bench.directory], { env: {} }).result).toMatchObject({
      code: 0,
    });
    expect(authorization()).toBe('Bearer stm_api_local');
    await bench.command(['--url', bench.server.url, 'ls', '--token', 'flag', '--data', bench.directory], {
      env: { STEMMA_TOKEN: 'env' },
    }).result;
    expect(authorization()).toBe('Bearer flag');
    const other = new ContractServer();
    await other.start();
    await bench.command(['ls', '--data', bench.directory, '--url', other.url], { env: {} }).result;
    expect(other.seen[0]?.headers.authorization).toBeUndefined();
    await other.stop();
  });
});

describe('init', () => {
  it('writes its files once, and never overwrites without --force', async () => {
    expect(await bench.stemma('init')).toMatchObject({
      code: 0,
      out: 'stemma.yaml\nrun.yaml\nstemma.schema.json\nworkflow.schema.json\n',
    });
    writeFileSync(join(bench.directory, 'run.yaml'), 'mine');
    rmSync(join(bench.directory, 'stemma.yaml'));
    expect(await bench.stemma('init')).toMatchObject({
      code: 4,
      err: expect.stringMatching(/run\.yaml exists already/),
    });
    expect(readFileSync(join(bench.directory, 'run.yaml'), 'utf8')).toBe('mine');
    expect(existsSync(join(bench.directory, 'stemma.yaml'))).toBe(false);
    expect(await bench.stemma('init', '--force')).toMatchObject({ code: 0 });
    expect(readFileSync(join(bench.directory, 'run.yaml'), 'utf8')).toContain('messages:');
  });
});

describe('init', () => {
  it('names the agents that are found here, in a configuration that is valid', async () => {
    const look = { driver: 'codex', command: ['codex'], isBuiltIn: true };
    const listAgentsOffline = async () => [
      { ...look, name: 'demo', driver: 'acp', check: { found: true, warnings: [] } },
      {
        ...look,
        name: 'codex',
        install: 'get codex',
        check: { found: true, version: '0.171.0', signedIn: 'no' as const, warnings: [] },
      },
      { ...look, name: 'claude', install: 'get claude', check: { found: false, warnings: [] } },
    ];
    const { code, err } = await bench.command(['init'], { listAgentsOffline }).result;
    expect({ code, err }).toMatchObject({
      code: 0,
      err: expect.stringContaining('named in stemma.yaml: codex.'),
    });
    const file = join(bench.directory, 'stemma.yaml');
    expect(readFileSync(file, 'utf8')).toContain(
      '\nagents:\n  codex: # found 0.171.0, no sign-in\n    driver: codex\n\n  # More',
    );
    expect(Object.keys((await loadConfigFile(file)).agents ?? {})).toEqual(['codex']);
  });
});

describe('agents', () => {
  it('are checked without a server, and a missing program is a finding', async () => {
    expect(await bench.command(['agent', 'check', 'codex'], { env: {} }).result).toMatchObject({
      code: 5,
      out: '',
    });
  });

  it('scripted ones run as the program says', async () => {
    expect(await bench.stemma('demo-agent', '--script', 's.json')).toMatchObject({ code: 42, out: '' });
  });
});
