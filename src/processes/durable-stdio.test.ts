import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Clock, systemClock as clock } from '../base/clock.ts';
import { minimalEnvironment } from './command.ts';
import { adoptStdio, launchStdio } from './durable-stdio.ts';
import { endGroup } from './group.ts';
import { waitUntil } from '../base/pause.ts';
import { descendantsOf, identityOf, isAlive, type ProcessIdentity } from './process-identity.ts';
import { StdioProcess } from './stdio-process.ts';

// Answers each line with its length; says how many lines it is told to; dies as it is told to.
const agent = `
import { createInterface } from 'node:readline';
import { createHash } from 'node:crypto';
let count = 0;
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line.startsWith('exit ')) process.exit(Number(line.slice(5)));
  if (line.startsWith('half')) return process.stdout.write('half a line', () => process.exit(7));
  if (line.startsWith('say ')) for (let i = Number(line.slice(4)); i > 0; i--) console.log('line', ++count);
  else console.log('got', line.length, createHash('sha256').update(line).digest('hex').slice(0, 8), process.cwd());
});
console.error('agent is here');
`;

let root = '';
let directory = '';
const started: ProcessIdentity[] = [];
const opened: StdioProcess[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-stdio-'));
  directory = join(root, 'agent');
  writeFileSync(join(root, 'agent.mjs'), agent);
});

afterEach(async () => {
  for (const process of opened.splice(0)) process.close();
  for (const identity of started.splice(0)) await endGroup(identity, { graceMs: 0, clock });
  rmSync(root, { recursive: true, force: true });
});

async function launch(argv = [process.execPath, join(root, 'agent.mjs')]): Promise<StdioProcess> {
  const launched = await launchStdio({ argv, env: minimalEnvironment(), cwd: root, directory, clock });
  if (!launched.ok) throw new Error(launched.message);
  started.push(launched.process.identity);
  opened.push(launched.process);
  return launched.process;
}

interface Heard {
  readonly lines: string[];
  readonly offsets: number[];
  readonly exits: string[];
  readonly noise: string[];
}

function listen(process: StdioProcess, from = 0): Heard {
  const heard: Heard = { lines: [], offsets: [], exits: [], noise: [] };
  process.listen({
    from,
    onLine(line, endOffset) {
      heard.lines.push(line);
      heard.offsets.push(endOffset);
    },
    onExit: (reason) => heard.exits.push(reason),
    onNoise: (what) => heard.noise.push(what),
  });
  return heard;
}

async function until(condition: () => boolean): Promise<void> {
  expect(await waitUntil(clock, condition, 10_000)).toBe(true);
}

test('a program takes lines of any length in order, and its files are private', async () => {
  const process = await launch();
  const heard = listen(process);
  const sizes = [1, 4095, 4096, 70_000, 5, 300_000, 2];
  const outcomes = await Promise.all(sizes.map((size) => process.writeLine('x'.repeat(size))));
  expect(outcomes).toEqual(sizes.map(() => 'written'));
  await until(() => heard.lines.length === sizes.length);
  expect(heard.lines.map((line) => Number(line.split(' ')[1]))).toEqual(sizes);
  expect(heard.lines[0]?.endsWith(root)).toBe(true);
  expect(await process.stderrTail()).toBe('agent is here\n');
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(directory))
    expect([name, statSync(join(directory, name)).mode & 0o777]).toEqual([name, 0o600]);
  expect(readdirSync(directory).sort()).toEqual(['err.log', 'in.fifo', 'out.log', 'process.json']);
});

test('the exit is heard once, after everything that was written, and says how', async () => {
  const process = await launch();
  const heard = listen(process);
  await process.writeLine('say 5000');
  await process.writeLine('exit 3');
  await until(() => heard.exits.length > 0);
  expect(heard.lines.filter((line) => line.startsWith('line'))).toHaveLength(5000);
  expect(heard.exits).toEqual(['exited with code 3']);
  expect(await process.writeLine('anybody?')).toBe('refused');
  expect(await process.writeLine('x'.repeat(10_000))).toBe('refused');
  expect(await process.end({ graceMs: 100 })).toBe('dead');
  expect(heard.exits).toHaveLength(1);
});

test('what is passed over is not delivered, and is gone once the program is', async () => {
  const process = await launch();
  const heard = listen(process);
  await process.writeLine('say 10');
  await until(() => heard.lines.length === 10);
  process.passOver();
  await process.writeLine('say 5000');
  await until(() => statSync(join(directory, 'out.log')).size > 5000 * 6);
  expect(await process.end({ graceMs: 100 })).toBe('dead');
  expect({ lines: heard.lines.length, exits: heard.exits.length }).toEqual({ lines: 10, exits: 1 });
  expect(statSync(join(directory, 'out.log')).size).toBe(0);
});

test('a line within which the program died is dropped and reported', async () => {
  const process = await launch();
  const heard = listen(process);
  await process.writeLine('half');
  await until(() => heard.exits.length > 0);
  expect(heard.lines).toEqual([]);
  expect(heard.noise).toHaveLength(1);
});

test('after close the program lives on, and adoption goes on at the offset', async () => {
  const first = await launch();
  const heard = listen(first);
  await first.writeLine('say 250');
  await until(() => heard.lines.length >= 250);
  first.close();
  const again = await adopt('alive');
  expect(await again.writeLine('say 50')).toBe('written');
  const rest = listen(again, heard.offsets[199]);
  await until(() => rest.lines.length === 100);
  expect(rest.lines[0]).toBe('line 201');
  expect(rest.lines.at(-1)).toBe('line 300');
  expect(await again.end({ graceMs: 2000 })).toBe('dead');
  expect(rest.exits).toHaveLength(1);
});

async function adopt(state: 'alive' | 'dead'): Promise<StdioProcess> {
  const adopted = await adoptStdio(directory, clock);
  if (adopted.state !== state) throw new Error(`it is ${adopted.state}`);
  opened.push(adopted.process);
  return adopted.process;
}

test('what a dead program said can still be read, until a successor starts on new files', async () => {
  const first = await launch();
  await first.writeLine('say 3');
  await first.writeLine('exit 0');
  await until(() => !first.isAlive());
  first.close();
  const remains = await adopt('dead');
  const heard = listen(remains);
  await until(() => heard.exits.length === 1);
  expect(heard.lines).toEqual(['line 1', 'line 2', 'line 3']);
  writeFileSync(join(directory, 'theirs.json'), '{}');
  const second = await launch();
  expect(readFileSync(join(directory, 'out.log'), 'utf8')).toBe('');
  expect(readdirSync(directory)).toContain('theirs.json');
  expect(isAlive(second.identity)).toBe(true);
});

test('a second program is refused while the first lives', async () => {
  await launch();
  const second = await launchStdio({ argv: ['cat'], env: minimalEnvironment(), cwd: root, directory, clock });
  expect(second).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
});

test('nothing is adopted where nothing was launched, or where the pid belongs to somebody else now', async () => {
  expect(await adoptStdio(directory, clock)).toEqual({ state: 'none' });
  const other = identityOf(process.pid);
  mkdirSync(directory);
  writeFileSync(join(directory, 'out.log'), 'last words\n');
  writeFileSync(
    join(directory, 'process.json'),
    JSON.stringify({ ...other, startedAt: 'before the reboot' }),
  );
  const remains = await adopt('dead');
  const heard = listen(remains);
  expect(await remains.end({ graceMs: 0 })).toBe('dead');
  expect(heard).toMatchObject({ lines: ['last words'], exits: ['the process is gone'] });
});

test('a program that cannot be started is unavailable, and the message says why', async () => {
  const attempt = (argv: string[], cwd = root) =>
    launchStdio({ argv, env: minimalEnvironment(), cwd, directory, clock });
  expect(await attempt(['no-such-agent'])).toMatchObject({ ok: false, code: 'AGENT_UNAVAILABLE' });
  expect(await attempt([join(root, 'agent.mjs')])).toMatchObject({
    ok: false,
    message: expect.stringContaining('executable'),
  });
  expect(await attempt(['cat'], join(root, 'gone'))).toMatchObject({
    ok: false,
    message: expect.stringContaining('gone'),
  });
});

test('a program that does not read is written to as far as it goes, then refused; what is under way is uncertain', async () => {
  const launched = await launch(['sleep', '600']);
  launched.close();
  const { identity } = launched;
  const impatient = new StdioProcess({ identity, directory, clock, patienceMs: 200 });
  opened.push(impatient);
  expect(await impatient.writeLine('x'.repeat(100_000))).toBe('uncertain');
  expect(await impatient.writeLine('short')).toBe('refused');
  expect(await impatient.end({ graceMs: 100 })).toBe('dead');
  // The detached writer dies of the missing reader.
  const writer = readdirSync(directory).find((name) => name.startsWith('write-')) ?? '';
  const record = JSON.parse(readFileSync(join(directory, writer, 'process.json'), 'utf8')) as ProcessIdentity;
  await until(() => !isAlive(record));
});

test('a full input refuses a short line without losing the order', async () => {
  const launched = await launch(['sleep', '600']);
  launched.close();
  const impatient = new StdioProcess({ identity: launched.identity, directory, clock, patienceMs: 50 });
  opened.push(impatient);
  let outcome = 'written';
  let count = 0;
  for (; outcome === 'written' && count < 100; count++) outcome = await impatient.writeLine('y'.repeat(4000));
  expect(outcome).toBe('refused');
  expect(count).toBeGreaterThan(10);
});

test('a writer that is killed within its line swallows nothing but its own line', async () => {
  const program = await launch();
  const heard = listen(program);
  process.kill(program.identity.pid, 'SIGSTOP');
  const torn = program.writeLine('x'.repeat(300_000));
  const records = (): string[] =>
    readdirSync(directory)
      .filter((name) => name.startsWith('write-'))
      .map((name) => join(directory, name, 'process.json'));
  await until(() => records().some((record) => existsSync(record)));
  const writer = JSON.parse(readFileSync(records()[0] ?? '', 'utf8')) as ProcessIdentity;
  // Its `cat` is within the line once the FIFO is full: 64 KiB are through and the rest waits.
  await until(() => descendantsOf(writer.pid).length === 1);
  expect(await endGroup(writer, { graceMs: 0, clock })).toBe('dead');
  process.kill(program.identity.pid, 'SIGCONT');
  expect(await torn).toBe('uncertain');
  expect(await program.writeLine('whole')).toBe('written');
  await until(() => heard.lines.some((line) => line.startsWith('got 5 ')));
});

test('closing releases every descriptor and every timer', async () => {
  let armed = 0;
  const counting: Clock = {
    ...clock,
    after(delayMs, fire) {
      let isArmed = true;
      const disarm = (): void => {
        if (isArmed) armed--;
        isArmed = false;
      };
      armed++;
      const cancel = clock.after(delayMs, () => (disarm(), fire()));
      return () => (disarm(), cancel());
    },
  };
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  const first = await launch();
  first.close();
  const before = descriptors();
  for (let i = 0; i < 10; i++) {
    const process = new StdioProcess({ identity: first.identity, directory, clock: counting });
    listen(process);
    expect(await process.writeLine('x'.repeat(i % 2 ? 10 : 5000))).toBe('written');
    await process.drain();
    expect(armed).toBeGreaterThan(0);
    process.close();
    expect(armed).toBe(0);
  }
  // What the runtime keeps for watches and for children may have come into being meanwhile.
  await until(() => descriptors() <= before + 4);
});

test('a newline within a line is a bug of the caller', async () => {
  const process = await launch();
  expect(() => process.writeLine('two\nlines')).toThrow();
});

test('ending reaches a grandchild in a session of its own', async () => {
  const process = await launch(['sh', '-c', 'setsid sh -c "echo \\$\\$; exec sleep 600" & read line']);
  const heard = listen(process);
  await until(() => heard.lines.length === 1);
  const grandchild = identityOf(Number(heard.lines[0]));
  if (!grandchild) throw new Error('the grandchild is gone');
  expect(await process.end({ graceMs: 1000 })).toBe('dead');
  expect(isAlive(grandchild)).toBe(false);
  expect(heard.exits).toEqual(['ended by SIGTERM']);
});
