import { describe, expect, it } from 'vitest';
import type { DriverEvent } from '../port.ts';
import { pastOf, replay } from './catch-up.ts';
import { outline, readCorpus, reduceAll } from './corpus-harness.ts';
import { newSessionState, type SessionState } from './state.ts';

const corpus = readCorpus();

const expected: Readonly<Record<string, readonly string[]>> = {
  simple: ['started by simple-1', 'ended succeeded: hello'],
  typed: ['started by "[[say hello]]"', 'ended succeeded: hello'],
  tool: ['started by tool-1', 'ended succeeded: done'],
  'steer-in-tool': ['started by steer-in-tool-1', 'taken steer-in-tool-2', 'ended succeeded: done'],
  'steer-in-stream': [
    'started by steer-in-stream-1',
    'taken steer-in-stream-2',
    expect.stringMatching(/^ended succeeded: /) as unknown as string,
  ],
  'interrupted-steer': ['started by interrupted-steer-1', 'ended interrupted'],
  // One for each try of opencode, with its time.
  'usage-limit': [
    'started by usage-limit-1',
    ...Array<string>(5).fill('waits for capacity'),
    'ended failed: capacity',
  ],
  'bad-request': ['started by bad-request-1', 'ended failed: agent'],
  'sign-in': ['started by sign-in-1', 'ended failed: login'],
  permitted: ['started by permitted-1', 'waits for input', 'resumed', 'ended succeeded: done'],
  refused: ['started by refused-1', 'waits for input', 'resumed', 'ended interrupted'],
  'refused-and-told': [
    'started by refused-and-told-1',
    'waits for input',
    'resumed',
    'ended succeeded: done',
  ],
  'sub-agent': ['started by sub-agent-1', 'ended succeeded: parent done'],
  'background-sub-agent': [
    'started by background-sub-agent-1',
    'ended succeeded: left it: sub (@general subagent)',
    'task succeeded: child done',
    expect.stringMatching(/^started by ses_/) as unknown as string,
    expect.stringMatching(/^ended succeeded: /) as unknown as string,
  ],
};

/** What must be the same however often it is heard: everything but waits, which end with whoever waits. */
function lasting(events: readonly DriverEvent[]): string[] {
  return outline(events).filter((line) => !/^(waits|resumed)/.test(line));
}

function kept(state: SessionState): SessionState {
  return JSON.parse(JSON.stringify(state)) as SessionState;
}

describe.each(corpus)('recorded traffic: $name', ({ name, state, signals, record }) => {
  const whole = reduceAll(state, signals);

  it('means what happened', () => {
    expect(outline(whole.events)).toEqual(expected[name]);
    expect(whole.state.turn).toBeUndefined();
    expect(whole.events.map(({ position }) => position)).toEqual(whole.events.map((_, index) => index + 1));
  });

  it('means the same when it is kept and read again at every cut', () => {
    for (let cut = 0; cut <= signals.length; cut++) {
      const before = reduceAll(state, signals.slice(0, cut));
      const after = reduceAll(kept(before.state), signals.slice(cut));
      expect([...before.events, ...after.events], `cut at ${cut}`).toEqual(whole.events);
    }
  });

  it('is complete when the stream breaks at any cut and the record is read instead', () => {
    const reading = {
      sessionId: state.sessionId,
      messages: record,
      status: [],
      children: [],
      questions: [],
      tasks: [],
      unread: [],
    };
    for (let cut = 0; cut <= signals.length; cut++) {
      const before = reduceAll(state, signals.slice(0, cut));
      const { tasks } = before.state;
      const ended = Object.keys(tasks).flatMap((id) => [
        ...signals.filter(
          (s) => 'sessionId' in s && s.sessionId === id && (s.type === 'text' || s.type === 'assistant'),
        ),
        { type: 'idle', sessionId: id } as const,
      ]);
      const missed = reduceAll(kept(before.state), replay({ ...reading, tasks: ended }, false));
      const events = [...before.events, ...missed.events];
      // Whether a task outlived its turn, or was over before, nobody can tell who was not there.
      const withoutTasks = (lines: string[]): string[] =>
        lines.filter((line) => !line.startsWith('task ')).map((line) => line.replace(/: sub.*$/, ''));
      expect(withoutTasks(lasting(events)), `cut at ${cut}`).toEqual(withoutTasks(lasting(whole.events)));
      const again = reduceAll(missed.state, replay({ ...reading, tasks: ended }, false));
      expect(again.events, `read twice at ${cut}`).toEqual([]);
    }
  });

  it('is past, when it was there before us', () => {
    const fresh = newSessionState(state.sessionId, 7);
    const reading = {
      sessionId: state.sessionId,
      messages: record,
      status: [],
      children: [],
      questions: [],
      tasks: [],
      unread: [],
    };
    const { events } = reduceAll(fresh, [pastOf(reading, fresh), ...replay(reading, false)]);
    expect(events).toEqual([]);
  });
});

it('has every recording in the table of what it means', () => {
  expect(corpus.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
});
