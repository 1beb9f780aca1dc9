import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { DriverEvent } from '../port.ts';
import { newThreadState, positionsPerTurn, turnPosition } from './thread-state.ts';
import { ThreadStream } from './thread-stream.ts';
import type { CodexItem, Signal } from './wire.ts';

const threadId = '01a22ab5-0000-7000-8000-000000000000';
const turnId = '01a22ab5-0001-7000-8000-000000000000';
const nextId = '01a22ab5-0002-7000-8000-000000000000';
const start = (id: string): Signal => ({ type: 'turnStarted', threadId, turnId: id });
const end = (id: string): Signal => ({ type: 'turnCompleted', threadId, turnId: id, status: 'completed' });
const item = (
  type: 'itemStarted' | 'itemCompleted',
  value: Partial<CodexItem> & { type: string; id: string },
  id = turnId,
): Signal => ({
  type,
  threadId,
  turnId: id,
  item: value,
});
const user = (clientId: string, id = turnId): Signal =>
  item('itemCompleted', { type: 'userMessage', id: clientId, clientId, content: [] }, id);
const command = { type: 'commandExecution', id: 'c1', command: 'sleep 9', status: 'completed' };

function make(look: () => Promise<ReadonlySet<string> | undefined> = async () => new Set(), position = 0) {
  const events: DriverEvent[] = [];
  const clock = new VirtualClock();
  const stream = new ThreadStream(newThreadState(threadId, position, ['ours']), {
    clock,
    emit: (event) => events.push(event),
    onChange: () => undefined,
    look,
    onOverflow: () => undefined,
  });
  return { stream, events, clock, types: () => events.map((event) => event.type) };
}

describe('the stream of a thread', () => {
  it('lets everything behind a turn end wait until it is known what lives on', async () => {
    let answer: ((living: ReadonlySet<string>) => void) | undefined;
    const { stream, events, types } = make(() => new Promise((resolve) => (answer = resolve)));
    for (const signal of [
      start(turnId),
      user('ours'),
      item('itemStarted', command),
      end(turnId),
      start(nextId),
      user('x', nextId),
    ]) {
      stream.push(signal);
    }
    expect(types()).toEqual(['turnStarted', 'item', 'item']);
    answer?.(new Set(['c1']));
    await stream.flushed(1000);
    expect(types().slice(3)).toEqual(['turnEnded', 'turnStarted', 'item']);
    expect(events[3]).toMatchObject({ tasks: [{ taskId: 'c1', name: 'sleep 9' }] });
  });

  it('takes a command that ends while it looks for a task, and its end for the end of the task', async () => {
    let answer: ((living: ReadonlySet<string>) => void) | undefined;
    const { stream, events, types } = make(() => new Promise((resolve) => (answer = resolve)));
    for (const signal of [
      start(turnId),
      item('itemStarted', command),
      end(turnId),
      item('itemCompleted', command),
    ])
      stream.push(signal);
    answer?.(new Set());
    await stream.flushed(1000);
    expect(types()).toEqual(['turnStarted', 'item', 'turnEnded', 'taskEnded', 'item']);
    expect(events[2]).toMatchObject({ tasks: [{ taskId: 'c1' }] });
  });

  it('does not count a command that an interrupt ended without a word', async () => {
    const { stream, events } = make(async () => new Set());
    for (const signal of [start(turnId), item('itemStarted', command), end(turnId)]) stream.push(signal);
    await stream.flushed(1000);
    expect(events.at(-1)).toMatchObject({ type: 'turnEnded', tasks: [] });
  });

  it('counts everything as alive when nobody can say', async () => {
    const { stream, events } = make(async () => undefined);
    for (const signal of [start(turnId), item('itemStarted', command), end(turnId)]) stream.push(signal);
    await stream.flushed(1000);
    expect(events.at(-1)).toMatchObject({ type: 'turnEnded', tasks: [{ taskId: 'c1' }] });
  });

  it('puts what was missed before what was heard meanwhile, each once', () => {
    const { stream, types } = make();
    stream.hold();
    stream.push(user('ours'));
    stream.push(end(turnId));
    expect(types()).toEqual([]);
    stream.release({ ended: [], boundary: [], signals: [start(turnId), user('ours'), end(turnId)] });
    expect(types()).toEqual(['turnStarted', 'item', 'turnEnded']);
  });

  it('leaves out what lies before the position, but never a text whose fate is open', () => {
    const base = turnPosition(turnId) ?? 0;
    const boundary = [start(turnId), user('known'), user('ours'), end(turnId)];
    const signals = [start(nextId), user('x', nextId)];
    const processed = base + positionsPerTurn - 1;
    const { stream, events } = make(undefined, processed);
    stream.hold();
    const floor = { position: processed, unresolved: new Set(['ours']), openTasks: new Set<string>() };
    stream.release({ ended: ['older'], boundary, signals }, floor);
    expect(events.map((event) => event.type)).toEqual(['taken', 'turnStarted', 'item']);
    expect(events.every((event) => event.position >= processed)).toBe(true);
    expect(stream.state.ended).toEqual(['older', turnId]);
  });

  it('goes on within the turn that was interrupted by our death', () => {
    const base = turnPosition(turnId) ?? 0;
    const { stream, types } = make(undefined, base);
    stream.hold();
    const floor = { position: base, unresolved: new Set<string>(), openTasks: new Set<string>() };
    stream.release({ ended: [], boundary: [start(turnId), user('x')], signals: [] }, floor);
    stream.push(end(turnId));
    expect(types()).toEqual(['item', 'turnEnded']);
  });

  it('gives up waiting at the deadline', async () => {
    const { stream, clock } = make();
    stream.hold();
    const flushed = stream.flushed(5000);
    clock.advance(5000);
    expect(await flushed).toBe(false);
  });

  it('emits nothing once it is closed', async () => {
    const { stream, events } = make();
    stream.push(start(turnId));
    stream.close();
    stream.push(user('ours'));
    expect(events).toEqual([]);
    expect(await stream.until(() => undefined, 1000)).toBeUndefined();
  });
});
