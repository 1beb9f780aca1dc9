import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import { LineTail } from './line-tail.ts';
import { waitUntil } from '../base/pause.ts';

let directory = '';
let path = '';
let lines: [string, number][] = [];
let noise: string[] = [];
let tail: LineTail | undefined;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'stemma-tail-'));
  path = join(directory, 'out.log');
  lines = [];
  noise = [];
  writeFileSync(path, '');
});

afterEach(() => {
  tail?.close();
  rmSync(directory, { recursive: true, force: true });
});

function follow(from = 0, maxLineBytes?: number, clock = new VirtualClock()): LineTail {
  tail = new LineTail({
    path,
    from,
    clock,
    onLine: (line, endOffset) => lines.push([line, endOffset]),
    onNoise: (what) => noise.push(what),
    ...(maxLineBytes === undefined ? {} : { maxLineBytes }),
  });
  tail.start();
  return tail;
}

test('lines are delivered with the offset from which the next one is read', async () => {
  writeFileSync(path, 'one\n\ntwo\nthr');
  const first = follow();
  await first.drain();
  expect(lines).toEqual([
    ['one', 4],
    ['', 5],
    ['two', 9],
  ]);
  appendFileSync(path, 'ee\n');
  await first.drain();
  expect(lines.at(-1)).toEqual(['three', 15]);
  first.close();
  lines = [];
  await follow(9).drain();
  expect(lines).toEqual([['three', 15]]);
});

test('an appended line is heard without asking', async () => {
  follow(0, undefined, new VirtualClock());
  appendFileSync(path, 'hello\n');
  expect(await waitUntil(systemClock, () => lines.length === 1, 5000)).toBe(true);
});

test('a character cut by a chunk or by two writes stays whole, and bytes that are no text do no harm', async () => {
  const text = 'ä'.repeat(80_000);
  writeFileSync(path, Buffer.concat([Buffer.from('x'), Buffer.from(text)]));
  const following = follow();
  await following.drain();
  appendFileSync(path, Buffer.from([0x0a, 0x00, 0xff, 0xfe, 0x41, 0x0a]));
  await following.drain();
  expect(lines[0]?.[0]).toBe(`x${text}`);
  expect(lines[1]?.[0]).toBe('\0\uFFFD\uFFFDA');
});

test('a line over the bound is skipped and not kept, and reported each time that so much was skipped', async () => {
  const following = follow(0, 100_000);
  for (let i = 0; i < 10; i++) {
    appendFileSync(path, 'y'.repeat(50_000));
    await following.drain();
  }
  appendFileSync(path, '\nafter\n');
  await following.drain();
  expect(lines).toEqual([['after', 500_007]]);
  expect(noise).toHaveLength(3);
  appendFileSync(path, `${'z'.repeat(100_000)}\n${'z'.repeat(100_001)}\n`);
  await following.drain();
  expect(lines).toHaveLength(2);
  expect(noise).toHaveLength(4);
});

test('what is passed over is not read, however much there is, and an end of it is reached', async () => {
  const following = follow();
  writeFileSync(path, 'one\n');
  await following.drain();
  following.passOver();
  appendFileSync(path, 'two\n'.repeat(1_000_000));
  await following.drain();
  expect(lines).toEqual([['one', 4]]);
  expect(following.dropTail()).toBe(0);
});

test('a truncated file is read again from its start', async () => {
  writeFileSync(path, 'old old old\nhalf');
  const following = follow();
  await following.drain();
  truncateSync(path, 0);
  appendFileSync(path, 'new\n');
  await following.drain();
  expect(lines.at(-1)).toEqual(['new', 4]);
  expect(noise).toHaveLength(1);
});

test('closing within a line ends the delivery at once', async () => {
  writeFileSync(path, 'a\nb\nc\n');
  tail = new LineTail({
    path,
    from: 0,
    clock: new VirtualClock(),
    onLine: (line) => {
      lines.push([line, 0]);
      tail?.close();
    },
    onNoise: () => undefined,
  });
  tail.start();
  await tail.drain();
  expect(lines).toHaveLength(1);
});

test('a drain asked for within a line resolves after everything that is there', async () => {
  writeFileSync(path, 'a\nb\nc\n');
  let seenAtDrain = 0;
  let drained: Promise<void> | undefined;
  tail = new LineTail({
    path,
    from: 0,
    clock: new VirtualClock(),
    onLine: (line) => {
      lines.push([line, 0]);
      drained ??= tail?.drain().then(() => {
        seenAtDrain = lines.length;
      });
    },
    onNoise: () => undefined,
  });
  tail.start();
  await drained;
  expect(seenAtDrain).toBe(3);
});

test('closing releases descriptor, watch and timer', async () => {
  const clock = new VirtualClock();
  const open = (): number => readdirSync('/proc/self/fd').length;
  const before = open();
  for (let i = 0; i < 20; i++) {
    const following = follow(0, undefined, clock);
    await following.drain();
    following.close();
  }
  expect(clock.nextAt()).toBeUndefined();
  // The machinery behind the first watch of a process stays.
  expect(open()).toBeLessThanOrEqual(before + 3);
});
