import { describe, expect, it } from 'vitest';
import { replayTurn } from './replay.ts';
import type { CodexTurn, ItemEntry, Signal } from './wire.ts';

const turn = (more: Partial<CodexTurn> = {}): CodexTurn => ({
  id: 'T',
  status: 'completed',
  completedAt: 10,
  ...more,
});
const entry = (id: string, type: string, startedAtMs: number, completedAtMs: number): ItemEntry => ({
  turnId: 'T',
  item: { type, id, text: id, command: id },
  startedAtMs,
  completedAtMs,
});
const brief = (signals: readonly Signal[]): string[] =>
  signals.map((signal) =>
    'item' in signal ? `${signal.type === 'itemStarted' ? '+' : '-'}${signal.item.id}` : signal.type,
  );

describe('a turn read from the record', () => {
  it('is told as it happened: a call starts before what was completed meanwhile', () => {
    const items = [
      entry('ask', 'userMessage', 1000, 1000),
      entry('short', 'commandExecution', 3000, 3500),
      entry('long', 'commandExecution', 2000, 5000),
      entry('answer', 'agentMessage', 6000, 6100),
    ];
    const { during, end, after } = replayTurn('thread', { turn: turn(), items });
    expect(brief(during)).toEqual(['turnStarted', '-ask', '+long', '+short', '-short', '-long', '-answer']);
    expect(end).toMatchObject({ type: 'turnCompleted', status: 'completed' });
    expect(after).toEqual([]);
  });

  it('ends before the commands that outlived it', () => {
    const items = [entry('answer', 'agentMessage', 2000, 2100), entry('bg', 'commandExecution', 1000, 2200)];
    const { during, after } = replayTurn('thread', { turn: turn(), items });
    expect(brief(during)).toEqual(['turnStarted', '+bg', '-answer']);
    expect(brief(after)).toEqual(['-bg']);
  });

  it('that was interrupted ends before what ended in a later second', () => {
    const items = [
      entry('quick', 'commandExecution', 1000, 9000),
      entry('left', 'commandExecution', 2000, 11_500),
    ];
    const { during, after } = replayTurn('thread', { turn: turn({ status: 'interrupted' }), items });
    expect(brief(during)).toEqual(['turnStarted', '+quick', '+left', '-quick']);
    expect(brief(after)).toEqual(['-left']);
  });

  it('has no end while it runs, and died when its process did', () => {
    expect(
      replayTurn('thread', { turn: turn({ status: 'inProgress', completedAt: null }), items: [] }).end,
    ).toBeUndefined();
    const cut = replayTurn('thread', { turn: turn({ status: 'interrupted', completedAt: null }), items: [] });
    expect(cut.end).toMatchObject({ status: 'died' });
  });
});
