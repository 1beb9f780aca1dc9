import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { waitUntil } from '../base/pause.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { Conversation } from '../drivers/port.ts';
import { scriptDriver } from '../drivers/script/script-driver.ts';
import { newExecution } from '../ledger/registration.ts';
import { isAlive } from '../../test/e2e/living-processes.ts';
import { createCommands } from './commands.ts';

const directory = mkdtempSync(join(tmpdir(), 'stemma-commands-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const scripts = scriptDriver({ clock: systemClock, graceMs: 500 });

const commandsOfOneServer = (driver = scripts) =>
  createCommands({
    driver,
    clock: systemClock,
    directory: (id) => join(directory, id),
    tools: () => ({ url: 'http://127.0.0.1:1/mcp', token: 'none' }),
  });

it('a command that an earlier server started is ended, though nobody has looked for it yet', async () => {
  const id = 'exe_01K0000000000000000000TEST' as ExecutionId;
  const check = newExecution(0, null, 'none', { id, kind: 'step', name: 'check' });
  const file = join(directory, 'pid');
  const ended = commandsOfOneServer().run(check, `echo $$ > ${file}; exec sleep 600`, directory);
  await waitUntil(systemClock, () => existsSync(file) && readFileSync(file, 'utf8') !== '', 20_000);
  const pid = Number(readFileSync(file, 'utf8'));
  expect(await commandsOfOneServer().end(id)).toBe('dead');
  // Dead, if perhaps not collected yet: that is for its parent, which is this process.
  expect(isAlive(pid)).toBe(false);
  expect((await ended).exitCode).not.toBe(0);
}, 60_000);

it('a command that has ended is forgotten with all that it printed', async () => {
  const id = 'exe_01K0000000000000000000DEAD' as ExecutionId;
  const check = newExecution(0, null, 'none', { id, kind: 'step', name: 'check' });
  const commands = commandsOfOneServer();
  expect(await commands.run(check, 'echo no; exit 3', directory)).toEqual({ exitCode: 3, output: 'no' });
  expect(existsSync(join(directory, id))).toBe(true);
  await commands.forget(id);
  expect(existsSync(join(directory, id))).toBe(false);
  await commands.forget(id);
  // Nor does it leave anything behind to end what is not there.
  expect(await commands.end(id)).toBe('dead');
  expect(existsSync(join(directory, id))).toBe(false);
}, 60_000);

it('a command that may not start any more never runs', async () => {
  const id = 'exe_01K0000000000000000000NONE' as ExecutionId;
  const file = join(directory, 'never');
  const commands = commandsOfOneServer();
  const mayStart = async (): Promise<boolean> => false;
  const end = await commands.run({ id, mayStart }, `touch ${file}`, directory);
  expect(end).toMatchObject({ exitCode: null, isUnstarted: true });
  expect(existsSync(file)).toBe(false);
}, 60_000);

it('what a command left running is ended when it is cleared', async () => {
  const id = 'exe_01K0000000000000000000LEFT' as ExecutionId;
  const check = newExecution(0, null, 'none', { id, kind: 'step', name: 'check' });
  const commands = commandsOfOneServer();
  const file = join(directory, 'left');
  await commands.run(check, `sleep 600 >/dev/null 2>&1 & echo $! > ${file}`, directory);
  const pid = Number(readFileSync(file, 'utf8'));
  expect(isAlive(pid)).toBe(true);
  await commands.clear(id);
  expect(isAlive(pid)).toBe(false);
  expect(existsSync(join(directory, id))).toBe(false);
  await commands.clear(id);
}, 60_000);

it('a command that an earlier server ended, as its time was over, is late for the next one too', async () => {
  const id = 'exe_01K0000000000000000000LATE' as ExecutionId;
  const file = join(directory, 'late');
  const [stops, first] = [new AbortController(), commandsOfOneServer()];
  const left = first.run(
    { id, limitMs: 600_000 },
    `echo $$ > ${file}; exec sleep 600`,
    directory,
    stops.signal,
  );
  await waitUntil(systemClock, () => existsSync(file) && readFileSync(file, 'utf8') !== '', 20_000);
  stops.abort();
  await expect(left).rejects.toMatchObject({ code: 'STOPPING' });
  expect(await commandsOfOneServer().end(id)).toBe('dead');
  const end = await commandsOfOneServer().run({ id, limitMs: 1 }, 'never again', directory);
  expect(end).toMatchObject({ exitCode: null, isOverdue: true });
}, 60_000);

it('a command that ended by itself while no server was there is not late, whenever that is heard', async () => {
  const id = 'exe_01K000000000000000000ALONE' as ExecutionId;
  const [stops, file] = [new AbortController(), join(directory, 'alone')];
  const left = commandsOfOneServer().run({ id }, `echo done; touch ${file}; exit 0`, directory, stops.signal);
  await waitUntil(systemClock, () => existsSync(file), 20_000);
  stops.abort();
  await left.catch(() => undefined);
  const end = await commandsOfOneServer().run({ id, limitMs: 60_000 }, 'never again', directory);
  expect(end).toEqual({ exitCode: 0, output: 'done\n' });
}, 60_000);

it('a command that survives its end is told as late, and nobody waits for it any more', async () => {
  const id = 'exe_01K00000000000000000000IMM' as ExecutionId;
  // No test can make a process that outlives SIGKILL; this is what a driver says of one.
  const immortal: typeof scripts = {
    ...scripts,
    async open(request) {
      const opened = await scripts.open(request);
      if (!opened.ok) return opened;
      const { conversation } = opened;
      return { ...opened, conversation: new Proxy(conversation, { get: getImmortal }) };
    },
  };
  const commands = commandsOfOneServer(immortal);
  const end = await commands.run({ id, limitMs: 1 }, 'exec sleep 600', directory);
  expect(end).toMatchObject({ exitCode: null, isOverdue: true });
  expect(await commandsOfOneServer().end(id)).toBe('dead');
}, 60_000);

/** A conversation whose processes cannot be ended. */
function getImmortal(real: Conversation, name: keyof Conversation): unknown {
  if (name === 'end') return () => Promise.resolve('unkillable');
  if (name === 'interrupt') return () => Promise.resolve('asked');
  const member = real[name];
  return typeof member === 'function' ? member.bind(real) : member;
}
