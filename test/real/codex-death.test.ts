import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, type ProcessIdentity } from '../../src/processes/process-identity.ts';
import { readProcessTable, readStartVariable } from '../../src/processes/process-table.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { type AgentBench } from './agent-bench.ts';
import { findCodex, serverDirectoryOf, startCodexBench } from './codex-kit.ts';

const program = findCodex();

describe.skipIf(!program)('when the codex app-server dies', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await startCodexBench(program ?? '');
  });
  afterAll(() => bench.stop());
  afterEach(() => bench.restart());

  const leader = async (): Promise<ProcessIdentity> => {
    const found = await readRecord(serverDirectoryOf(bench));
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

  it('by draining while nobody listens, the end is found by whoever comes next', async () => {
    const talk = await bench.open('drainedAlone');
    const first = await talk.turn('[[say warm]]');
    const id = bench.deliveryId();
    await talk.conversation.start({ id, text: '[[slow 2 drained alone]]' });
    await talk.event('turnStarted', (e) => e.deliveryId === id);
    const server = await leader();
    process.kill(server.pid, 'SIGTERM');
    await bench.restart(talk);
    const request = { nativeId: talk.conversation.nativeId, position: first.position, unresolved: [id] };
    const again = await bench.open('drainedAlone', request);
    expect(isAlive(server)).toBe(false);
    expect(again.how).toBe('resumed');
    expect(again.all('turnEnded')).toMatchObject([{ status: 'succeeded', answer: 'drained alone' }]);
    expect(again.all('turnStarted')).toMatchObject([{ deliveryId: id }]);
  });

  it('nothing is started for a session that is only to be adopted', async () => {
    const talk = await bench.open('cold');
    await talk.turn('[[say warm]]');
    expect(await talk.conversation.end()).toBe('dead');
    const { opened } = await bench.tryOpen('cold', { nativeId: talk.conversation.nativeId, adoptOnly: true });
    expect(opened).toMatchObject({ ok: false, code: 'NOT_RUNNING' });
    expect(await readRecord(serverDirectoryOf(bench))).toBeUndefined();
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

  it('conversations that end at the same moment take the server with them', async () => {
    const talks = [await bench.open('atOnceA'), await bench.open('atOnceB'), await bench.open('atOnceC')];
    const server = await leader();
    expect(await Promise.all(talks.map((talk) => talk.conversation.end()))).toEqual(['dead', 'dead', 'dead']);
    expect(isAlive(server)).toBe(false);
    expect(bearersOf(server)).toEqual([]);
  });
});
