import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { RpcClient } from '../../src/drivers/codex/rpc-client.ts';
import { type AgentBench } from './agent-bench.ts';
import { findCodex, serverDirectoryOf, startCodexBench } from './codex-kit.ts';
import { startOwner } from './codex-start-owner.ts';

const program = findCodex();

describe.skipIf(!program)('a codex conversation survives', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
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
    const silent = { onNotification: () => {}, onRequest: () => {}, onNoise: () => {}, onClose: () => {} };
    const connected = await RpcClient.connect(`${serverDirectoryOf(bench)}/s`, systemClock, 5000, silent);
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
