import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import { identityOf, isAlive } from '../../processes/process-identity.ts';
import type { Conversation, DriverEvent, Opened, OpenRequest } from '../port.ts';
import { claudeDriver } from './driver.ts';
import { SentLog } from './sent-log.ts';

/* A program that speaks as Claude Code does, without a model: it answers each text, or does what the text says. */
const program = `
const { spawn } = require('node:child_process');
const { createInterface } = require('node:readline');
const { writeSync } = require('node:fs');
const say = (message) => writeSync(1, JSON.stringify(message) + '\\n');
const life = (command_uuid, state) => say({ type: 'command_lifecycle', command_uuid, state });
const state = (state) => say({ type: 'system', subtype: 'session_state_changed', state });
const begin = () => { state('running'); say({ type: 'system', subtype: 'init' }); };
const result = (how) => say({ type: 'result', is_error: false, result: 'done', ...how });
let queue = [], isBusy = false;
const next = () => {
  const uuid = queue.shift();
  if (uuid === undefined) { isBusy = false; return state('idle'); }
  life(uuid, 'started'); begin(); result({}); life(uuid, 'completed'); next();
};
const take = ({ uuid, message }) => {
  life(uuid, 'queued');
  if (message.content === 'leave a child and die') {
    life(uuid, 'started'); begin();
    say({ type: 'assistant', message: { content: [{ type: 'text', text: String(spawn('sleep', ['300']).pid) }] } });
    process.kill(process.pid, 'SIGKILL');
  }
  if (message.content === 'work') { life(uuid, 'started'); begin(); isBusy = true; return; }
  queue.push(uuid);
  if (message.content === 'wake first') { begin(); say({ type: 'assistant', message: { content: [{ type: 'text', text: 'woken' }] } }); isBusy = true; }
  if (!isBusy) next();
};
const answers = {
  initialize: () => ({}),
  interrupt: () => { setImmediate(() => { result({ is_error: true, terminal_reason: 'aborted_streaming' }); next(); }); return {}; },
  cancel_async_message: ({ message_uuid }) => {
    const cancelled = queue.includes(message_uuid);
    queue = queue.filter((uuid) => uuid !== message_uuid);
    if (cancelled) life(message_uuid, 'cancelled');
    return { cancelled };
  },
  end_session: () => { setImmediate(() => process.exit(0)); return {}; },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'user') return take(message);
  const response = { subtype: 'success', request_id: message.request_id, response: answers[message.request.subtype](message.request) };
  say({ type: 'control_response', response });
  if (process.env.EXITS_AT_ONCE) process.exit(3);
});
`;

let root: string;
let events: DriverEvent[];
const opened: Conversation[] = [];
const sessionId = new Ids(systemClock.now, () => 0).make('session');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'stemma-claude-'));
  writeFileSync(join(root, 'claude.cjs'), program);
  events = [];
});
afterEach(async () => {
  for (const conversation of opened.splice(0).slice(-1)) await conversation.end();
  rmSync(root, { recursive: true, force: true });
});

async function open(more: Partial<OpenRequest> = {}, env: Record<string, string> = {}): Promise<Opened> {
  const command = [process.execPath, join(root, 'claude.cjs')];
  const result = await claudeDriver({ clock: systemClock }).open({
    sessionId,
    profile: { name: 'claude', driver: 'claude', command, home: root, env },
    cwd: root,
    directory: join(root, 'session'),
    position: events.at(-1)?.position ?? 0,
    unresolved: [],
    emit: (event) => void events.push(event),
    ...more,
  });
  if (result.ok) opened.push(result.conversation);
  return result;
}

async function talk(more: Partial<OpenRequest> = {}): Promise<Conversation> {
  const result = await open(more);
  if (!result.ok) throw new Error(`${result.code}: ${result.message}`);
  return result.conversation;
}

const count = (type: DriverEvent['type']): number => events.filter((event) => event.type === type).length;

async function turns(conversation: Conversation, from: number, to: number): Promise<void> {
  for (let n = from; n <= to; n++) {
    const before = count('turnEnded');
    expect(await conversation.start({ id: `t${n}`, text: 'hello' }), `t${n}`).toEqual({ outcome: 'written' });
    await expect.poll(() => count('turnEnded'), { interval: 2, timeout: 10_000 }).toBe(before + 1);
  }
}

describe('texts of long ago', () => {
  it('are known as taken while the process lives, and after it was adopted, and hold nothing up', async () => {
    const first = await talk();
    await turns(first, 1, 103);
    expect(await first.evidence('t1')).toEqual({ state: 'consumed' });
    await first.detach();
    const second = await talk();
    for (const id of ['t1', 't50', 't92', 't103'])
      expect(await second.evidence(id), id).toMatchObject({ state: 'consumed' });
    expect(await second.start({ id: 't1', text: 'hello' })).toMatchObject({ outcome: 'refused' });
    await turns(second, 104, 105);
    expect(count('turnStarted')).toBe(105);
  });

  it('are told again with their names to whoever had not heard of them', async () => {
    const first = await talk();
    await turns(first, 1, 3);
    const heard = events.findLastIndex(({ type }) => type === 'turnStarted');
    await turns(first, 4, 16);
    await first.detach();
    const all = events.filter(({ type }) => type === 'turnStarted');
    events = events.slice(0, heard);
    await talk();
    expect(events.filter(({ type }) => type === 'turnStarted')).toEqual(all);
  });
});

describe('an interruption', () => {
  it('leaves a text alone that is to begin a turn behind one of the agent', async () => {
    const conversation = await talk();
    await conversation.start({ id: 't1', text: 'wake first' });
    await expect.poll(() => count('item'), { timeout: 10_000 }).toBe(1);
    expect(await conversation.interrupt()).toBe('asked');
    await expect.poll(() => count('turnEnded'), { timeout: 10_000 }).toBe(2);
    expect(events.flatMap((e) => (e.type === 'turnStarted' ? [e.deliveryId] : []))).toEqual([
      undefined,
      't1',
    ]);
  });

  it('brings a steered text back, which may then be sent again under its name', async () => {
    const conversation = await talk();
    await conversation.start({ id: 't1', text: 'work' });
    await expect.poll(() => count('turnStarted'), { timeout: 10_000 }).toBe(1);
    expect(await conversation.steer({ id: 's1', text: 'more' })).toEqual({ outcome: 'written' });
    expect(await conversation.interrupt()).toBe('asked');
    await expect.poll(() => count('turnEnded'), { timeout: 10_000 }).toBe(1);
    expect(await conversation.evidence('s1')).toEqual({ state: 'absent' });
    expect(await conversation.start({ id: 's1', text: 'more' })).toEqual({ outcome: 'written' });
    await expect.poll(() => count('turnEnded'), { timeout: 10_000 }).toBe(2);
    expect(await conversation.evidence('s1')).toMatchObject({ state: 'consumed' });
    expect(await conversation.withdraw('s1')).toBe('taken');
    expect(new SentLog(join(root, 'session')).past.get('s1')).toMatchObject({ fate: 'consumed' });
  });
});

describe('a call that does not say which one it is', () => {
  it('is of no turn that is proven while one runs, and of an ended one while nothing does', async () => {
    const conversation = await talk();
    expect(await conversation.locate({ meta: {} })).toEqual({ state: 'ended' });
    await conversation.start({ id: 't1', text: 'work' });
    await expect.poll(() => count('turnStarted'), { timeout: 10_000 }).toBe(1);
    expect(await conversation.locate({ meta: {} })).toEqual({ state: 'unknown' });
    await conversation.interrupt();
    await expect.poll(() => count('turnEnded'), { timeout: 10_000 }).toBe(1);
    expect(await conversation.locate({ meta: {} })).toEqual({ state: 'ended' });
  });
});

describe('a launch', () => {
  it('of a program that exits with its first answer has failed, or its exit is told', async () => {
    const result = await open({}, { EXITS_AT_ONCE: 'yes' });
    if (result.ok) await expect.poll(() => count('exited'), { timeout: 10_000 }).toBe(1);
    else expect(result).toMatchObject({ code: 'AGENT_UNAVAILABLE' });
  });

  it('has the bearer of the session in a file for its owner alone, and not on its command line', async () => {
    const directory = join(root, 'session');
    await talk({ tools: { url: 'http://127.0.0.1:9/mcp', token: 'very-secret' } });
    const { pid } = JSON.parse(readFileSync(join(directory, 'process.json'), 'utf8')) as { pid: number };
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain('very-secret');
    const files = readdirSync(directory).filter((name) => {
      const file = join(directory, name);
      return statSync(file).isFile() && readFileSync(file, 'utf8').includes('very-secret');
    });
    expect(files).toEqual(['claude-tools.json']);
    expect(statSync(join(directory, 'claude-tools.json')).mode & 0o777).toBe(0o600);
  });

  it('comes after what a dead one has left was ended', async () => {
    const first = await talk();
    await first.start({ id: 't1', text: 'leave a child and die' });
    await expect.poll(() => count('exited'), { timeout: 20_000 }).toBe(1);
    const said = events.find(({ type }) => type === 'item');
    const child = identityOf(Number(said?.type === 'item' ? said.item.text : 0));
    if (!child) throw new Error('it left nothing');
    await first.detach();
    await talk();
    expect(isAlive(child)).toBe(false);
  });
});
