import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AgentBench, type Talk } from './agent-bench.ts';
import { findCodex, serverDirectoryOf, startCodexBench } from './codex-kit.ts';
import { FaultProxy, type SeenMessage } from './fault-proxy.ts';

const program = findCodex();
const to = (direction: SeenMessage['direction'], method: string) => (m: SeenMessage) =>
  m.direction === direction && m.method === method;
const answerTo = (method: string) => (m: SeenMessage) => m.answers === method;

describe.skipIf(!program)('the codex driver on a connection that misbehaves', () => {
  let bench: AgentBench;
  let proxy: FaultProxy;
  const talks: Talk[] = [];
  const open = async (name: string): Promise<Talk> => {
    const talk = await bench.open(name);
    talks.push(talk);
    return talk;
  };
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
    await bench.restart(await bench.open('first'));
    proxy = await FaultProxy.before(join(serverDirectoryOf(bench), 's'));
  });
  afterEach(async () => {
    for (const talk of talks.splice(0)) await talk.conversation.detach();
    if (proxy.fired === 0) throw new Error('the fault of this test never happened');
    proxy.clear();
  });
  afterAll(async () => {
    await proxy.stop();
    await bench.stop();
  });

  it('reports one end when Codex says it twice', async () => {
    const talk = await open('twoEnds');
    proxy.add({ when: to('toClient', 'turn/completed'), action: 'duplicate' });
    await talk.turn('[[say once]]');
    await talk.event('noise', (e) => e.what.includes('second time'));
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('reports start and end in order when only the end arrives', async () => {
    const talk = await open('endOnly');
    const before = (m: SeenMessage): boolean => /^(turn\/started|item\/)/.test(m.method ?? '');
    proxy.add({ when: before, action: 'drop', times: 6 });
    expect(await talk.turn('[[say unheard]]')).toMatchObject({ status: 'succeeded' });
    expect(proxy.fired).toBeGreaterThanOrEqual(5);
    expect(talk.events.map((e) => e.type).filter((type) => type.startsWith('turn'))).toEqual([
      'turnStarted',
      'turnEnded',
    ]);
  });

  it('counts a start that comes behind the end, and changes nothing', async () => {
    const talk = await open('startLast');
    proxy.add({ when: (m) => m.method?.startsWith('item/') ?? false, action: 'drop', times: 20 });
    proxy.add({ when: to('toClient', 'turn/started'), action: { delayMs: 1 } });
    proxy.add({ when: to('toClient', 'turn/completed'), action: 'duplicate' });
    await talk.turn('[[say late start]]');
    expect(talk.all('turnStarted')).toHaveLength(1);
    await talk.event('noise');
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('keeps to the turn when two messages change places', async () => {
    const talk = await open('reordered');
    proxy.add({ when: to('toClient', 'turn/started'), action: 'swap' });
    expect(await talk.turn('[[say in order]]')).toMatchObject({ status: 'succeeded' });
    expect(talk.all('turnStarted')).toHaveLength(1);
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('goes on over frames that are no messages', async () => {
    const talk = await open('garbage');
    proxy.add({ when: to('toClient', 'item/started'), action: 'garbage' });
    expect(await talk.turn('[[say clean]]')).toMatchObject({ answer: 'clean' });
    expect(talk.all('noise').length).toBeGreaterThanOrEqual(3);
  });

  it('finds an end that never arrived in the record', async () => {
    const talk = await open('lostEnd');
    proxy.add({ when: to('toClient', 'turn/completed'), action: 'drop' });
    expect(await talk.turn('[[say found]]')).toMatchObject({ status: 'succeeded', answer: 'found' });
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('does not send a text again when only the answer to it was lost', async () => {
    for (let i = 0; i < 10; i++) {
      const talk = await open(`lostAnswer${i}`);
      proxy.add({ when: answerTo('turn/start'), action: 'cut' });
      const id = bench.deliveryId();
      const sent = await talk.conversation.start({ id, text: `MARK-ANSWER-${i}. [[slow 0.5]]` });
      expect(sent.outcome).not.toBe('refused');
      const { nativeTurnId } = await talk.event('turnStarted', (e) => e.deliveryId === id);
      await talk.event('turnEnded', (e) => e.nativeTurnId === nativeTurnId);
      expect(await talk.conversation.evidence(id)).toEqual({ state: 'consumed', nativeTurnId });
      expect(bench.model.heard(`MARK-ANSWER-${i}.`)).toBe(1);
      await talk.conversation.detach();
    }
  });

  it('may send a text again when it never arrived', async () => {
    for (let i = 0; i < 10; i++) {
      const talk = await open(`lostRequest${i}`);
      proxy.add({ when: to('toServer', 'turn/start'), action: 'cut' });
      const delivery = { id: bench.deliveryId(), text: `MARK-REQUEST-${i}. [[say arrived]]` };
      expect(await talk.conversation.start(delivery)).toMatchObject({ outcome: 'refused' });
      expect(await talk.conversation.evidence(delivery.id)).toEqual({ state: 'absent' });
      expect(await talk.conversation.start(delivery)).toEqual({ outcome: 'written' });
      await talk.event('turnEnded');
      expect(bench.model.heard(`MARK-REQUEST-${i}.`)).toBe(1);
      await talk.conversation.detach();
    }
  });

  it('never takes a text for lost that the server had when the connection was cut', async () => {
    const outcomes = { written: 0, refused: 0, uncertain: 0 };
    for (let i = 0; i < 40; i++) {
      const talk = await open(`cutBehind${i}`);
      proxy.add({ when: to('toServer', 'turn/start'), action: { cutAfterMs: (i * 3) % 40 } });
      proxy.add({ when: answerTo('turn/start'), action: 'drop' });
      const delivery = { id: bench.deliveryId(), text: `MARK-BEHIND-${i}. [[say got it]]` };
      const sent = await talk.conversation.start(delivery);
      outcomes[sent.outcome]++;
      // The cut may come before or after the server read the text; what is answered has to be true.
      if (sent.outcome === 'refused') {
        expect(await talk.conversation.start(delivery)).toEqual({ outcome: 'written' });
      }
      await talk.event('turnEnded');
      expect(bench.model.heard(`MARK-BEHIND-${i}.`)).toBe(1);
      expect(talk.all('turnStarted')).toMatchObject([{ deliveryId: delivery.id }]);
      await talk.conversation.detach();
      proxy.clear();
    }
    proxy.fired = 1;
    console.info('cut right behind the request:', JSON.stringify(outcomes));
  });

  it('decides an unanswered steer by the end of the turn', async () => {
    const talk = await open('lostSteer');
    await talk.conversation.start({
      id: bench.deliveryId(),
      text: '[[tool slow_echo {"secs":2,"text":"z"}]] [[say done]]',
    });
    await talk.event('item', (e) => e.item.kind === 'toolCall');
    proxy.add({ when: answerTo('turn/steer'), action: 'cut' });
    const id = bench.deliveryId();
    const sent = await talk.conversation.steer({ id, text: 'MARK-STEER' });
    expect(sent.outcome).not.toBe('refused');
    await talk.event('taken', (e) => e.deliveryId === id);
    await talk.event('turnEnded');
    expect(bench.model.heard('MARK-STEER')).toBe(1);
  });

  it('hears the end on the next connection when it is cut in the middle of a turn', async () => {
    const talk = await open('cutTurn');
    proxy.add({
      when: (m) => to('toClient', 'item/started')(m) && m.text.includes('agentMessage'),
      action: 'cut',
    });
    expect(await talk.turn('[[slow 1.5 whole answer]]')).toMatchObject({
      status: 'succeeded',
      answer: 'whole answer',
    });
    expect(talk.all('turnStarted')).toHaveLength(1);
    expect(talk.all('turnEnded')).toHaveLength(1);
  });

  it('takes slow answers for what they are', async () => {
    const talk = await open('slow');
    proxy.add({ when: answerTo('turn/start'), action: { delayMs: 1500 } });
    expect(await talk.turn('[[say patience]]')).toMatchObject({ answer: 'patience' });
  });
});
