import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DriverEvent } from '../port.ts';
import { reduce, reduceRewound } from './reduce.ts';
import { newScreenState, type ScreenState } from './state.ts';
import { readLine, type Signal } from './transcript.ts';

const corpus = fileURLToPath(new URL('../../../test/corpus/claude/2.1.332/transcript/', import.meta.url));
const names = [
  'simple',
  'absorbed',
  'queued',
  'interrupted',
  'interrupted-with-queue',
  'rewound',
  'usage-limit',
  'background',
  'composer',
  'asked',
] as const;
type Name = (typeof names)[number];

function signalsOf(name: Name): Signal[] {
  const lines = readFileSync(`${corpus}${name}.jsonl`, 'utf8').trim().split('\n');
  return lines.flatMap((line) => readLine(line) ?? []);
}

function run(signals: readonly Signal[], sent: ReadonlyMap<string, string> = new Map()) {
  let state: ScreenState = newScreenState(new Map([...sent].map(([id, text]) => [id, { text, sentAt: 0 }])));
  const events: DriverEvent[] = [];
  signals.forEach((signal, index) => {
    const reduced = reduce(state, signal, (index + 1) * 10);
    state = reduced.state;
    events.push(...reduced.events);
  });
  return { state, events };
}

const what = (events: readonly DriverEvent[]): string[] =>
  events.map((event) => (event.type === 'item' ? event.item.kind : event.type));

describe('the transcript of claude 2.1.332 at its own screen', () => {
  it.each([
    ['simple', ['turnStarted', 'user', 'text', 'turnEnded']],
    ['absorbed', ['turnStarted', 'user', 'toolCall', 'typed', 'user', 'toolResult', 'text', 'turnEnded']],
    ['queued', ['turnStarted', 'user', 'text', 'turnEnded', 'turnStarted', 'user', 'text', 'turnEnded']],
    ['interrupted', ['turnStarted', 'user', 'toolCall', 'toolResult', 'turnEnded']],
    ['usage-limit', ['turnStarted', 'user', 'turnEnded']],
    ['rewound', ['turnStarted', 'user', 'turnEnded', 'turnStarted', 'user', 'text', 'turnEnded']],
  ] as const)('%s means %j', (name, expected) => {
    expect(what(run(signalsOf(name)).events)).toEqual(expected);
  });

  it('tells what a person typed, and recognises ours by what it says', () => {
    const [, ours] = ['hello [[say hi there]]', new Map([['trn_1', 'hello [[say hi there]]']])] as const;
    expect(run(signalsOf('simple')).events[0]).toMatchObject({ typed: { text: 'hello [[say hi there]]' } });
    const { events, state } = run(signalsOf('simple'), ours);
    expect(events[0]).toMatchObject({ type: 'turnStarted', deliveryId: 'trn_1' });
    expect(events[0]).not.toHaveProperty('typed');
    expect(state.sent.get('trn_1')?.turnId).toBe(events[0]?.type === 'turnStarted' && events[0].nativeTurnId);
  });

  it('takes the newest of ours that say the same, of those that had been typed by then', () => {
    const begin = (promptId: string): Signal => ({ type: 'prompt', promptId, id: promptId, text: 'go on' });
    const at = (sentAt: number) => ({ text: 'go on', sentAt });
    const startsWith = (sent: ScreenState['sent']): (string | undefined)[] => {
      const first = reduce(newScreenState(sent), begin('a'), 20);
      const second = reduce(first.state, begin('b'), 40);
      return [...first.events, ...second.events].flatMap((event) =>
        event.type === 'turnStarted' ? [event.deliveryId] : [],
      );
    };
    // One never arrived, and each of the two is taken in its turn, also when all of it is read again.
    const sent = new Map([
      ['trn_1', at(10)],
      ['trn_2', at(20)],
    ]);
    expect(startsWith(sent)).toEqual(['trn_1', 'trn_2']);
    expect(startsWith(new Map([...sent, ['trn_2', at(10)]]))).toEqual(['trn_2', 'trn_1']);
    expect(startsWith(new Map([['trn_1', at(20)]]))).toEqual([undefined, 'trn_1']);
  });

  it('recognises ours in the mark that is put around longer pastes', () => {
    const text = [...Array.from({ length: 6 }, (_, i) => `line ${i}`)].join('\n');
    const { events } = run(signalsOf('composer'), new Map([['trn_1', `${text} [[say pasted]]`]]));
    expect(events[0]).toMatchObject({ type: 'turnStarted', deliveryId: 'trn_1' });
  });

  it('has texts that wait taken up in the running turn, or in one of their own', () => {
    const absorbed = run(signalsOf('absorbed'), new Map([['trn_1', 'typed meanwhile']])).events;
    const turns = new Set(absorbed.flatMap((event) => ('nativeTurnId' in event ? [event.nativeTurnId] : [])));
    expect(turns.size).toBe(1);
    expect(absorbed).toContainEqual(expect.objectContaining({ type: 'taken', deliveryId: 'trn_1' }));
    const { events, state } = run(signalsOf('queued'), new Map([['trn_1', 'next [[say second turn]]']]));
    expect(events.filter((event) => event.type === 'turnStarted')).toMatchObject([
      { typed: {} },
      { deliveryId: 'trn_1' },
    ]);
    expect(state.queue).toEqual([]);
  });

  it('ends an interrupted turn as such, and the one that goes on behind it well', () => {
    const ends = run(signalsOf('interrupted-with-queue')).events.filter(
      (event) => event.type === 'turnEnded',
    );
    expect(ends.map(({ status, answer }) => [status, answer])).toEqual([
      ['interrupted', ''],
      ['succeeded', 'it ran'],
    ]);
  });

  it('fails a turn with its limit', () => {
    const end = run(signalsOf('usage-limit')).events.at(-1);
    expect(end).toMatchObject({ type: 'turnEnded', status: 'failed', error: { kind: 'capacity' } });
  });

  it('tells what lives on with the end of the turn, its end, and the wake for it', () => {
    const { events, state } = run(signalsOf('background'));
    const end = events.find((event) => event.type === 'turnEnded');
    const [task] = end?.type === 'turnEnded' ? end.tasks : [];
    expect(what(events.slice(events.indexOf(end!)))).toEqual([
      'turnEnded',
      'taskEnded',
      'turnStarted',
      'text',
      'turnEnded',
    ]);
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'taskEnded', taskId: task?.taskId, status: 'succeeded' }),
    );
    expect(events).toContainEqual(expect.objectContaining({ type: 'turnStarted', taskId: task?.taskId }));
    expect([state.tasks.size, state.queue]).toEqual([0, []]);
  });

  it('sums what the messages of a turn used, each once', () => {
    const end = run(signalsOf('absorbed')).events.at(-1);
    expect(end).toMatchObject({ usage: { inputTokens: 200, outputTokens: 40 } });
  });
});

describe('a turn whose text is back in the composer', () => {
  const [prompt] = signalsOf('rewound') as [Signal];

  it('is interrupted', () => {
    const { state, events } = run([prompt]);
    const turnId = state.turn?.id ?? '';
    const rewound = reduceRewound(state, turnId);
    expect(what(events)).toEqual(['turnStarted', 'user']);
    expect(rewound.events).toMatchObject([
      { type: 'turnEnded', nativeTurnId: turnId, status: 'interrupted' },
    ]);
    expect(reduceRewound(rewound.state, turnId).events).toEqual([]);
  });

  it('is not, once the model has answered', () => {
    const { state } = run([prompt, { type: 'said', messageId: 'm', text: 'a' }]);
    expect(reduceRewound(state, state.turn?.id ?? '').events).toEqual([]);
  });
});

it('gives each turn at most one start and one end, the start first, whatever is missing or comes twice', () => {
  const mangled = fc.constantFrom(...names).chain((name) => {
    const signals = signalsOf(name);
    return fc
      .array(fc.nat(signals.length - 1), { maxLength: signals.length * 2 })
      .map((order) => order.map((index) => signals[index] as Signal));
  });
  fc.assert(
    fc.property(mangled, (signals) => {
      const { events } = run(signals);
      const running = new Set<string>();
      const over = new Set<string>();
      for (const event of events) {
        if (event.type === 'turnStarted') {
          expect([running.size, over.has(event.nativeTurnId)]).toEqual([0, false]);
          running.add(event.nativeTurnId);
        }
        if (event.type === 'typed' || event.type === 'taken')
          expect(running.has(event.nativeTurnId)).toBe(true);
        if (event.type !== 'turnEnded') continue;
        expect(running.delete(event.nativeTurnId)).toBe(true);
        over.add(event.nativeTurnId);
      }
      const positions = events.map((event) => event.position);
      expect(positions).toEqual([...positions].sort((a, b) => a - b));
    }),
    { numRuns: 300 },
  );
});
