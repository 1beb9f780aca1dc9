import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Delivery, OpenRequest } from '../../src/drivers/port.ts';
import { isAlive, type ProcessIdentity } from '../../src/processes/process-identity.ts';
import { readProcessTable, readStartVariable } from '../../src/processes/process-table.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { CodexBench, findCodex } from './codex-bench.ts';

const program = findCodex();
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A conversation in another process, to be killed. */
interface Owner {
  readonly lines: Record<string, unknown>[];
  line(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  kill(): Promise<void>;
}

function startOwner(request: OpenRequest, delivery: Delivery, steer?: Delivery): Owner {
  const argument = JSON.stringify({ ...request, delivery, ...(steer ? { steer } : {}) });
  const args = ['--import', 'tsx', 'test/real/codex-owner.ts', argument];
  const child: ChildProcess = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const lines: Record<string, unknown>[] = [];
  const waiters = new Set<() => void>();
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (text) => {
    lines.push(JSON.parse(text) as Record<string, unknown>);
    for (const look of waiters) look();
  });
  return {
    lines,
    line: (fits) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`the owner never said so: ${JSON.stringify(lines)}`)),
          30_000,
        );
        const look = (): void => {
          const found = lines.find(fits);
          if (!found) return;
          clearTimeout(timer);
          waiters.delete(look);
          resolve(found);
        };
        waiters.add(look);
        look();
      }),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

describe.skipIf(!program)('a codex conversation survives', () => {
  let bench: CodexBench;
  beforeAll(async () => {
    bench = await CodexBench.start(program ?? '');
  });
  afterAll(() => bench.stop());
  afterEach(() => bench.restart());

  it('the death of our process in the middle of a turn', async () => {
    const delivery = { id: bench.deliveryId(), text: '[[slow 3 whole answer]]' };
    const owner = startOwner(bench.request('mid'), delivery);
    const started = await owner.line((line) => line['type'] === 'turnStarted');
    await owner.kill();
    const talk = await bench.open('mid', { unresolved: [delivery.id] });
    expect(talk.how).toBe('adopted');
    const ended = await talk.event('turnEnded');
    expect(ended).toMatchObject({
      nativeTurnId: started['nativeTurnId'],
      status: 'succeeded',
      answer: 'whole answer',
    });
    expect(talk.all('turnStarted')).toMatchObject([{ deliveryId: delivery.id }]);
    expect(await talk.turn('[[say and on]]')).toMatchObject({ answer: 'and on' });
  });

  it('the death of our process while a steer waits in a tool', async () => {
    const delivery = {
      id: bench.deliveryId(),
      text: '[[tool slow_echo {"secs":3,"text":"z"}]] [[say done]]',
    };
    const steer = { id: bench.deliveryId(), text: 'MARK-SURVIVES' };
    const owner = startOwner(bench.request('steer'), delivery, steer);
    await owner.line((line) => 'steered' in line);
    await owner.kill();
    const talk = await bench.open('steer', { unresolved: [delivery.id, steer.id] });
    await talk.event('turnEnded');
    expect(talk.all('taken')).toMatchObject([{ deliveryId: steer.id }]);
    expect(bench.model.heard('MARK-SURVIVES')).toBe(1);
  });

  it('the end of its turn while nobody listens, and reports it once', async () => {
    const delivery = { id: bench.deliveryId(), text: '[[shell echo hi]] [[slow 1 away]]' };
    const owner = startOwner(bench.request('away'), delivery);
    await owner.line((line) => line['type'] === 'turnStarted');
    await owner.kill();
    await bench.model.waitFor((e) => e.type === 'ended' && e.number === bench.model.requests.length);
    const talk = await bench.open('away', { unresolved: [delivery.id] });
    const ended = await talk.event('turnEnded');
    expect(ended).toMatchObject({ status: 'succeeded', answer: 'away' });
    await bench.restart(talk);
    const later = await bench.open('away', { position: ended.position });
    await later.turn('[[say later]]');
    expect(later.all('turnEnded').map((e) => e.answer)).toEqual(['later']);
    expect(later.all('turnStarted')).toHaveLength(1);
  });

  it('our death before its first turn', async () => {
    const first = await bench.open('young');
    await bench.restart(first);
    const talk = await bench.open('young', { nativeId: first.conversation.nativeId });
    expect(talk.how).toBe('adopted');
    expect(await talk.turn('[[say born]]')).toMatchObject({ answer: 'born' });
  });

  it('with its background work, and hears of its end', async () => {
    const first = await bench.open('work');
    const ended = await first.turn(
      '[[background sleep 4; echo worked]] [[background sleep 1; echo short]] [[say left two]]',
    );
    expect(ended.tasks).toHaveLength(2);
    await bench.restart(first);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const talk = await bench.open('work', { position: ended.position });
    const [long, short] = ended.tasks;
    expect(await talk.event('taskEnded', (e) => e.taskId === short?.taskId)).toMatchObject({
      result: 'short\n',
    });
    expect(await talk.event('taskEnded', (e) => e.taskId === long?.taskId)).toMatchObject({
      status: 'succeeded',
      result: 'worked\n',
    });
    expect(talk.all('turnEnded')).toEqual([]);
  });

  it('with a sub-agent at work, and hears of its end', async () => {
    const first = await bench.open('agents');
    const child = '[[shell sleep 3]] [[say child done]]';
    const ended = await first.turn(`[[tool spawn_agent {"message":"${child}"}]] [[say parent done]]`);
    expect(ended.tasks).toHaveLength(1);
    await bench.restart(first);
    const talk = await bench.open('agents', { position: ended.position });
    const done = await talk.event('taskEnded');
    expect(done).toMatchObject({ taskId: ended.tasks[0]?.taskId, status: 'succeeded', result: 'child done' });
  });

  it('a move of its tools, once it is idle', async () => {
    const first = await bench.open('moved');
    await first.turn('[[tool slow_echo {"secs":0,"text":"old"}]] [[say a]]');
    await bench.restart(first);
    const tools = { url: bench.tools.url, token: 'bearer-new' };
    const talk = await bench.open('moved', { tools, position: first.events.at(-1)?.position ?? 0 });
    await talk.turn('[[tool slow_echo {"secs":0,"text":"new"}]] [[say b]]');
    expect(
      bench.tools.calls.filter((c) => c.text === 'old' || c.text === 'new').map((c) => c.bearer),
    ).toEqual(['bearer-moved', 'bearer-new']);
  });

  it('the absence of its tools: it does not start without them', async () => {
    const nowhere = { url: 'http://127.0.0.1:1/mcp', token: 'x' };
    const { opened } = await bench.tryOpen('toolless', { tools: nowhere });
    expect(opened).toMatchObject({
      ok: false,
      code: 'AGENT_FAILED',
      message: expect.stringContaining('stemma'),
    });
    bench.tools.delayMs = 1200;
    const slow = await bench.open('toolless');
    bench.tools.delayMs = 0;
    await slow.turn('[[tool slow_echo {"secs":0,"text":"waited for"}]] [[say x]]');
    expect(bench.tools.calls.some((c) => c.text === 'waited for')).toBe(true);
    await bench.restart(slow);
    const moved = await bench.open('toolless', {
      tools: nowhere,
      position: slow.events.at(-1)?.position ?? 0,
    });
    const sent = await moved.conversation.start({ id: bench.deliveryId(), text: 'x' });
    expect(sent).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('tools') });
    await bench.restart(moved);
    const back = await bench.open('toolless', { position: slow.events.at(-1)?.position ?? 0 });
    expect(await back.turn('[[say back]]')).toMatchObject({ answer: 'back' });
  });

  it('a text that somebody left in the queue of Codex: it is removed, and never runs', async () => {
    const first = await bench.open('queued');
    await first.turn('[[say one]]');
    await first.conversation.start({ id: bench.deliveryId(), text: '[[slow 1]]' });
    await first.event('turnStarted', (e) => e.nativeTurnId !== first.all('turnEnded')[0]?.nativeTurnId);
    const { RpcClient } = await import('../../src/drivers/codex/rpc-client.ts');
    const { systemClock } = await import('../../src/base/clock.ts');
    const silent = { onNotification: () => {}, onRequest: () => {}, onNoise: () => {}, onClose: () => {} };
    const connected = await RpcClient.connect(`${bench.serverDirectory()}/s`, systemClock, 5000, silent);
    if (!connected.ok) throw new Error(connected.message);
    const { client } = connected;
    const clientInfo = { name: 'somebody', title: 'somebody', version: '1' };
    await client.request('initialize', { clientInfo, capabilities: { experimentalApi: true } }, 5000);
    client.notify('initialized');
    const input = [{ type: 'text', text: 'MARK-QUEUED', text_elements: [] }];
    const params = { threadId: first.conversation.nativeId, input, clientUserMessageId: 'somebody-1' };
    expect(await client.request('thread/queue/add', params, 5000)).toMatchObject({ outcome: 'ok' });
    client.close();
    expect(await first.conversation.evidence('somebody-1')).toEqual({ state: 'queued' });
    await bench.restart(first);
    const talk = await bench.open('queued', { position: first.events.at(-1)?.position ?? 0 });
    await talk.event('noise', (e) => e.what.includes('queue'));
    await talk.event('turnEnded');
    expect(await talk.turn('[[say mine]]')).toMatchObject({ answer: 'mine' });
    expect(bench.model.heard('MARK-QUEUED')).toBe(0);
  });

  it('any moment of reconnecting around the end of a turn', async () => {
    const ends: Record<string, number> = {};
    let position = 0;
    for (let i = 0; i < 80; i++) {
      const first = await bench.open('race', { position });
      const id = bench.deliveryId();
      expect(await first.conversation.start({ id, text: `[[say race ${i}]]` })).toEqual({
        outcome: 'written',
      });
      // The last text comes a few milliseconds before the end.
      await first.event('item', (e) => e.item.kind === 'text');
      await new Promise((resolve) => setTimeout(resolve, i % 16));
      await bench.restart(first);
      const talk = await bench.open('race', { position, unresolved: [id] });
      const ended = await talk.event(
        'turnEnded',
        (e) => e.answer === `race ${i}` || e.status !== 'succeeded',
        8000,
      );
      expect(talk.all('turnEnded')).toHaveLength(1);
      const key = `${first.all('turnEnded').length > 0 ? 'heard' : 'unheard'} before, then ${ended.status}`;
      ends[key] = (ends[key] ?? 0) + 1;
      position = ended.position;
      await bench.restart(talk);
    }
    console.info('reconnects around the end:', JSON.stringify(ends));
    expect(Object.keys(ends).every((key) => key.endsWith('succeeded'))).toBe(true);
  });
});

describe.skipIf(!program)('when the codex app-server dies', () => {
  let bench: CodexBench;
  beforeAll(async () => {
    bench = await CodexBench.start(program ?? '');
  });
  afterAll(() => bench.stop());
  afterEach(() => bench.restart());

  const leader = async (): Promise<ProcessIdentity> => {
    const found = await readRecord(bench.serverDirectory());
    if (!found) throw new Error('no server is recorded');
    return found;
  };
  const bearersOf = (identity: ProcessIdentity): string[] => {
    const origin = `${identity.pid}:${identity.startedAt}`;
    const rows = readProcessTable().filter((row) => !row.isZombie);
    return rows
      .filter((row) => readStartVariable(row.pid, 'STEMMA_ORIGIN') === origin)
      .map((row) => String(row.pid));
  };

  it('in a turn, that is said once, its shells are ended, and the conversation goes on in a new one', async () => {
    const talk = await bench.open('killed');
    const first = await talk.turn('[[background sleep 83]] [[say left one]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: 'MARK-KILLED [[slow 20]]' });
    await talk.event('turnStarted', (e) => e.deliveryId === id);
    const server = await leader();
    process.kill(-server.pid, 'SIGKILL');
    await talk.event('exited');
    expect(isAlive(server)).toBe(false);
    expect(bearersOf(server)).toEqual([]);
    expect(talk.all('turnEnded')).toHaveLength(1);
    expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.evidence('never-sent')).toEqual({ state: 'absent' });
    expect(await talk.conversation.start({ id: 'x', text: 'x' })).toMatchObject({ outcome: 'refused' });
    expect(await talk.conversation.end()).toBe('dead');
    const request = { nativeId: talk.conversation.nativeId, position: first.position, unresolved: [id] };
    const again = await bench.open('killed', request);
    expect(again.how).toBe('resumed');
    expect(await again.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await again.turn('[[say back]]')).toMatchObject({ answer: 'back' });
    expect(again.all('exited')).toEqual([]);
  });

  it('while a steer waits, the steer is proven gone', async () => {
    const talk = await bench.open('killedSteer');
    await talk.conversation.start({
      id: bench.deliveryId(),
      text: '[[tool slow_echo {"secs":20,"text":"z"}]]',
    });
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    const steer = { id: bench.deliveryId(), text: 'MARK-GONE' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    process.kill(-(await leader()).pid, 'SIGKILL');
    await talk.event('exited');
    expect(talk.all('taken')).toEqual([]);
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    const again = await bench.open('killedSteer', {
      nativeId: talk.conversation.nativeId,
      unresolved: [steer.id],
    });
    await again.turn('[[say clean]]');
    expect(bench.model.heard('MARK-GONE')).toBe(0);
  });

  it('by being told to drain, the turn is heard to its end first', async () => {
    const talk = await bench.open('drained');
    await talk.turn('[[say warm]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[slow 2 drained answer]]' });
    await talk.event('turnStarted', (e) => e.deliveryId === id);
    process.kill((await leader()).pid, 'SIGTERM');
    await talk.event('exited');
    expect(talk.all('turnEnded').map((e) => [e.status, e.answer])).toEqual([
      ['succeeded', 'warm'],
      ['succeeded', 'drained answer'],
    ]);
    expect(talk.events.at(-1)?.type).toBe('exited');
  });

  it('nothing is started for a session that is only to be adopted', async () => {
    const talk = await bench.open('cold');
    await talk.turn('[[say warm]]');
    expect(await talk.conversation.end()).toBe('dead');
    const { opened } = await bench.tryOpen('cold', { nativeId: talk.conversation.nativeId, adoptOnly: true });
    expect(opened).toMatchObject({ ok: false, code: 'NOT_RUNNING' });
    expect(await readRecord(bench.serverDirectory())).toBeUndefined();
  });

  it('a conversation that is gone is said to be gone', async () => {
    const { opened } = await bench.tryOpen('gone', {
      nativeId: '01a22a04-de3f-7931-995a-33608aed933e',
      position: 5,
    });
    expect(opened).toMatchObject({ ok: false, code: 'SESSION_GONE' });
  });

  it('the last conversation takes the server with it, and an earlier one does not', async () => {
    const [a, b] = [await bench.open('endA'), await bench.open('endB')];
    const server = await leader();
    await a.conversation.start({
      id: bench.deliveryId(),
      text: '[[background sleep 84]] [[shell sleep 85]]',
    });
    await a.event('item', (e) => e.item.text.includes('sleep 85'));
    expect(await a.conversation.end()).toBe('dead');
    expect(isAlive(server)).toBe(true);
    expect(a.all('turnEnded')).toMatchObject([{ status: 'interrupted' }]);
    expect(await b.turn('[[say still here]]')).toMatchObject({ answer: 'still here' });
    expect(await b.conversation.end()).toBe('dead');
    expect(bearersOf(server)).toEqual([]);
  });
});
