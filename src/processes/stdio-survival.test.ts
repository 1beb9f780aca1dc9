import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock as clock } from '../base/clock.ts';
import { adoptStdio } from './durable-stdio.ts';
import { endGroup } from './group.ts';
import { waitUntil } from '../base/pause.ts';
import { type ProcessIdentity } from './process-identity.ts';
import { readRecord } from './recorded-launch.ts';

// Writes numbered lines, each in two halves, without end; between them the size and hash of each line it was given.
const agent = `
import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
let count = 0;
const answers = [];
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'leave') process.exit(0);
  answers.push({ size: line.length, hash: createHash('sha256').update(line).digest('hex') });
});
function firstHalf() {
  for (const answer of answers.splice(0)) writeSync(1, JSON.stringify(answer) + '\\n');
  writeSync(1, '{"n":' + ++count);
  setTimeout(secondHalf, 1);
}
function secondHalf() {
  writeSync(1, ',"pad":"' + 'p'.repeat(count % 50) + '"}\\n');
  setTimeout(firstHalf, 1);
}
firstHalf();
`;

// Notes every line it hears, with its offset, before it hears the next; writes what it is told to.
const ownerProgram = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { launchStdio } from ${link('./durable-stdio.ts')};
import { systemClock as clock } from ${link('../base/clock.ts')};
const [root, directory] = process.argv.slice(1);
const argv = [process.execPath, root + '/agent.mjs'];
const launched = await launchStdio({ argv, env: { PATH: process.env.PATH }, cwd: root, directory, clock });
if (!launched.ok) throw new Error(launched.message);
launched.process.listen({
  from: 0,
  onLine: (line, endOffset) => appendFileSync(root + '/seen', JSON.stringify({ line, endOffset }) + '\\n'),
  onExit: () => undefined,
});
createInterface({ input: process.stdin }).on('line', (size) => launched.process.writeLine('m'.repeat(Number(size))));
`;

let root = '';
let directory = '';
let owner: ChildProcess | undefined;
let program: ProcessIdentity | undefined;

function link(file: string): string {
  return JSON.stringify(new URL(file, import.meta.url).href);
}

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), 'stemma-survival-'));
  directory = join(root, 'agent');
  writeFileSync(join(root, 'agent.mjs'), agent);
  const args = ['--import', 'tsx', '--input-type=module', '-e', ownerProgram, '--', root, directory];
  owner = spawn(process.execPath, args, { stdio: ['pipe', 'inherit', 'inherit'] });
});

afterEach(async () => {
  owner?.kill('SIGKILL');
  if (program) await endGroup(program, { graceMs: 0, clock });
  rmSync(root, { recursive: true, force: true });
});

interface Seen {
  readonly line: string;
  readonly endOffset: number;
}

function seenByOwner(): Seen[] {
  if (!existsSync(join(root, 'seen'))) return [];
  const text = readFileSync(join(root, 'seen'), 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Seen);
}

async function until(condition: () => boolean): Promise<void> {
  expect(await waitUntil(clock, condition, 15_000)).toBe(true);
}

async function killOwner(): Promise<void> {
  owner?.kill('SIGKILL');
  await until(() => owner?.signalCode === 'SIGKILL');
}

/** Adopts, hears everything after what the owner noted, and checks that the whole is without a gap or a repeat. */
async function adoptAndRead(extra: readonly string[], answers: number): Promise<Record<string, unknown>[]> {
  const before = seenByOwner();
  const adopted = await adoptStdio(directory, clock);
  if (adopted.state !== 'alive') throw new Error(`it is ${adopted.state}`);
  const after: Seen[] = [];
  let exits = 0;
  const from = before.at(-1)?.endOffset ?? 0;
  adopted.process.listen({
    from,
    onLine: (line, endOffset) => after.push({ line, endOffset }),
    onExit: () => exits++,
  });
  for (const line of extra) expect(await adopted.process.writeLine(line)).toBe('written');
  const isAnswer = ({ line }: Seen): boolean => line.startsWith('{"size"');
  await until(() => after.length >= 200 && after.filter(isAnswer).length >= answers);
  expect(await adopted.process.writeLine('leave')).toBe('written');
  await until(() => exits === 1);
  const all = [...before, ...after];
  expect(all.map(({ line, endOffset }) => [Buffer.byteLength(line) + 1, endOffset])).toEqual(
    all.map(({ endOffset }, i) => [endOffset - (all[i - 1]?.endOffset ?? 0), endOffset]),
  );
  const messages = all.map(({ line }) => JSON.parse(line) as Record<string, unknown>);
  const numbers = messages.flatMap((message) => (typeof message['n'] === 'number' ? [message['n']] : []));
  expect(numbers).toEqual(numbers.map((_, i) => i + 1));
  return messages.filter((message) => 'size' in message);
}

test('the owner is killed within a line: the next one loses nothing and sees nothing twice', async () => {
  await until(() => seenByOwner().length >= 200);
  program = await readRecord(directory);
  await killOwner();
  const answers = await adoptAndRead(['short', 'l'.repeat(50_000)], 2);
  expect(answers.map((answer) => answer['size'])).toEqual([5, 50_000]);
});

test('the owner is killed while a long line is under way: it arrives whole, and before the next owner writes', async () => {
  await until(() => seenByOwner().length >= 200);
  program = await readRecord(directory);
  if (!program) throw new Error('no record');
  // A stopped program leaves the line in the FIFO with only its first 64 KiB through.
  process.kill(program.pid, 'SIGSTOP');
  owner?.stdin?.write('300000\n');
  const isUnderWay = (): boolean =>
    readdirSync(directory).some(
      (name) => name.startsWith('write-') && existsSync(join(directory, name, 'process.json')),
    );
  await until(isUnderWay);
  await killOwner();
  process.kill(program.pid, 'SIGCONT');
  const answers = await adoptAndRead(['short'], 2);
  const hash = createHash('sha256').update('m'.repeat(300_000)).digest('hex');
  expect(answers).toEqual([{ size: 300_000, hash }, expect.objectContaining({ size: 5 })]);
  expect(readdirSync(directory).some((name) => name.startsWith('write-'))).toBe(false);
});
