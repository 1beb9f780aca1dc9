import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DriverEvent } from '../port.ts';
import { readMessage } from './messages.ts';
import { TurnTracker, type TrackerOwner } from './tracker.ts';

const sessionId = 'conv-1';

const update = (sessionUpdate: string, more: Record<string, unknown> = {}, session = sessionId): string =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId: session, update: { sessionUpdate, ...more } },
  });
const text = (words: string): string =>
  update('agent_message_chunk', { content: { type: 'text', text: words } });
const toolCall = (id: string): string => update('tool_call', { toolCallId: id, title: `tool ${id}` });
const toolDone = (id: string): string => update('tool_call_update', { toolCallId: id, status: 'completed' });
const answer = (id: unknown, result: unknown = { stopReason: 'end_turn' }): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result });
const failure = (id: string, error: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, error });

type Step = { readonly line: string } | { readonly prompt: string } | 'flush';

interface Told {
  readonly events: DriverEvent[];
  readonly ended: string[];
  readonly prompts: { id: string; at: number }[];
}

function owner(told: Told): TrackerOwner {
  return {
    emit: (event) => told.events.push(event),
    onPromptEnded: (id) => told.ended.push(id),
    onQuestion: () => undefined,
    onUnservable: () => undefined,
    onWithdrawn: () => undefined,
  };
}

/** Plays steps to a new tracker, as a server does that sees them live. */
function live(steps: readonly Step[]): Told {
  const told: Told = { events: [], ended: [], prompts: [] };
  const tracker = new TurnTracker(owner(told), { sessionId, from: 0, floor: 0, usd: undefined });
  let end = 0;
  for (const step of steps) {
    if (step === 'flush') tracker.flush();
    else if ('prompt' in step) {
      tracker.flush();
      tracker.add({ id: step.prompt, at: tracker.position, isWritten: true });
      told.prompts.push({ id: step.prompt, at: tracker.position });
    } else tracker.take(readMessage(step.line), (end += Buffer.byteLength(step.line) + 1));
  }
  tracker.flush();
  return told;
}

/** Reads the same output again from its start, for somebody who knows everything up to `floor`. */
function again(steps: readonly Step[], prompts: Told['prompts'], floor: number): Told {
  const told: Told = { events: [], ended: [], prompts: [] };
  const tracker = new TurnTracker(owner(told), { sessionId, from: 0, floor, usd: undefined });
  for (const prompt of prompts) tracker.add({ ...prompt, isWritten: true });
  let end = 0;
  for (const step of steps) {
    if (step !== 'flush' && 'line' in step)
      tracker.take(readMessage(step.line), (end += Buffer.byteLength(step.line) + 1));
  }
  tracker.flush();
  return told;
}

const brief = (events: readonly DriverEvent[]): string[] =>
  events.map((event) => {
    switch (event.type) {
      case 'turnStarted':
        return `start ${event.nativeTurnId}${event.deliveryId === undefined ? '' : ' for us'}`;
      case 'turnEnded':
        return `end ${event.nativeTurnId} ${event.status} "${event.answer}"${event.error ? ` ${event.error.kind}` : ''}`;
      case 'item':
        return `${event.item.kind} "${event.item.text}"`;
      default:
        return event.type;
    }
  });

const lines = (...all: string[]): Step[] => all.map((line) => ({ line }));

describe('the tracker', () => {
  it('starts a turn at the first sign of work and ends it at the answer', () => {
    const { events, ended } = live([
      { prompt: 'd1' },
      ...lines(text('he'), text('llo'), answer('prompt:d1')),
    ]);
    expect(brief(events)).toEqual([
      'start prompt:d1 for us',
      'text "hello"',
      'end prompt:d1 succeeded "hello"',
    ]);
    expect(ended).toEqual(['d1']);
  });

  it('tells start and end of a prompt that was answered without a sign', () => {
    const { events } = live([{ prompt: 'd1' }, ...lines(answer('prompt:d1', { stopReason: 'cancelled' }))]);
    expect(brief(events)).toEqual(['start prompt:d1 for us', 'end prompt:d1 interrupted ""']);
  });

  it('takes the text after the last tool call for the answer, and all of it when there is none', () => {
    const spoken = lines(
      text('I look. '),
      toolCall('1'),
      text('Hm. '),
      toolDone('1'),
      text('Done.'),
      answer('prompt:d1'),
    );
    expect(brief(live([{ prompt: 'd1' }, ...spoken]).events).at(-1)).toContain('"Done."');
    const silent = lines(text('I look. '), toolCall('1'), text('Hm. '), toolDone('1'), answer('prompt:d1'));
    expect(brief(live([{ prompt: 'd1' }, ...silent]).events).at(-1)).toContain('"I look. Hm. "');
  });

  it('does not take text with a pending tool call for an end', () => {
    const { events } = live([{ prompt: 'd1' }, ...lines(text('All done!'), toolCall('1'))]);
    expect(brief(events)).toEqual(['start prompt:d1 for us', 'text "All done!"', 'toolCall "tool 1"']);
  });

  it('counts a second answer, an answer to nothing and garbage as noise', () => {
    const bad = lines(
      answer('prompt:d1'),
      answer('prompt:d9'),
      answer(7),
      answer(null),
      'not json',
      '[]',
      '{"jsonrpc":"2.0"}',
    );
    const { events, ended } = live([{ prompt: 'd1' }, ...lines(answer('prompt:d1')), ...bad]);
    expect(brief(events).slice(2)).toEqual(bad.map(() => 'noise'));
    expect(ended).toEqual(['d1']);
  });

  it('tells activity without a prompt as a late turn, one for each time it is found', () => {
    const { events } = live([
      { prompt: 'd1' },
      ...lines(answer('prompt:d1'), text('and '), text('more'), toolCall('9')),
      'flush',
      ...lines(text('again')),
    ]);
    const at = events.filter((event) => event.type === 'turnStarted').map((event) => event.nativeTurnId);
    expect(brief(events).slice(2)).toEqual([
      `start ${at[1]}`,
      'text "and more"',
      'toolCall "tool 9"',
      `end ${at[1]} succeeded "and more"`,
      `start ${at[2]}`,
      'text "again"',
      `end ${at[2]} succeeded "again"`,
    ]);
  });

  it('does not take news about the conversation for work', () => {
    const news = lines(
      update('available_commands_update', { availableCommands: [] }),
      update('usage_update', { used: 1, size: 2 }),
      update('session_info_update', { title: 'x' }),
    );
    expect(live(news).events).toEqual([]);
    expect(live([{ prompt: 'd1' }, ...news]).events).toEqual([]);
  });

  it('counts updates of other conversations and of unknown kinds as noise', () => {
    const strange = lines(
      update('agent_message_chunk', {}, 'conv-2'),
      update('telepathy'),
      '{"jsonrpc":"2.0","method":"hello"}',
    );
    expect(brief(live([{ prompt: 'd1' }, ...strange]).events)).toEqual(['noise', 'noise', 'noise']);
  });

  it('says why a turn failed', () => {
    const ends = [
      answer('prompt:d1', { stopReason: 'refusal' }),
      answer('prompt:d1', { stopReason: 'telepathy' }),
      answer('prompt:d1', {}),
      failure('prompt:d1', {
        code: -32603,
        message: 'x',
        data: { errorKind: 'rate_limit', resetsAt: 1_900_000_000 },
      }),
      failure('prompt:d1', { code: -32603, message: 'x', data: { error: { status: 429 } } }),
      failure('prompt:d1', { code: -32000, message: 'sign in' }),
      failure('prompt:d1', { code: -32603, message: 'request failed with status 429' }),
      failure('prompt:d1', { code: -32603, message: 'an error: 429 tests failed' }),
    ];
    const errors = ends.map((line) => live([{ prompt: 'd1' }, { line }]).events.at(-1));
    expect(
      errors.map((event) => (event?.type === 'turnEnded' ? [event.status, event.error?.kind] : event)),
    ).toEqual([
      ['failed', 'agent'],
      ['failed', 'agent'],
      ['failed', 'agent'],
      ['failed', 'capacity'],
      ['failed', 'capacity'],
      ['failed', 'login'],
      ['failed', 'capacity'],
      ['failed', 'agent'],
    ]);
    expect(errors[3]).toMatchObject({ error: { resetsAt: 1_900_000_000_000 } });
    const internal = { code: -32603, message: 'Internal error', data: { details: 'no such file' } };
    const told = live([{ prompt: 'd1' }, { line: failure('prompt:d1', internal) }]).events.at(-1);
    expect(told).toMatchObject({ error: { kind: 'agent', message: 'Internal error: no such file' } });
  });

  it('tells what a turn cost when the agent says what the conversation costs', () => {
    const cost = (amount: number): string =>
      update('usage_update', { used: 1, size: 2, cost: { amount, currency: 'USD' } });
    const { events } = live([
      { prompt: 'd1' },
      ...lines(
        cost(0.25),
        answer('prompt:d1', { stopReason: 'end_turn', usage: { inputTokens: 5, outputTokens: 7 } }),
      ),
      { prompt: 'd2' },
      ...lines(cost(1), answer('prompt:d2')),
    ]);
    const usages = events.flatMap((event) => (event.type === 'turnEnded' ? [event.usage] : []));
    expect(usages).toEqual([{ inputTokens: 5, outputTokens: 7, usd: 0.25 }, { usd: 0.75 }]);
  });

  it('bounds an answer', () => {
    const { events } = live([
      { prompt: 'd1' },
      ...lines(text('é'.repeat(800_000)), text('b'), answer('prompt:d1')),
    ]);
    const end = events.at(-1);
    expect(end?.type === 'turnEnded' && Buffer.byteLength(end.answer)).toBeLessThan(1024 * 1024 + 100);
    expect(end?.type === 'turnEnded' && end.answer.endsWith('[the rest of the answer was cut off]')).toBe(
      true,
    );
  });
});

describe('an output that is read again', () => {
  // What an agent may do, as letters: p sends the next prompt, a answers it, the rest is output; f ends a read.
  const script = fc.array(fc.constantFrom('p', 'a', 'a2', 't', 't', 'c', 'd', 'n', 'g', 'f'), {
    maxLength: 40,
  });

  function toSteps(letters: readonly string[]): Step[] {
    let [sent, answered] = [0, 0];
    return letters.flatMap((letter, index): Step[] => {
      if (letter === 'f') return ['flush'];
      if (letter === 'p') return sent === answered ? [{ prompt: `d${++sent}` }] : [];
      if (letter === 'a') return sent > answered ? lines(answer(`prompt:d${++answered}`)) : [];
      if (letter === 'a2') return answered > 0 ? lines(answer(`prompt:d${answered}`)) : [];
      if (letter === 't') return lines(text(`w${index} `));
      if (letter === 'c') return lines(toolCall(`${index}`));
      if (letter === 'd') return lines(toolDone(`${index}`));
      return lines(letter === 'n' ? update('usage_update', {}) : 'garbage');
    });
  }

  // Late turns depend on what one read finds together, so their items and texts are compared as a whole.
  const decisive = (events: readonly DriverEvent[]): string[] =>
    brief(
      events.filter(
        (event) =>
          event.type !== 'item' && !('nativeTurnId' in event && event.nativeTurnId.startsWith('late:')),
      ),
    );

  it('tells exactly what its reader does not know, wherever that reader stopped', () => {
    fc.assert(
      fc.property(script, fc.nat(), (letters, seed) => {
        const steps = toSteps(letters);
        const whole = live(steps);
        const stop = whole.events.length === 0 ? 0 : seed % (whole.events.length + 1);
        const known = whole.events.slice(0, stop);
        const rest = again(steps, whole.prompts, known.at(-1)?.position ?? 0);
        expect(decisive([...known, ...rest.events])).toEqual(decisive(whole.events));
        const words = (events: readonly DriverEvent[]): string =>
          events
            .map((event) =>
              event.type === 'item' && event.nativeTurnId?.startsWith('prompt:') ? event.item.text : '',
            )
            .join('');
        expect(words([...known, ...rest.events])).toBe(words(whole.events));
      }),
      { numRuns: 2000 },
    );
  });

  it('never ends a turn twice or before its start, and its positions never fall', () => {
    fc.assert(
      fc.property(script, fc.nat(), (letters, seed) => {
        const steps = toSteps(letters);
        const whole = live(steps);
        const stop = seed % (whole.events.length + 1);
        const known = whole.events.slice(0, stop);
        const all = [...known, ...again(steps, whole.prompts, known.at(-1)?.position ?? 0).events];
        const open = new Set<string>();
        const over = new Set<string>();
        let position = 0;
        for (const event of all) {
          expect(event.position).toBeGreaterThanOrEqual(position);
          position = event.position;
          if (event.type === 'turnStarted') {
            expect(open.has(event.nativeTurnId) || over.has(event.nativeTurnId)).toBe(false);
            open.add(event.nativeTurnId);
          }
          if (event.type === 'turnEnded') {
            expect(open.delete(event.nativeTurnId)).toBe(true);
            over.add(event.nativeTurnId);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });
});
