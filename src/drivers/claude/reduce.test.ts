import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../base/virtual-clock.ts';
import type { DriverEvent } from '../port.ts';
import { capabilitiesOf } from './capabilities.ts';
import { readRest, writeRest } from './rest.ts';
import { type ClaudeState, newState } from './state.ts';
import { ClaudeStream } from './stream.ts';
import { readLine, type Signal } from './wire.ts';

const corpus = fileURLToPath(new URL('../../../test/corpus/claude/', import.meta.url));
const names = [
  'simple',
  'tool',
  'steer-in-tool',
  'steer-in-stream',
  'two-queued',
  'withdrawn-steer',
  'interrupted',
  'usage-limit',
  'retried',
  'sign-in',
  'background',
  'background-within',
  'background-stopped',
  'sub-agent',
  'question',
] as const;
type Name = (typeof names)[number];
const versions = ['2.1.332', '2.1.197'] as const;
type Version = (typeof versions)[number];
const recordings = versions.flatMap((version) => names.map((name) => [version, name] as const));

interface Line {
  readonly signal: Signal;
  readonly end: number;
}

function linesOf(version: Version, name: Name): Line[] {
  const text = readFileSync(`${corpus}${version}/${name}.jsonl`, 'utf8');
  let end = 0;
  return text
    .trim()
    .split('\n')
    .map((line) => {
      end += Buffer.byteLength(line) + 1;
      return { signal: readLine(line), end };
    });
}

/** Under which the nth text of a recording was sent. */
const uuidOf = (n: number): string => `00000000-0000-4000-8000-00000000000${n}`;

interface Played {
  readonly events: DriverEvent[];
  /** What was known behind each line. */
  readonly states: ClaudeState[];
}

function play(
  lines: readonly Line[],
  begin: { readonly state?: ClaudeState; readonly from?: number; readonly floor?: number } = {},
): Played {
  const events: DriverEvent[] = [];
  const states: ClaudeState[] = [];
  const { state = newState(), from = 0, floor = 0 } = begin;
  const owner = { emit: (event: DriverEvent) => events.push(event), onTaken: () => undefined, asks: true };
  const stream = new ClaudeStream(owner, new VirtualClock(0), { state, from, floor });
  const told = JSON.stringify(lines);
  for (const n of [1, 2, 3]) if (told.includes(uuidOf(n))) stream.expect(uuidOf(n), `text-${n}`);
  for (const { signal, end } of lines) {
    stream.take(signal, end);
    states.push(stream.state);
  }
  return { events, states };
}

/** What happened, without what goes to the transcript. */
function story(events: readonly DriverEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'item') return [];
    if (event.type === 'turnStarted')
      return [`start ${event.deliveryId ?? (event.taskId === undefined ? 'late' : 'task')}`];
    if (event.type === 'turnEnded') return [`end ${event.status}`];
    if (event.type === 'taken') return [`taken ${event.deliveryId}`];
    return [event.type];
  });
}

describe.each(recordings)('recorded traffic of claude %s, %s', (version, name) => {
  const lines = linesOf(version, name);
  const whole = play(lines);

  it('is understood', () => {
    expect(story(whole.events)).toMatchSnapshot();
    expect(whole.events.filter(({ type }) => type === 'noise')).toEqual([]);
  });

  it('means the same to whoever reads it again from any event on', () => {
    for (const { position: floor } of whole.events) {
      const rest = whole.events.filter(({ position }) => position > floor);
      expect(play(lines, { floor }).events).toEqual(rest);
    }
  });

  it('means the same from every rest on, with what was noted there', () => {
    for (const [index, { signal, end }] of lines.entries()) {
      const state = whole.states[index];
      const isRest = signal.type === 'state' && signal.state === 'idle' && !state?.turn;
      if (!state || !isRest) continue;
      const noted = readRest(JSON.parse(JSON.stringify(writeRest(state))));
      const again = play(lines.slice(index + 1), { state: noted ?? newState(), from: end, floor: end });
      expect(again.events).toEqual(whole.events.filter(({ position }) => position > end));
    }
  });

  it('has one start and one end for each turn, also when lines are missing or come twice', () => {
    const some = fc.array(fc.nat(lines.length - 1), { maxLength: 60 });
    fc.assert(
      fc.property(some, (indexes) => {
        let end = 0;
        const chosen = indexes.flatMap((index) => {
          const line = lines[index];
          return line ? [{ signal: line.signal, end: (end += 1000) }] : [];
        });
        expectWellFormed(play(chosen).events);
      }),
      { numRuns: 50 },
    );
  });
});

function expectWellFormed(events: readonly DriverEvent[]): void {
  let running: string | undefined;
  const seen = new Set<string>();
  let position = 0;
  for (const event of events) {
    expect(event.position).toBeGreaterThanOrEqual(position);
    position = event.position;
    if (event.type === 'turnStarted') {
      expect(running).toBeUndefined();
      expect(seen).not.toContain(event.nativeTurnId);
      seen.add(event.nativeTurnId);
      running = event.nativeTurnId;
    } else if (event.type === 'turnEnded') {
      expect(event.nativeTurnId).toBe(running);
      running = undefined;
    } else if (event.type === 'taken' || event.type === 'taskTold') {
      expect(event.nativeTurnId).toBe(running);
    }
  }
}

describe('what a program can prove', () => {
  it.each([
    ['2.1.332', 'proven'],
    ['2.1.197', 'none'],
  ] as const)('%s: steering is %s, by what it was heard to say', (version, steer) => {
    expect(capabilitiesOf(play(linesOf(version, 'simple')).states.at(-1) ?? newState()).steer).toBe(steer);
  });
});

describe('what no recording shows', () => {
  const at = (...messages: object[]): DriverEvent[] => {
    let end = 0;
    return play(
      messages.map((message) => ({ signal: readLine(JSON.stringify(message)), end: (end += 1000) })),
    ).events;
  };
  const uuid = '00000000-0000-4000-8000-000000000001';
  const life = (state: string): object => ({ type: 'command_lifecycle', command_uuid: uuid, state });
  const idle = { type: 'system', subtype: 'session_state_changed', state: 'idle' };

  it('an agent that is idle, and has closed its text without a result, has ended its turn', () => {
    const events = at(life('queued'), life('started'), life('cancelled'), idle);
    expect(story(events)).toEqual(['start text-1', 'end interrupted']);
    expect(story(at(life('queued'), life('started'), life('completed'), idle))).toEqual([
      'start text-1',
      'end failed',
    ]);
  });

  it('an idle that was said before the text was closed ends nothing', () => {
    expect(story(at(life('queued'), life('started'), idle))).toEqual(['start text-1']);
  });

  it('what is no message is noise, and changes nothing', () => {
    for (const line of ['', 'hello', '[]', '{"type":1}', '{"type":"new"}', '{"type":"command_lifecycle"}'])
      expect(readLine(line).type).toBe('garbage');
  });
});
