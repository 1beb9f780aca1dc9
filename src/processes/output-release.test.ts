import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock as clock } from '../base/clock.ts';
import { waitUntil } from '../base/pause.ts';
import { adoptStdio } from './durable-stdio.ts';
import { OutputRelease } from './output-release.ts';

const mega = 1024 * 1024;
let root = '';

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-release-'));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function onDisk(path: string): number {
  return statSync(path).blocks * 512;
}

test('what was released is off the disk, the rest and every offset stay', async () => {
  const path = join(root, 'out.log');
  writeFileSync(path, Buffer.alloc(10 * mega, 'a'));
  const release = new OutputRelease({ path, keptBytes: 2 * mega, onRefused: (why) => expect(why).toBe('') });
  release.release(mega);
  release.release(7 * mega + 5);
  await release.settled();
  appendFileSync(path, 'the end');
  const bytes = readFileSync(path);
  expect(bytes.length).toBe(10 * mega + 7);
  expect(bytes.subarray(0, 5 * mega).every((byte) => byte === 0)).toBe(true);
  expect(bytes.subarray(5 * mega).toString()).toBe(`${'a'.repeat(5 * mega)}the end`);
  expect(onDisk(path)).toBeLessThan(6 * mega);
  release.close();
});

test('a file whose name belongs to a successor by now is not touched by a late release', async () => {
  const path = join(root, 'out.log');
  writeFileSync(path, Buffer.alloc(4 * mega, 'a'));
  const release = new OutputRelease({ path, keptBytes: 0, onRefused: () => undefined });
  rmSync(path);
  writeFileSync(path, Buffer.alloc(4 * mega, 'b'));
  release.release(4 * mega);
  await release.settled();
  expect(readFileSync(path).every((byte) => byte === 98)).toBe(true);
  release.close();
});

test('where it cannot be done, that is said once', async () => {
  const said: string[] = [];
  const release = new OutputRelease({ path: '/dev/null', keptBytes: 0, onRefused: (why) => said.push(why) });
  release.release(4 * mega);
  await release.settled();
  release.release(8 * mega);
  await release.settled();
  expect(said).toEqual([expect.stringContaining('cannot be given back')]);
  release.close();
});

// Writes numbered lines of a kilobyte without end.
const agent = `
const pad = 'p'.repeat(1000);
let n = 0;
function more() {
  let text = '';
  for (let i = 0; i < 200; i++) text += JSON.stringify({ n: ++n, pad }) + '\\n';
  process.stdout.write(text, () => setTimeout(more, 2));
}
more();
`;

// Hears lines, tells of them, and releases everything that it has told of.
const ownerProgram = `
import { launchStdio } from ${JSON.stringify(new URL('./durable-stdio.ts', import.meta.url).href)};
import { systemClock as clock } from ${JSON.stringify(new URL('../base/clock.ts', import.meta.url).href)};
const [root, directory] = process.argv.slice(1);
const argv = [process.execPath, root + '/agent.mjs'];
const launched = await launchStdio({ argv, env: { PATH: process.env.PATH }, cwd: root, directory, clock });
if (!launched.ok) throw new Error(launched.message);
launched.process.listen({
  from: 0,
  keptBytes: 0,
  onLine: (line, end) => {
    const { n } = JSON.parse(line);
    if (n % 1000 === 0) process.stdout.write(n + ' ' + end + '\\n', () => launched.process.release(end));
  },
  onNoise: (what) => process.stdout.write('noise ' + what + '\\n'),
  onExit: () => undefined,
});
`;

test.each([2, 5, 9])(
  'the owner is killed after %i releases, while one runs: the next reads on without a gap',
  async (count) => {
    const directory = join(root, 'agent');
    writeFileSync(join(root, 'agent.mjs'), agent);
    const args = ['--import', 'tsx', '--input-type=module', '-e', ownerProgram, '--', root, directory];
    const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    const told: string[] = [];
    createInterface({ input: owner.stdout }).on('line', (line) => {
      told.push(line);
      if (told.length === count) owner.kill('SIGKILL');
    });
    await once(owner, 'close');
    const [n = 0, from = 0] = (told.at(-1) ?? '').split(' ').map(Number);
    const adopted = await adoptStdio(directory, clock);
    if (adopted.state !== 'alive') throw new Error(`it is ${adopted.state}`);
    const numbers: number[] = [];
    const noise: string[] = [];
    adopted.process.listen({
      from,
      keptBytes: mega,
      onLine: (line, end) => {
        numbers.push((JSON.parse(line) as { n: number }).n);
        adopted.process.release(end);
      },
      onNoise: (what) => noise.push(what),
      onExit: () => undefined,
    });
    expect(await waitUntil(clock, () => numbers.length >= 10_000, 30_000)).toBe(true);
    await adopted.process.end({ graceMs: 0 });
    expect(noise.filter((what) => !what.includes('within a line'))).toEqual([]);
    expect(numbers).toEqual(numbers.map((_, index) => n + 1 + index));
    const path = join(directory, 'out.log');
    expect(await waitUntil(clock, () => onDisk(path) < 8 * mega, 10_000)).toBe(true);
    expect(statSync(path).size).toBeGreaterThan(10 * mega);
  },
);
