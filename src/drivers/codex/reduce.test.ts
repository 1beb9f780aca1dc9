import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DriverEvent } from '../port.ts';
import { noteStartAnswer, reduce } from './reduce.ts';
import { newThreadState, type ThreadState, withDelivery } from './thread-state.ts';
import { readNotification, type Signal } from './wire.ts';

const corpus = fileURLToPath(new URL('../../../test/corpus/codex/0.171.0/', import.meta.url));
const names = [
  'simple',
  'tool',
  'steer-in-tool',
  'steer-in-stream',
  'interrupted-steer',
  'usage-limit',
  'server-error',
  'sign-in',
  'background',
  'sub-agent',
] as const;

function read(name: (typeof names)[number]): { signals: Signal[]; threadId: string; turnId: string } {
  const lines = readFileSync(`${corpus}${name}.jsonl`, 'utf8').trim().split('\n');
  const signals = lines.flatMap((line) => {
    const { method, params } = JSON.parse(line) as { method: string; params: unknown };
    return readNotification(method, params) ?? [];
  });
  const first = signals.find((signal) => signal.type === 'turnStarted');
  if (first?.type !== 'turnStarted') throw new Error(`${name} has no turn`);
  return { signals, threadId: first.threadId, turnId: first.turnId };
}

function begin(threadId: string, turnId: string): ThreadState {
  const known = withDelivery(withDelivery(newThreadState(threadId, 0, []), 'delivery-1'), 'delivery-2');
  return noteStartAnswer({ ...known, starting: { deliveryId: 'delivery-1' } }, 'delivery-1', turnId).state;
}

function run(state: ThreadState, signals: readonly Signal[]): { state: ThreadState; events: DriverEvent[] } {
  const events: DriverEvent[] = [];
  let current = state;
  for (const signal of signals) {
    const reduced = reduce(current, signal);
    current = reduced.state;
    events.push(...reduced.events);
  }
  return { state: current, events };
}

function play(name: (typeof names)[number]): DriverEvent[] {
  const { signals, threadId, turnId } = read(name);
  return run(begin(threadId, turnId), signals).events;
}

// What was used so far comes with every answer of the model, and has a test of its own.
const what = (events: readonly DriverEvent[]): string[] =>
  events
    .filter((event) => event.type !== 'usage')
    .map((event) => (event.type === 'item' ? event.item.kind : event.type));

describe('recorded traffic of codex 0.171.0', () => {
  it.each([
    ['simple', ['turnStarted', 'user', 'text', 'turnEnded']],
    ['tool', ['turnStarted', 'user', 'toolCall', 'toolResult', 'text', 'turnEnded']],
    [
      'steer-in-tool',
      ['turnStarted', 'user', 'toolCall', 'toolResult', 'taken', 'user', 'text', 'turnEnded'],
    ],
    ['steer-in-stream', ['turnStarted', 'user', 'taken', 'user', 'text', 'turnEnded']],
    ['interrupted-steer', ['turnStarted', 'user', 'toolCall', 'turnEnded']],
    ['usage-limit', ['turnStarted', 'user', 'turnEnded']],
    ['server-error', ['turnStarted', 'user', 'turnEnded']],
    ['background', ['turnStarted', 'user', 'toolCall', 'text', 'turnEnded', 'taskEnded', 'toolResult']],
    ['sub-agent', ['turnStarted', 'user', 'toolCall', 'toolResult', 'text', 'turnEnded', 'taskEnded']],
  ] as const)('%s means %j', (name, expected) => {
    expect(what(play(name))).toEqual(expected);
  });

  it('tells what the turn has used so far, and its end tells it again', () => {
    const events = play('tool');
    const told = events.flatMap((event) => (event.type === 'usage' ? [event.usage] : []));
    const end = events.find((event) => event.type === 'turnEnded');
    const tokens = told.map(({ inputTokens = 0 }) => inputTokens);
    expect(tokens.length).toBeGreaterThan(1);
    expect(tokens).toEqual(tokens.toSorted((a, b) => a - b));
    expect(end?.usage).toEqual(told.at(-1));
  });

  it('proves whose text began the turn, and which text was taken up in it', () => {
    const events = play('steer-in-tool');
    expect(events[0]).toMatchObject({ type: 'turnStarted', deliveryId: 'delivery-1' });
    expect(events.find((event) => event.type === 'taken')).toMatchObject({ deliveryId: 'delivery-2' });
    expect(play('interrupted-steer').some((event) => event.type === 'taken')).toBe(false);
  });

  it.each([
    ['usage-limit', 'capacity'],
    ['sign-in', 'login'],
    ['server-error', 'agent'],
  ] as const)('%s fails once, after the retries, as %s', (name, kind) => {
    const ends = play(name).filter((event) => event.type === 'turnEnded');
    expect(ends).toMatchObject([{ status: 'failed', answer: '', error: { kind } }]);
  });

  it('tells when a usage limit ends', () => {
    const end = play('usage-limit').find((event) => event.type === 'turnEnded');
    const limits = read('usage-limit').signals.find((signal) => signal.type === 'limits');
    expect(end?.type === 'turnEnded' && end.error?.resetsAt).toBe(
      limits?.type === 'limits' && limits.resetsAt,
    );
  });

  it('reports what lives on with the end of the turn, and its own end later', () => {
    for (const name of ['background', 'sub-agent'] as const) {
      const events = play(name);
      const end = events.find((event) => event.type === 'turnEnded');
      const done = events.find((event) => event.type === 'taskEnded');
      expect(end?.type === 'turnEnded' && end.tasks.map((task) => task.taskId)).toEqual([
        done?.type === 'taskEnded' && done.taskId,
      ]);
      expect(done).toMatchObject({ status: 'succeeded', result: name === 'background' ? 'late\n' : 'child' });
    }
  });
});

describe('a text that came from another client', () => {
  it('began its turn: it is what a person typed', () => {
    const { signals, threadId, turnId } = read('simple');
    const { events } = run(newThreadState(threadId, 0, []), signals);
    const typed = { id: 'delivery-1', text: '[[say hello]]' };
    expect(events[0]).toMatchObject({ type: 'turnStarted', nativeTurnId: turnId, typed });
    expect(what(events)).toEqual(['turnStarted', 'user', 'text', 'turnEnded']);
  });

  it('was taken up in a turn of ours: it is told once, in that turn', () => {
    const { signals, threadId, turnId } = read('steer-in-tool');
    const ours = withDelivery(newThreadState(threadId, 0, []), 'delivery-1');
    const { events } = run({ ...ours, starting: { deliveryId: 'delivery-1', turnId } }, signals);
    expect(events[0]).toMatchObject({ type: 'turnStarted', deliveryId: 'delivery-1' });
    expect(events.filter((event) => event.type === 'typed')).toMatchObject([
      { nativeTurnId: turnId, typed: { id: 'delivery-2', text: 'steered' } },
    ]);
  });

  it('came before ours in the turn that Codex named for ours: theirs began it, ours is taken up in it', () => {
    const { signals, threadId, turnId } = read('steer-in-tool');
    const ours = withDelivery(newThreadState(threadId, 0, []), 'delivery-2');
    const { events } = run({ ...ours, starting: { deliveryId: 'delivery-2', turnId } }, signals);
    expect(events[0]).toMatchObject({ type: 'turnStarted', typed: { id: 'delivery-1' } });
    expect(events[0]).not.toHaveProperty('deliveryId');
    expect(events.filter((event) => event.type === 'taken')).toMatchObject([{ deliveryId: 'delivery-2' }]);
  });
});

describe('traffic in any order', () => {
  const mangled = fc.constantFrom(...names).chain((name) => {
    const { signals } = read(name);
    const order = fc.array(fc.nat(signals.length - 1), { maxLength: signals.length * 2 });
    const swaps = fc.array(fc.nat(signals.length - 2), { maxLength: 6 });
    return fc.record({ name: fc.constant(name), order, swaps, isSwap: fc.boolean() });
  });

  it('gives each turn at most one start and one end, the start first, and never a position that falls', () => {
    fc.assert(
      fc.property(mangled, ({ name, order, swaps, isSwap }) => {
        const { signals, threadId, turnId } = read(name);
        const events = run(
          begin(threadId, turnId),
          isSwap ? swapped(signals, swaps) : pick(signals, order),
        ).events;
        for (const type of ['turnStarted', 'turnEnded'] as const) {
          const ids = events.flatMap((event) => (event.type === type ? [event.nativeTurnId] : []));
          expect(new Set(ids).size).toBe(ids.length);
        }
        const start = events.findIndex((event) => event.type === 'turnStarted');
        const end = events.findIndex((event) => event.type === 'turnEnded');
        if (end >= 0) expect(start).toBeLessThan(end);
        const positions = events.map((event) => event.position);
        expect(positions).toEqual([...positions].sort((a, b) => a - b));
      }),
      { numRuns: 300 },
    );
  });

  it('never reports a text as taken twice, nor in a turn that has ended', () => {
    fc.assert(
      fc.property(mangled, ({ name, order }) => {
        const { signals, threadId, turnId } = read(name);
        const events = run(begin(threadId, turnId), pick(signals, order)).events;
        const end = events.findIndex((event) => event.type === 'turnEnded');
        const taken = events.flatMap((event, index) => (event.type === 'taken' ? [index] : []));
        expect(taken.length).toBeLessThanOrEqual(1);
        if (end >= 0) for (const index of taken) expect(index).toBeLessThan(end);
      }),
      { numRuns: 200 },
    );
  });

  it('says the same when everything is heard again', () => {
    for (const name of names) {
      const { signals, threadId, turnId } = read(name);
      const once = run(begin(threadId, turnId), signals);
      let state = once.state;
      for (const signal of signals) {
        const again = reduce(state, signal, { isReplay: true });
        expect(again.events).toEqual([]);
        state = again.state;
      }
    }
  });
});

describe('turns', () => {
  const threadId = '01a22ab5-0000-7000-8000-000000000000';
  const older = '01a22ab5-0001-7000-8000-000000000000';
  const newer = '01a22ab5-0002-7000-8000-000000000000';
  const start = (turnId: string): Signal => ({ type: 'turnStarted', threadId, turnId });
  const end = (turnId: string): Signal => ({ type: 'turnCompleted', threadId, turnId, status: 'completed' });
  const died = (turnId: string): Signal => ({ type: 'turnCompleted', threadId, turnId, status: 'died' });
  const text = (turnId: string, clientId: string): Signal => {
    const item = { type: 'userMessage', id: clientId, clientId, content: [] };
    return { type: 'itemStarted', threadId, turnId, item };
  };
  const fresh = newThreadState(threadId, 0, []);

  it('do not end by the end of an older one', () => {
    const { events } = run(fresh, [start(newer), text(newer, 'x'), end(older)]);
    expect(what(events)).toEqual(['turnStarted', 'noise']);
  });

  it('are not begun again by what an old one left running', () => {
    const item = { type: 'commandExecution', id: 'c', command: 'sleep', status: 'completed' };
    const late: Signal = { type: 'itemCompleted', threadId, turnId: older, item };
    const { events, state } = run(fresh, [start(newer), text(newer, 'x'), late, end(newer), late]);
    expect(what(events)).toEqual(['turnStarted', 'turnEnded']);
    expect(state.turn).toBeUndefined();
  });

  it('end as failed when another one begins without their end', () => {
    const { events } = run(fresh, [
      start(older),
      text(older, 'x'),
      start(newer),
      text(newer, 'y'),
      end(newer),
    ]);
    expect(what(events)).toEqual(['turnStarted', 'turnEnded', 'turnStarted', 'turnEnded']);
    expect(events[1]).toMatchObject({ nativeTurnId: older, status: 'failed' });
  });

  it('that died with their process are failures, not interrupts', () => {
    const { events } = run(fresh, [start(older), died(older)]);
    expect(events.at(-1)).toMatchObject({ status: 'failed', error: { kind: 'agent' } });
  });

  it('of somebody else carry no delivery of ours, and a text of ours in them is taken', () => {
    const state = withDelivery({ ...fresh, starting: { deliveryId: 'ours' } }, 'ours');
    const first = run(state, [start(older), text(older, 'theirs')]);
    expect(first.events).toMatchObject([{ type: 'turnStarted', nativeTurnId: older }]);
    expect(first.events[0]).not.toHaveProperty('deliveryId');
    const answered = noteStartAnswer(first.state, 'ours', older).state;
    expect(answered.starting).toBeUndefined();
    expect(run(answered, [text(older, 'ours')]).events).toMatchObject([
      { type: 'taken', deliveryId: 'ours' },
    ]);
  });
});

function pick(signals: readonly Signal[], order: readonly number[]): Signal[] {
  return order.flatMap((index) => signals[index] ?? []);
}

function swapped(signals: readonly Signal[], swaps: readonly number[]): Signal[] {
  const result = [...signals];
  for (const index of swaps) {
    const [a, b] = [result[index], result[index + 1]];
    if (a && b) result.splice(index, 2, b, a);
  }
  return result;
}
