import { describe, expect, it } from 'vitest';
import type { DriverEvent } from '../port.ts';
import { hashOf } from './sent-log.ts';
import { PiTracker } from './tracker.ts';
import { readLine } from './wire.ts';

interface Told {
  readonly events: DriverEvent[];
  readonly asked: string[];
  readonly tracker: PiTracker;
  say(...lines: object[]): void;
}

function track(floor = 0): Told {
  const events: DriverEvent[] = [];
  const asked: string[] = [];
  const owner = {
    emit: (event: DriverEvent) => void events.push(event),
    onMayBeIdle: (at: number) => void asked.push(`idle:${at}`),
    onLeftover: (at: number) => void asked.push(`drop:${at}`),
    onStalled: (at: number) => void asked.push(`idle:${at}`),
    onStuck: (why: string) => void asked.push(`stuck: ${why}`),
    onAccepted: (id: string) => void asked.push(`check:${id}`),
    onQuestion: (_: unknown, turnId: string | undefined) => void asked.push(`question in ${turnId}`),
    onTurnEnded: () => undefined,
    onResponse: () => undefined,
  };
  const tracker = new PiTracker(owner, { from: 0, floor });
  let end = 0;
  const say = (...lines: object[]): void => {
    for (const line of lines) {
      const text = JSON.stringify(line);
      end += text.length + 1;
      tracker.take(readLine(text), end);
    }
  };
  return { events, asked, tracker, say };
}

const response = (id: string, more: object = {}): object => ({
  type: 'response',
  id,
  success: true,
  ...more,
});
const state = (pending = 0, more: object = {}): object => ({
  data: { isStreaming: false, isCompacting: false, pendingMessageCount: pending, ...more },
});
const user = (text: string): object => ({
  type: 'message_start',
  message: { role: 'user', content: [{ type: 'text', text }] },
});
const answer = (text: string, more: object = {}): object => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop', ...more },
});
const start = { type: 'agent_start' };
const end = { type: 'agent_end', messages: [] };

function begin(told: Told, id = 'a'): void {
  told.tracker.texts.add({ id, kind: 'prompt', at: 0, hash: hashOf('do it') });
  told.say(response(`prompt:${id}`), start, user('do it'));
}

function steer(told: Told, id: string, text: string): void {
  told.tracker.texts.add({ id, kind: 'steer', at: told.tracker.position, hash: hashOf(text) });
  told.say(response(`steer:${id}`));
}

/** pi answers what it was asked last. */
function reply(told: Told, more: object = state()): void {
  told.say(response(told.asked.at(-1) ?? '', more));
}

const types = (told: Told): string[] => told.events.map((event) => event.type);
const lastAsked = (told: Told): string => told.asked.at(-1) ?? '';

describe('the output of pi as events', () => {
  it('ends a turn when pi is idle after a run, and not before', () => {
    const told = track();
    begin(told);
    told.say(answer('done'), end);
    expect(types(told)).toEqual(['turnStarted', 'item', 'item']);
    expect(lastAsked(told)).toMatch(/^idle:\d+$/);
    reply(told);
    expect(told.events.at(-1)).toMatchObject({ type: 'turnEnded', status: 'succeeded', answer: 'done' });
    reply(told);
    expect(types(told).filter((type) => type === 'turnEnded')).toHaveLength(1);
  });

  it('is not fooled by an idle answer when a retry or a compaction followed the run', () => {
    const told = track();
    begin(told);
    told.say(answer('', { stopReason: 'error', errorMessage: '429 slow down' }), end);
    const first = lastAsked(told);
    told.say({ type: 'auto_retry_start', errorMessage: '429 slow down' }, response(first, state()));
    expect(types(told).slice(-2)).toEqual(['item', 'waiting']);
    told.say(start, answer('better'), end, { type: 'compaction_start' });
    reply(told, state(0, { isCompacting: true }));
    expect(types(told)).not.toContain('turnEnded');
    told.say({ type: 'compaction_end', result: {}, willRetry: false });
    reply(told);
    expect(types(told).slice(-3)).toEqual(['resumed', 'item', 'turnEnded']);
  });

  it('waits for the run that a compaction starts for queued texts', () => {
    const told = track();
    begin(told);
    steer(told, 's', 'more');
    told.say(answer('one'), end, { type: 'compaction_start' });
    told.say({ type: 'compaction_end', result: {}, willRetry: false });
    reply(told, state(1));
    expect(told.asked.some((what) => what.startsWith('drop'))).toBe(false);
    told.say(start, user('more'), answer('two'), end);
    reply(told);
    expect(types(told).filter((type) => type !== 'item')).toEqual(['turnStarted', 'taken', 'turnEnded']);
  });

  it('does not wait without end for a run that never comes after a compaction', () => {
    const told = track();
    begin(told);
    told.say(answer('one'), end, { type: 'compaction_start' });
    steer(told, 's', 'too late');
    told.say({ type: 'compaction_end', result: {}, willRetry: false });
    const asked = told.asked.length;
    for (let times = 0; times < 5; times++) reply(told, state(1));
    const idle = told.asked[asked - 1] ?? '';
    expect(told.asked.slice(asked)).toEqual([idle, idle, idle, idle, idle.replace('idle', 'drop')]);
    reply(told, { data: { cancelled: false } });
    expect(told.events.at(-1)).toMatchObject({ type: 'turnEnded', status: 'succeeded', answer: 'one' });
    expect(told.tracker.texts.get('s')?.fate).toBe('gone');
  });

  it('has a queue dropped before it tells the end, and then the text is gone', () => {
    const told = track();
    begin(told);
    steer(told, 's', 'more');
    told.say(answer('', { stopReason: 'aborted' }), end);
    reply(told, state(1));
    expect(types(told)).not.toContain('turnEnded');
    expect(told.tracker.texts.get('s')?.fate).toBe('accepted');
    reply(told, { data: { cancelled: false } });
    expect(told.events.at(-1)).toMatchObject({ type: 'turnEnded', status: 'interrupted', answer: '' });
    expect(told.tracker.texts.get('s')?.fate).toBe('gone');
  });

  it('reads an old output again with all texts known from the start', () => {
    const told = track();
    told.tracker.texts.add({ id: 'a', kind: 'prompt', at: 0, hash: hashOf('do it') });
    told.tracker.texts.add({ id: 'b', kind: 'prompt', at: 1400, hash: hashOf('do it') });
    told.tracker.texts.add({ id: 's', kind: 'steer', at: 1500, hash: hashOf('do it') });
    told.say(response('prompt:a'), start, user('do it'), user('do it'), answer('x'.repeat(900)), end);
    reply(told);
    expect(told.tracker.texts.get('s')?.fate).toBe('open');
    told.say(response('prompt:b'), start, user('do it'), answer('x'.repeat(900)), response('steer:s'));
    told.say(user('do it'), answer('two'), end);
    reply(told);
    expect(told.events.filter(({ type }) => type !== 'item')).toMatchObject([
      { type: 'turnStarted', deliveryId: 'a' },
      { type: 'turnEnded' },
      { type: 'turnStarted', deliveryId: 'b' },
      { type: 'taken', deliveryId: 's', nativeTurnId: 'prompt:b' },
      { type: 'turnEnded', answer: 'two' },
    ]);
  });

  it('says so when the queue cannot be dropped, and ends the turn with the process', () => {
    const told = track();
    begin(told);
    steer(told, 's', 'more');
    told.say(answer('x'), end);
    reply(told, state(1));
    reply(told, { data: { cancelled: true } });
    expect(lastAsked(told)).toMatch(/^stuck/);
    told.tracker.exit('ended');
    expect(types(told).slice(-2)).toEqual(['turnEnded', 'exited']);
    expect(told.tracker.texts.get('s')?.fate).toBe('gone');
  });

  it('matches taken texts to their wording, the oldest first, and never to the text of the turn', () => {
    const told = track();
    told.tracker.texts.add({ id: 'a', kind: 'prompt', at: 0, hash: hashOf('same') });
    told.say(response('prompt:a'), start);
    steer(told, 's1', 'same');
    steer(told, 's2', 'same');
    told.say(user('same'), answer('x'));
    expect(types(told)).not.toContain('taken');
    told.say(user('same'), user('same'));
    const taken = told.events.flatMap((event) => (event.type === 'taken' ? [event.deliveryId] : []));
    expect(taken).toEqual(['s1', 's2']);
  });

  it('tells a run that nobody asked for as a turn of its own', () => {
    const told = track();
    told.say(start, answer('hello'), end);
    reply(told);
    expect(told.events[0]).toMatchObject({
      type: 'turnStarted',
      nativeTurnId: expect.stringMatching(/^own:/),
    });
    expect(told.events[0]).not.toHaveProperty('deliveryId');
    expect(told.events.at(-1)?.type).toBe('turnEnded');
  });

  it('tells a text that an extension took for itself as a turn without an answer', () => {
    const told = track();
    told.tracker.texts.add({ id: 'a', kind: 'prompt', at: 0, hash: hashOf('x') });
    told.say(response('prompt:a'), response('check:a', state()));
    expect(told.events).toMatchObject([
      { type: 'turnStarted', deliveryId: 'a' },
      { type: 'turnEnded', status: 'succeeded', answer: '' },
    ]);
  });

  it('tells a refusal for want of a sign-in as a failed turn, and any other not at all', () => {
    const told = track();
    told.tracker.texts.add({ id: 'a', kind: 'prompt', at: 0, hash: hashOf('x') });
    told.say(response('prompt:a', { success: false, error: 'No API key found for anthropic.' }));
    expect(told.events.at(-1)).toMatchObject({
      type: 'turnEnded',
      status: 'failed',
      error: { kind: 'login' },
    });
    told.tracker.texts.add({ id: 'b', kind: 'prompt', at: 0, hash: hashOf('x') });
    told.say(response('prompt:b', { success: false, error: 'Agent is already processing.' }));
    expect(told.events).toHaveLength(2);
    expect(told.tracker.texts.get('b')?.fate).toBe('refused');
  });

  it('an interrupted wait for a retry is an interrupted turn', () => {
    const told = track();
    begin(told);
    told.say(answer('', { stopReason: 'error', errorMessage: '500 oops' }), end);
    told.say({ type: 'auto_retry_start', errorMessage: '500 oops' });
    told.say({ type: 'auto_retry_end', success: false, finalError: 'Retry cancelled' });
    reply(told);
    expect(told.events.at(-1)).toMatchObject({ type: 'turnEnded', status: 'interrupted' });
  });

  it('finds the turn of a call, and knows when it is over', () => {
    const told = track();
    begin(told);
    told.say({ type: 'tool_execution_start', toolCallId: 'c', toolName: 'bash', args: {} });
    expect(told.tracker.locate('c')).toEqual({ state: 'running', nativeTurnId: 'prompt:a' });
    expect(told.tracker.locate('other')).toEqual({ state: 'unknown' });
    told.say(answer('x'), end);
    reply(told);
    expect(told.tracker.locate('c')).toEqual({ state: 'ended' });
  });

  it('says of a dead process what the model can have heard', () => {
    const told = track();
    told.tracker.texts.add({ id: 'a', kind: 'prompt', at: 0, hash: hashOf('x') });
    told.say(response('prompt:a'));
    steer(told, 's', 'never');
    told.tracker.texts.add({ id: 'b', kind: 'prompt', at: 0, hash: hashOf('y') });
    told.tracker.exit('killed');
    const fates = ['a', 's', 'b'].map((id) => told.tracker.texts.get(id)?.fate);
    expect(fates).toEqual(['consumed', 'gone', 'gone']);
  });

  it('calls garbage noise', () => {
    const told = track();
    told.say({ no: 'type' }, { type: 'response', success: false, error: 'Failed to parse command' }, end);
    expect(types(told)).toEqual(['noise', 'noise', 'noise']);
  });
});
