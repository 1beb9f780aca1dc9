import { describe, expect, it } from 'vitest';
import { settledQuestions } from './catch-up.ts';
import { outline, reduceAll } from './corpus-harness.ts';
import type { AssistantSignal, Signal } from './signal.ts';
import { newSessionState } from './state.ts';

const sessionId = 'ses_1';
const state = newSessionState(sessionId, 0);
const user = (messageId: string): Signal => ({ type: 'user', sessionId, messageId, createdAt: 1 });
const said = (messageId: string, text: string, isSynthetic = false): Signal => ({
  type: 'userText',
  sessionId,
  messageId,
  partId: `p-${messageId}`,
  text,
  isSynthetic,
});
const asks = (messageId: string, parentId: string, more: Partial<AssistantSignal> = {}): Signal => ({
  type: 'assistant',
  sessionId,
  messageId,
  parentId,
  inputTokens: 0,
  outputTokens: 0,
  usd: 0,
  isSummary: false,
  ...more,
});
const sending = (deliveryId: string, messageId: string): Signal => ({
  type: 'sending',
  deliveryId,
  messageId,
});
const idle: Signal = { type: 'idle', sessionId };
const busy: Signal = { type: 'busy', sessionId };
const over = { completedAt: 5, finish: 'stop' };
const run = (...signals: Signal[]): string[] => outline(reduceAll(state, signals).events);

describe('what opencode tells', () => {
  it('ends nothing by an idle that comes before the last message is closed', () => {
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1')];
    expect(run(...begun, idle)).toEqual(['started by d1']);
    const error = { name: 'MessageAbortedError', message: 'Aborted' };
    expect(run(...begun, idle, asks('a1', 'u1', { completedAt: 5, error }), idle, idle)).toEqual([
      'started by d1',
      'ended interrupted',
    ]);
  });

  it('takes every text that came before the one which a request answers', () => {
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1')];
    const steered = [
      sending('d2', 'u2'),
      user('u2'),
      sending('d3', 'u3'),
      user('u3'),
      user('u4'),
      said('u4', 'mine'),
    ];
    expect(run(...begun, ...steered, asks('a2', 'u3'), asks('a3', 'u4', over), idle)).toEqual([
      'started by d1',
      'taken d2',
      'taken d3',
      'typed',
      'ended succeeded',
    ]);
  });

  it('leaves a text that no request carried, and has it taken by the turn whose request does', () => {
    const first = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1'), sending('d2', 'u2'), user('u2')];
    const ended = [...first, asks('a1', 'u1', over), idle];
    expect(run(...ended)).toEqual(['started by d1', 'ended succeeded']);
    expect(
      run(...ended, user('u3'), said('u3', 'mine'), busy, asks('a2', 'u3', over), idle).slice(2),
    ).toEqual(['started by "mine"', 'taken d2', 'ended succeeded']);
    expect(
      run(
        ...ended,
        { type: 'removed', sessionId, messageId: 'u2' },
        user('u3'),
        busy,
        asks('a2', 'u3', over),
        idle,
      ).slice(2),
    ).toEqual(['started by itself', 'ended succeeded']);
  });

  it('fails a turn that never came to a request, with the error that was told', () => {
    const error = { name: 'UnknownError', message: 'Model not found' };
    const told = reduceAll(state, [
      sending('d1', 'u1'),
      user('u1'),
      busy,
      { type: 'error', sessionId, error },
      idle,
      idle,
    ]);
    expect(outline(told.events)).toEqual(['started by d1', 'ended failed: agent']);
    expect(told.events.find((e) => e.type === 'turnEnded')).toMatchObject({
      error: { message: 'Model not found' },
    });
    expect(run(idle, idle)).toEqual([]);
  });

  it('closes what died by telling the death, once, and nothing of the next turn is mixed with it', () => {
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1')];
    const next = [sending('d2', 'u2'), user('u2'), busy, asks('a2', 'u2', over), idle];
    expect(run(...begun, { type: 'died' }, asks('a1', 'u1'), { type: 'died' }, ...next)).toEqual([
      'started by d1',
      'exited',
      'started by d2',
      'ended succeeded',
    ]);
    expect(run(...begun, { type: 'exited', reason: 'x' }, { type: 'died' })).toEqual([
      'started by d1',
      'exited',
    ]);
    expect(run(...begun, { type: 'closed', messageId: 'a1', isBroken: true })).toEqual([
      'started by d1',
      'ended failed: agent',
    ]);
    expect(run(...begun, { type: 'closed', messageId: 'a0', isBroken: true })).toEqual(['started by d1']);
  });

  it('says that a provider is waited for once, and that it answers again', () => {
    const retry: Signal = { type: 'retry', sessionId, message: 'limit', next: 9 };
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1'), retry, busy, retry, busy];
    const part: Signal = { type: 'text', sessionId, messageId: 'a1', partId: 'p1', text: 'yes' };
    expect(run(...begun, part, asks('a1', 'u1', over), idle)).toEqual([
      'started by d1',
      'waits for capacity',
      'resumed',
      'ended succeeded: yes',
    ]);
  });

  it('tells each further try of a provider with its time, and the same try once', () => {
    const retry = (next?: number): Signal => ({
      type: 'retry',
      sessionId,
      message: 'limit',
      ...(next === undefined ? {} : { next }),
    });
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1')];
    const { events } = reduceAll(state, [...begun, retry(9), busy, retry(9), retry(), retry(20)]);
    expect(events.slice(1)).toMatchObject([
      { type: 'waiting', waitsFor: 'capacity', until: 9 },
      { type: 'waiting', waitsFor: 'capacity', until: 20 },
    ]);
  });

  it('asks again what is still open when another question is settled', () => {
    const asked = (questionId: string): Signal => ({
      type: 'asked',
      sessionId,
      questionId,
      text: `may I ${questionId}`,
      choices: ['once', 'reject'],
    });
    const settled = (questionId: string): Signal => ({ type: 'settled', sessionId, questionId });
    const begun = [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1'), asked('q1'), asked('q2')];
    const { events } = reduceAll(state, [...begun, settled('q2'), settled('q2'), settled('q1')]);
    const open = (questionId: string): object => ({
      type: 'waiting',
      questionId,
      text: `may I ${questionId}`,
      choices: ['once', 'reject'],
      declines: 'reject',
    });
    expect(events.slice(1)).toMatchObject([
      open('q1'),
      open('q2'),
      { type: 'resumed' },
      open('q1'),
      { type: 'resumed' },
    ]);
  });

  it('settles by the record what was answered while nobody listened', () => {
    const asked: Signal = { type: 'asked', sessionId, questionId: 'q1', text: 'may I', choices: [] };
    const begun = reduceAll(state, [sending('d1', 'u1'), user('u1'), busy, asks('a1', 'u1'), asked]);
    const reading = {
      sessionId,
      messages: [],
      status: [],
      children: [],
      questions: [],
      tasks: [],
      unread: [],
    };
    const found = settledQuestions(reading, begun.state);
    expect(outline(reduceAll(begun.state, found).events)).toEqual(['resumed']);
    const open = { kind: 'permission', count: 1, signal: asked } as const;
    expect(settledQuestions({ ...reading, questions: [open] }, begun.state)).toEqual([]);
  });

  it('hears nothing of sessions that are not below ours', () => {
    const foreign = { sessionId: 'ses_2' };
    expect(
      run(
        { type: 'asked', questionId: 'q', text: 'may I', choices: [], ...foreign },
        { type: 'idle', ...foreign },
      ),
    ).toEqual([]);
    const child: Signal = { type: 'child', sessionId: 'ses_2', parentId: sessionId, title: 'sub' };
    expect(run(child, { type: 'asked', questionId: 'q', text: 'may I', choices: [], ...foreign })).toEqual([
      'waits for input',
    ]);
  });
});
