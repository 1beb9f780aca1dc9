import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAlive, type ProcessIdentity } from '../../src/processes/process-identity.ts';
import { readProcessTable, readStartVariable } from '../../src/processes/process-table.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { AgentBench, type Talk } from './agent-bench.ts';
import { findPi, piKit, stopWhole } from './pi-kit.ts';
import { startToolServer } from './tool-server.ts';

const program = findPi();

async function processOf(talk: Talk): Promise<ProcessIdentity> {
  const found = await readRecord(talk.request.directory);
  if (!found) throw new Error('no process is recorded');
  return found;
}

async function begin(talk: Talk, text: string, id: string): Promise<void> {
  expect(await talk.conversation.start({ id, text })).toEqual({ outcome: 'written' });
  await talk.event('turnStarted', (e) => e.deliveryId === id);
}

describe.skipIf(!program)('when pi dies', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await AgentBench.start(piKit, program ?? '');
  });
  afterAll(() => stopWhole(bench));

  it('in the middle of an answer, that is said once, and the conversation goes on in a new process', async () => {
    const talk = await bench.open('killed');
    const first = await talk.turn('[[background sleep 87]] [[say MEMORY]]');
    const id = bench.deliveryId();
    await begin(talk, '[[slow 20]]', id);
    const steer = { id: bench.deliveryId(), text: 'MARK-GONE' };
    expect(await talk.conversation.steer(steer)).toEqual({ outcome: 'written' });
    const pi = await processOf(talk);
    process.kill(pi.pid, 'SIGKILL');
    await talk.event('exited');
    expect(talk.all('turnEnded')).toHaveLength(1);
    expect(await talk.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await talk.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    expect(await talk.conversation.start({ id: 'x', text: 'x' })).toMatchObject({ outcome: 'refused' });
    expect(await talk.conversation.end()).toBe('dead');
    const left = readProcessTable().filter(
      (row) => !row.isZombie && readStartVariable(row.pid, 'STEMMA_ORIGIN') === `${pi.pid}:${pi.startedAt}`,
    );
    expect(left).toEqual([]);
    const { nativeId } = talk.conversation;
    const position = talk.events.at(-1)?.position ?? first.position;
    const again = await bench.open('killed', { nativeId, position, unresolved: [id, steer.id] });
    expect(again.how).toBe('resumed');
    expect(again.conversation.nativeId).toBe(nativeId);
    expect(await again.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    expect(await again.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    expect(await again.turn('[[say back with {{heard}}]]')).toMatchObject({
      answer: expect.stringContaining('MEMORY'),
    });
    expect(bench.model.heard('MARK-GONE')).toBe(0);
    expect(again.all('exited')).toEqual([]);
    await again.conversation.end();
  });

  it('in its very first answer, it begins anew under the same name', async () => {
    const talk = await bench.open('first');
    const id = bench.deliveryId();
    await begin(talk, '[[slow 20]]', id);
    process.kill((await processOf(talk)).pid, 'SIGKILL');
    await talk.event('exited');
    await talk.conversation.end();
    const { nativeId } = talk.conversation;
    const again = await bench.open('first', { nativeId, unresolved: [id] });
    expect(again).toMatchObject({ how: 'resumed', conversation: { nativeId } });
    expect(await again.turn('[[say anew]]')).toMatchObject({ answer: 'anew' });
    expect(await again.conversation.end()).toBe('dead');
    // Now the conversation is kept, and without its file it is gone.
    rmSync(nativeId);
    const { opened } = await bench.tryOpen('first', { nativeId });
    expect(opened).toMatchObject({ ok: false, code: 'SESSION_GONE' });
  });

  it('after a turn that nobody heard the end of, its end is told to who comes next', async () => {
    const talk = await bench.open('unheard');
    const id = bench.deliveryId();
    await begin(talk, '[[slow 1.5 heard by nobody]]', id);
    const position = talk.events.at(-1)?.position ?? 0;
    const pi = await processOf(talk);
    await bench.restart(talk);
    await bench.model.waitFor(
      (e) => e.type === 'ended' && e.how === 'answered' && e.number === bench.model.requests.length,
    );
    await until(() => (process.kill(pi.pid, 'SIGTERM'), !isAlive(pi)));
    const none = await bench.tryOpen('unheard', {
      nativeId: talk.conversation.nativeId,
      position,
      adoptOnly: true,
    });
    expect(none.opened).toMatchObject({ ok: false, code: 'NOT_RUNNING' });
    const again = await bench.open('unheard', {
      nativeId: talk.conversation.nativeId,
      position,
      unresolved: [id],
    });
    expect(again.how).toBe('resumed');
    expect(await again.conversation.evidence(id)).toMatchObject({ state: 'consumed' });
    await again.conversation.end();
  });

  it('ends with everything it started', async () => {
    const talk = await bench.open('ended');
    await talk.turn('[[background sleep 88]] [[say left one]]');
    await begin(talk, '[[shell sleep 89]]', bench.deliveryId());
    await talk.event('item', (e) => e.item.text.includes('sleep 89'));
    const pi = await processOf(talk);
    expect(await talk.conversation.end()).toBe('dead');
    const origin = `${pi.pid}:${pi.startedAt}`;
    const left = readProcessTable().filter(
      (row) => !row.isZombie && readStartVariable(row.pid, 'STEMMA_ORIGIN') === origin,
    );
    expect(left).toEqual([]);
  });
});

describe.skipIf(!program)('a pi that outlives us', () => {
  let bench: AgentBench;
  beforeAll(async () => {
    bench = await AgentBench.start(piKit, program ?? '');
  });
  afterAll(() => stopWhole(bench));

  it('is adopted in the middle of a turn: its texts, its end and its calls are known', async () => {
    const first = await bench.open('adopted');
    await first.turn('[[say warm]]');
    const id = bench.deliveryId();
    await begin(first, '[[shell sleep 2]] [[tool slow_echo {"secs":0,"text":"after"}]] [[say done]]', id);
    await first.event('item', (e) => e.item.kind === 'toolCall');
    const steer = { id: bench.deliveryId(), text: 'MARK-ACROSS' };
    expect(await first.conversation.steer(steer)).toEqual({ outcome: 'written' });
    const position = first.events.at(-1)?.position ?? 0;
    const { nativeId } = first.conversation;
    await bench.restart(first);
    const moved = await startToolServer();
    try {
      const tools = { url: moved.url, token: 'bearer-new' };
      const again = await bench.open('adopted', { nativeId, position, unresolved: [id, steer.id], tools });
      expect(again.how).toBe('adopted');
      const located: unknown[] = [];
      moved.onCall = async (call) => void located.push(await again.conversation.locate(call));
      const ended = await again.event('turnEnded');
      expect(ended).toMatchObject({ status: 'succeeded', answer: 'done', nativeTurnId: `prompt:${id}` });
      expect(again.all('turnStarted')).toEqual([]);
      expect(again.all('taken')).toMatchObject([{ deliveryId: steer.id }]);
      expect(again.events.every((event) => event.position > position)).toBe(true);
      expect(moved.calls).toMatchObject([{ bearer: 'bearer-new', text: 'after' }]);
      expect(located).toEqual([{ state: 'running', nativeTurnId: `prompt:${id}` }]);
      expect(await again.turn('[[say next]]')).toMatchObject({ answer: 'next' });
      await again.conversation.end();
    } finally {
      await moved.close();
    }
  });

  it('tells an end that came while nobody listened, and drops what that left queued', async () => {
    const first = await bench.open('alone');
    await first.turn('[[say warm]]');
    const before = bench.model.log.length;
    const id = bench.deliveryId();
    await begin(first, '[[fail 401 1]]', id);
    const steer = { id: bench.deliveryId(), text: 'MARK-ALONE' };
    expect(await first.conversation.steer(steer)).toEqual({ outcome: 'written' });
    const position = first.events.at(-1)?.position ?? 0;
    await bench.restart(first);
    await bench.model.waitFor((e) => e.type === 'ended' && bench.model.log.indexOf(e) >= before);
    const again = await bench.open('alone', { nativeId: first.conversation.nativeId, position });
    expect(again.how).toBe('adopted');
    expect(await again.event('turnEnded')).toMatchObject({ status: 'failed', error: { kind: 'login' } });
    expect(await again.conversation.evidence(steer.id)).toEqual({ state: 'absent' });
    expect(await again.turn('[[say next]]')).toMatchObject({ answer: 'next' });
    expect(bench.model.heard('MARK-ALONE')).toBe(0);
    await again.conversation.end();
  });

  it('is never doubled: another conversation is refused in its place', async () => {
    const first = await bench.open('double');
    await bench.restart(first);
    const { opened } = await bench.tryOpen('double', { nativeId: join(bench.directory, 'other.jsonl') });
    expect(opened).toMatchObject({ ok: false, code: 'AGENT_FAILED' });
    const again = await bench.open('double', { nativeId: first.conversation.nativeId });
    expect(again.how).toBe('adopted');
    await again.conversation.end();
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 1000) throw new Error('it did not happen within ten seconds');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
