import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Bench, until } from '../../test/cli/bench.ts';
import { isAlive } from './server-process.ts';

const program = fileURLToPath(new URL('../../test/cli/cli.program.ts', import.meta.url));

// Each process loads everything through tsx: a second on a free machine, many on a busy one.
const patienceMs = 60_000;
const self = [process.execPath, '--import', 'tsx', program] as const;
const [node, ...script] = self;

let directory: string;
let started: ChildProcess[];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-process-'));
  started = [];
});
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  await until(() => started.every((child) => child.exitCode !== null || child.signalCode !== null));
  rmSync(directory, { recursive: true, force: true });
});

function stemma(...argv: string[]) {
  const env = { PATH: process.env['PATH'], HOME: directory };
  const child = spawn(node, [...script, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  started.push(child);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    said.out += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    said.err += String(chunk);
  });
  const result = new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
    child.on('close', (code) => resolve({ code, ...said }));
  });
  return { child, said, result };
}

describe('up', () => {
  it(
    'prints one line once it is ready, and on SIGTERM ends with 0, its agents left alone',
    async () => {
      const { child, said, result } = stemma('up', '--port', '0', '--data', directory);
      await until(() => said.out.includes('\n'), patienceMs);
      expect(said.out).toMatch(
        new RegExp(
          `^stemma ready http://127\\.0\\.0\\.1:\\d+ data=${directory} token=${directory}/token pid=${child.pid}\\n$`,
        ),
      );
      child.kill('SIGTERM');
      expect(await result).toMatchObject({ code: 0, err: '' });
      expect(readFileSync(join(directory, 'stopped'), 'utf8')).toBe('alone');
    },
    patienceMs,
  );

  it(
    '--daemon returns when the server is ready, or says why it did not start; down --agents ends it',
    async () => {
      const bench = await Bench.open();
      const run = (...argv: string[]) =>
        bench.command([...argv, '--data', directory], { env: process.env, self }).result;
      const up = await run('up', '--daemon', '--json');
      const ready = JSON.parse(up.out) as { pid: number; url: string };
      try {
        expect(up).toMatchObject({ code: 0, err: '' });
        expect(Object.keys(ready)).toEqual([
          'event',
          'url',
          'dataDir',
          'tokenFile',
          'pid',
          'version',
          'signInUrl',
        ]);
        expect(isAlive(ready.pid)).toBe(true);
        const again = await run('up', '--daemon');
        expect(again).toEqual({
          code: 4,
          out: '',
          err: `stemma: The server ${ready.pid} owns ${directory}. [DATA_DIR_IN_USE]\n`,
        });
        expect(await run('down', '--agents')).toEqual({
          code: 0,
          out: `stopped ${ready.url} pid=${ready.pid}\n`,
          err: '',
        });
        expect(isAlive(ready.pid)).toBe(false);
        expect(readFileSync(join(directory, 'stopped'), 'utf8')).toBe('with agents');
        expect(existsSync(join(directory, 'server.json'))).toBe(false);
      } finally {
        if (isAlive(ready.pid)) process.kill(ready.pid, 'SIGKILL');
        await bench.close();
      }
    },
    patienceMs,
  );
});

describe('a disk that is full', () => {
  it(
    'is told, without a stack, and is no success',
    async () => {
      const full = openSync('/dev/full', 'w');
      const env = { PATH: process.env['PATH'], HOME: directory };
      const child = spawn(node, [...script, '--help'], { env, stdio: ['ignore', full, 'pipe'] });
      started.push(child);
      let err = '';
      child.stderr?.on('data', (chunk) => {
        err += String(chunk);
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect({ code, lines: err.trim().split('\n') }).toEqual({
        code: 5,
        lines: [expect.stringMatching(/^stemma: The output could not be written: ENOSPC.*\[DISK_FULL\]$/)],
      });
      closeSync(full);
    },
    patienceMs,
  );
});

describe('a reader that goes away', () => {
  it(
    'is no error',
    async () => {
      const { child, result } = stemma('--help');
      child.stdout?.destroy();
      expect(await result).toMatchObject({ code: 0, err: '' });
    },
    patienceMs,
  );
});
