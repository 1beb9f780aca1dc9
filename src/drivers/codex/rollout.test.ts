import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findInRollout, readRollout } from './rollout.ts';

const event = (payload: object): string =>
  JSON.stringify({ timestamp: 'x', ordinal: 1, type: 'event_msg', payload });
const user = (turnId: string, clientId: string): string =>
  event({
    type: 'item_completed',
    turn_id: turnId,
    item: { type: 'UserMessage', id: `u-${clientId}`, client_id: clientId, content: [] },
  });

describe('the file that codex keeps of a thread', () => {
  let directory: string;
  let path: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'stemma-rollout-'));
    path = join(directory, 'rollout.jsonl');
    const lines = [
      '{"type":"session_meta","payload":{"id":"thread"}}',
      user('t1', 'd1'),
      event({ type: 'task_complete', turn_id: 't1', last_agent_message: 'done' }),
      user('t2', 'd2'),
      event({ type: 'turn_aborted', turn_id: 't2', reason: 'interrupted' }),
      event({
        type: 'task_complete',
        turn_id: 't3',
        error: { message: 'no more', codex_error_info: 'usage_limit_exceeded' },
      }),
      user('t4', 'd4'),
      'half a line of a process that was kil',
    ];
    writeFileSync(path, lines.join('\n'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('knows how a turn ended when nobody can be asked', () => {
    expect(readRollout(path, 'thread', 't1')).toMatchObject([
      { type: 'itemCompleted', item: { type: 'userMessage', clientId: 'd1' } },
      { type: 'itemCompleted', item: { type: 'agentMessage', text: 'done' } },
      { type: 'turnCompleted', status: 'completed' },
    ]);
    expect(readRollout(path, 'thread', 't2').at(-1)).toMatchObject({
      type: 'turnCompleted',
      status: 'interrupted',
    });
    expect(readRollout(path, 'thread', 't3')).toMatchObject([
      { type: 'turnCompleted', status: 'failed', error: { codexErrorInfo: 'usageLimitExceeded' } },
    ]);
  });

  it('says nothing of the end of a turn that was killed', () => {
    expect(readRollout(path, 'thread', 't4')).toMatchObject([{ type: 'itemCompleted' }]);
  });

  it('finds a text by our id, and knows when it is nowhere', () => {
    expect(findInRollout(path, 'd2')).toEqual({ turnId: 't2' });
    expect(findInRollout(path, 'd9')).toBeUndefined();
    expect(findInRollout(join(directory, 'none'), 'd2')).toBe('unknown');
    expect(readRollout(join(directory, 'none'), 'thread', 't1')).toEqual([]);
  });
});
