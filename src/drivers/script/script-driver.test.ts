import { type ChildProcess, spawn } from 'node:child_process';
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
import { systemClock as clock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import { waitUntil } from '../../base/pause.ts';
import { identityOf, isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import type { AgentProfile, Conversation, DriverEvent, OpenRequest } from '../port.ts';
import { scriptDriver } from './script-driver.ts';

const driver = scriptDriver({ clock, graceMs: 300 });
const sessionId = new Ids(Date.now, Math.random).make('session');

let root = '';
let owner: ChildProcess | undefined;
let events: DriverEvent[] = [];
const opened: Conversation[] = [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-script-'));
  events = [];
});

afterEach(async () => {
  owner?.kill('SIGKILL');
  for (const conversation of opened.splice(0)) await conversation.end();
  rmSync(root, { recursive: true, force: true });
});

function profileOf(script: string): AgentProfile {
  return { name: 'test', driver: 'script', command: ['sh', '-c', script], env: { GIVEN: 'yes' } };
}

function requestOf(script: string, more: Partial<OpenRequest> = {}): OpenRequest {
  const emit = (event: DriverEvent): void => void events.push(event);
  return {
    sessionId,
    profile: profileOf(script),
    cwd: root,
    directory: root,
    position: 0,
    unresolved: [],
    emit,
    ...more,
  };
}

async function open(script: string, more: Partial<OpenRequest> = {}, how = 'started'): Promise<Conversation> {
  const result = await driver.open(requestOf(script, more));
  if (!result.ok) throw new Error(result.message);
  expect(result.how).toBe(how);
  opened.push(result.conversation);
  return result.conversation;
}

async function until(condition: () => boolean): Promise<void> {
  expect(await waitUntil(clock, condition, 15_000)).toBe(true);
}

type Ended = Extract<DriverEvent, { type: 'turnEnded' }>;

const ends = (): Ended[] => events.filter((event): event is Ended => event.type === 'turnEnded');

async function turn(conversation: Conversation, id: string, text: string): Promise<Ended> {
  const count = ends().length;
  expect(await conversation.start({ id, text })).toEqual({ outcome: 'written' });
  await until(() => ends().length > count);
  return ends()[count] as Ended;
}

test('a turn is one process: the prompt on stdin, the answer on stdout', async () => {
  const conversation = await open('cat; printf " in %s" "$PWD"');
  await turn(conversation, 'd1', 'hello\n"$HOME" `x`');
  const answer = `hello\n"$HOME" \`x\` in ${root}`;
  expect(events).toEqual([
    { type: 'turnStarted', nativeTurnId: 'turn-1', deliveryId: 'd1', position: 1 },
    { type: 'item', nativeTurnId: 'turn-1', item: { kind: 'text', text: answer }, position: 2 },
    { type: 'turnEnded', nativeTurnId: 'turn-1', status: 'succeeded', answer, tasks: [], position: 3 },
  ]);
  expect(conversation.nativeId).toBe(sessionId);
});

test('the program gets a minimal environment, the profile, and where to call us', async () => {
  process.env['STEMMA_TEST_LEAK'] = 'secret';
  const tools = { url: 'http://127.0.0.1:4000/mcp', token: 'stm_ses_x' };
  const conversation = await open('env', { tools });
  const { answer } = await turn(conversation, 'd1', '');
  delete process.env['STEMMA_TEST_LEAK'];
  const env = new Map(answer.split('\n').map((line) => line.split('=', 2) as [string, string]));
  expect(env.get('GIVEN')).toBe('yes');
  expect(env.get('STEMMA_URL')).toBe('http://127.0.0.1:4000');
  expect(env.get('STEMMA_TOKEN')).toBe('stm_ses_x');
  expect(env.get('STEMMA_SESSION')).toBe(sessionId);
  expect(answer).not.toContain('secret');
});

test('another exit code is a failure that says what the program said last', async () => {
  const conversation = await open('echo half; echo one >&2; echo two >&2; exit 3');
  const end = await turn(conversation, 'd1', '');
  expect(end).toMatchObject({
    status: 'failed',
    answer: 'half\n',
    error: { kind: 'agent', message: 'exit code 3: one\ntwo' },
  });
  const killed = await open('kill -9 $$', { directory: join(root, 'other') });
  expect((await turn(killed, 'd1', '')).error?.message).toContain('SIGKILL');
});

test('output of any kind and size makes a bounded answer', async () => {
  const script = `printf 'a\\000\\377b'; head -c 5000000 /dev/zero | tr '\\000' z; printf end`;
  const { status, answer } = await turn(await open(script), 'd1', '');
  expect(status).toBe('succeeded');
  expect(answer.startsWith('a\uFFFD\uFFFDbzzz')).toBe(true);
  expect(answer.endsWith('zzzend')).toBe(true);
  expect(answer).toContain('bytes left out');
  expect(Buffer.byteLength(answer)).toBeLessThan(1024 * 1024 + 200);
});

test('a program that prints without end is ended, and leaves no more than an answer', async () => {
  const bounded = scriptDriver({ clock, graceMs: 300, mostOutputBytes: 2_000_000 });
  const result = await bounded.open(requestOf('exec yes'));
  if (!result.ok) throw new Error(result.message);
  opened.push(result.conversation);
  const { status, answer, error } = await turn(result.conversation, 'd1', '');
  expect({ status, error }).toEqual({
    status: 'failed',
    error: { kind: 'agent', message: 'the program was ended: it printed without end' },
  });
  expect(answer).toContain('bytes left out');
  expect(statSync(join(root, 'turns', 'turn-000001', 'out')).size).toBeLessThan(1_100_000);
});

test('a working directory that is none refuses the conversation, or the turn if it vanished later', async () => {
  const cwd = join(root, 'work');
  const refused = await driver.open(requestOf('echo hi', { cwd }));
  expect(refused).toMatchObject({ code: 'AGENT_UNAVAILABLE', message: expect.stringContaining(cwd) });
  mkdirSync(cwd);
  const conversation = await open('echo hi', { cwd });
  rmSync(cwd, { recursive: true });
  writeFileSync(cwd, '');
  expect(await conversation.start({ id: 'd1', text: '' })).toEqual({
    outcome: 'refused',
    reason: `the working directory ${cwd} is not a directory`,
  });
});

test('an interrupt ends the group, also what left it, and the turn says so', async () => {
  const conversation = await open(
    'setsid sh -c "echo \\$\\$ >far; exec sleep 600" & trap "" TERM; sleep 600; sleep 600',
  );
  expect(await conversation.interrupt()).toBe('idle');
  await conversation.start({ id: 'd1', text: '' });
  expect(await conversation.start({ id: 'd2', text: '' })).toMatchObject({ outcome: 'refused' });
  const far = await processIn('far');
  expect(await conversation.interrupt()).toBe('asked');
  await until(() => ends().length === 1);
  expect(ends()[0]?.status).toBe('interrupted');
  expect(isAlive(far)).toBe(false);
  expect(await conversation.interrupt()).toBe('idle');
});

async function processIn(name: string): Promise<ProcessIdentity> {
  const path = join(root, name);
  await until(() => existsSync(path) && readFileSync(path, 'utf8').endsWith('\n'));
  const identity = identityOf(Number(readFileSync(path, 'utf8')));
  if (!identity) throw new Error('the process is gone');
  return identity;
}

test('a program that does not exist refuses the conversation', async () => {
  const profile = { name: 'x', driver: 'script', command: ['no-such-program'] };
  expect(await driver.open(requestOf('', { profile }))).toMatchObject({
    ok: false,
    code: 'AGENT_UNAVAILABLE',
  });
  expect(await driver.probe(profile)).toMatchObject({ found: false });
  expect(await driver.probe(profileOf(''))).toEqual({ found: true, warnings: [] });
});

test('a program that vanished later refuses the turn and leaves nothing', async () => {
  const program = join(root, 'tool');
  writeFileSync(program, '#!/bin/sh\necho done\n', { mode: 0o755 });
  const conversation = await open('', { profile: { name: 'x', driver: 'script', command: [program] } });
  expect((await turn(conversation, 'd1', '')).answer).toBe('done\n');
  rmSync(program);
  expect(await conversation.start({ id: 'd2', text: '' })).toMatchObject({ outcome: 'refused' });
  expect(await conversation.evidence('d2')).toEqual({ state: 'absent' });
  expect(await conversation.evidence('d1')).toEqual({ state: 'consumed', nativeTurnId: 'turn-1' });
});

test('a call belongs to the turn that runs, and to none afterwards', async () => {
  const conversation = await open('read go <pipe');
  expect(await conversation.locate({ meta: {} })).toEqual({ state: 'unknown' });
  spawn('mkfifo', [join(root, 'pipe')]);
  await until(() => existsSync(join(root, 'pipe')));
  await conversation.start({ id: 'd1', text: '' });
  expect(await conversation.locate({ meta: {} })).toEqual({ state: 'running', nativeTurnId: 'turn-1' });
  writeFileSync(join(root, 'pipe'), 'go\n');
  await until(() => ends().length === 1);
  expect(await conversation.locate({ meta: {} })).toEqual({ state: 'ended' });
  expect(await conversation.steer({ id: 's', text: '' })).toMatchObject({ outcome: 'refused' });
  expect(await conversation.withdraw('s')).toBe('unknown');
});

test('a detached turn runs on and says nothing; who opens next hears its end once', async () => {
  const script = 'echo $$ >pid; while [ ! -e go ]; do sleep 0.02; done; cat';
  const first = await open(script);
  await first.start({ id: 'd1', text: 'hello' });
  await until(() => events.length === 1);
  await first.detach();
  const wrapper = await processIn('pid');
  const second = await open(script, { position: 1 }, 'adopted');
  expect(await second.start({ id: 'd2', text: '' })).toMatchObject({ outcome: 'refused' });
  expect(await second.locate({ meta: {} })).toEqual({ state: 'running', nativeTurnId: 'turn-1' });
  writeFileSync(join(root, 'go'), '');
  await until(() => ends().length === 1);
  expect(isAlive(wrapper)).toBe(false);
  expect(events.map((event) => event.type)).toEqual(['turnStarted', 'item', 'turnEnded']);
  await second.detach();
  const third = await open(script, { position: 3 }, 'resumed');
  expect(await third.evidence('d1')).toMatchObject({ state: 'consumed' });
  expect(events).toHaveLength(3);
  expect((await turn(third, 'd2', 'again')).nativeTurnId).toBe('turn-2');
});

test('the owner is killed within a turn: the turn goes on, and its end is heard by the next', async () => {
  const script = 'echo $$ >pid; cat; while [ ! -e go ]; do sleep 0.02; done; echo " done"';
  await killOwnerWithin(script);
  const adopted = await open(script, {}, 'adopted');
  expect(await adopted.evidence('d1')).toEqual({ state: 'consumed', nativeTurnId: 'turn-1' });
  expect(events).toEqual([{ type: 'turnStarted', nativeTurnId: 'turn-1', deliveryId: 'd1', position: 1 }]);
  writeFileSync(join(root, 'go'), '');
  await until(() => ends().length === 1);
  expect(ends()[0]).toMatchObject({ status: 'succeeded', answer: 'from the owner done\n', position: 3 });
});

test('a turn that ended while nobody listened is reported at the next opening, unless it was processed', async () => {
  const script = 'echo $$ >pid; cat; while [ ! -e go ]; do sleep 0.02; done; exit 4';
  const program = await killOwnerWithin(script);
  writeFileSync(join(root, 'go'), '');
  await until(() => !isAlive(program) && readdirSync(join(root, 'turns', 'turn-000001')).includes('status'));
  const adopted = await open(script, { position: 1 }, 'adopted');
  await adopted.evidence('d1');
  expect(events.map((event) => event.type)).toEqual(['item', 'turnEnded']);
  expect(ends()[0]?.error?.message).toBe('exit code 4');
  await adopted.detach();
  await (await open(script, { position: 3 }, 'resumed')).evidence('d1');
  expect(events).toHaveLength(2);
});

test('a wrapper that is killed alone takes the program with it, and the turn has failed', async () => {
  const script = 'echo $$ >pid; exec sleep 600';
  const conversation = await open(script);
  await conversation.start({ id: 'd1', text: '' });
  const program = await processIn('pid');
  const record = readFileSync(join(root, 'turns', 'turn-000001', 'process.json'), 'utf8');
  process.kill((JSON.parse(record) as ProcessIdentity).pid, 'SIGKILL');
  await until(() => ends().length === 1);
  expect(ends()[0]).toMatchObject({
    status: 'failed',
    error: { message: expect.stringContaining('without') },
  });
  expect(isAlive(program)).toBe(false);
});

async function killOwnerWithin(script: string): Promise<ProcessIdentity> {
  const link = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);
  const program = `
    import { scriptDriver } from ${link('./script-driver.ts')};
    import { systemClock as clock } from ${link('../../base/clock.ts')};
    const request = JSON.parse(process.argv[1]);
    setInterval(() => undefined, 1000);
    const { conversation } = await scriptDriver({ clock }).open({ ...request, emit: () => undefined });
    await conversation.start({ id: 'd1', text: 'from the owner' });
  `;
  const args = [
    '--import',
    'tsx',
    '--input-type=module',
    '-e',
    program,
    '--',
    JSON.stringify(requestOf(script)),
  ];
  owner = spawn(process.execPath, args, { stdio: 'inherit' });
  const running = await processIn('pid');
  owner.kill('SIGKILL');
  await until(() => owner?.signalCode === 'SIGKILL');
  return running;
}

test('a turn that never got to its record never ran', async () => {
  const directory = join(root, 'turns', 'turn-000007');
  mkdirSync(join(directory, 'launch-abcdef'), { recursive: true });
  writeFileSync(join(directory, 'delivery'), 'd7');
  const conversation = await open('cat');
  expect(await conversation.evidence('d7')).toEqual({ state: 'absent' });
  expect(existsSync(directory)).toBe(false);
});

test('ending reaches the running turn and what ended turns left behind', async () => {
  const conversation = await open(
    'setsid sh -c "echo \\$\\$ >far; exec sleep 600" & read line; [ "$line" = stay ] && sleep 600',
  );
  await turn(conversation, 'd1', 'go\n');
  const far = await processIn('far');
  expect(isAlive(far)).toBe(true);
  await conversation.start({ id: 'd2', text: 'stay\n' });
  expect(await conversation.end()).toBe('dead');
  expect(isAlive(far)).toBe(false);
  expect(ends().map((end) => end.status)).toEqual(['failed', 'interrupted']);
  expect(events.at(-1)?.type).toBe('exited');
  expect(await conversation.start({ id: 'd3', text: '' })).toMatchObject({ outcome: 'refused' });
});

test('the directories of the last fifty turns are kept', async () => {
  const conversation = await open('cat');
  for (let i = 1; i <= 53; i++) await turn(conversation, `d${i}`, '');
  const names = readdirSync(join(root, 'turns')).sort();
  expect(names).toHaveLength(50);
  expect(names[0]).toBe('turn-000004');
  expect(events.map((event) => event.position)).toEqual(
    events.map((event) => event.position).toSorted((a, b) => a - b),
  );
});
