import { describe, expect, it } from 'vitest';
import { completed, readNotification } from './wire.ts';

describe('what codex says', () => {
  it('is ignored where it decides nothing', () => {
    expect(readNotification('item/agentMessage/delta', { delta: 'x' })).toBeUndefined();
    expect(readNotification('something/new', 5)).toBeUndefined();
    const active = { threadId: 't', status: { type: 'active', activeFlags: [] } };
    expect(readNotification('thread/status/changed', active)).toBeUndefined();
  });

  it('is an error where a decision hangs on it and its shape is wrong', () => {
    expect(() => readNotification('turn/completed', { threadId: 't' })).toThrow();
    const status = { threadId: 't', turn: { id: 'x', status: 'paused' } };
    expect(() => readNotification('turn/completed', status)).toThrow();
  });

  it('tells an interrupt from the death of the process', () => {
    const turn = { id: 'x', status: 'interrupted' as const };
    expect(completed('t', { ...turn, completedAt: 5 })).toMatchObject({ status: 'interrupted' });
    expect(completed('t', { ...turn, completedAt: null })).toMatchObject({ status: 'died' });
    expect(completed('t', { id: 'x', status: 'inProgress' })).toBeUndefined();
  });

  it('names the reset only of a limit that is used up', () => {
    const limits = (used: number): unknown => ({
      rateLimits: {
        primary: { usedPercent: used, resetsAt: 100 },
        secondary: { usedPercent: 10, resetsAt: 900 },
      },
    });
    expect(readNotification('account/rateLimits/updated', limits(100))).toEqual({
      type: 'limits',
      resetsAt: 100_000,
    });
    expect(readNotification('account/rateLimits/updated', limits(99))).toEqual({ type: 'limits' });
  });
});
