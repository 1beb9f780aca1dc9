import { expect, test } from 'vitest';
import type { SessionMessage } from '../../../../src/contract/session.ts';
import { fateOf } from './message-fate.ts';

const message = (more: Partial<SessionMessage>): SessionMessage => ({
  executionId: 'exe_1',
  rootId: 'exe_1',
  kind: 'message',
  name: 'go',
  state: 'running',
  closed: false,
  delivery: 'began',
  createdAt: '2026-12-01T10:00:00.000Z',
  ...more,
});

test.each([
  [{ delivery: 'queued', state: 'queued' }, 'queued', 'goes out when the session is free'],
  [
    { delivery: 'queued', state: 'queued', refused: 1 },
    'queued',
    'could not be put into the running turn; it is next when the session is free',
  ],
  [{ delivery: 'steering', state: 'queued' }, 'waiting', 'on its way into the running turn; not proved yet'],
  [{ delivery: 'steered' }, 'running', 'put into the running turn, with proof; the agent is at work on it'],
  [{ state: 'succeeded' }, 'open', 'answered; what it set in motion is not closed yet'],
  [{ state: 'succeeded', closed: true }, 'succeeded', 'handled'],
  [
    { state: 'failed', closed: true, error: { code: 'AGENT_FAILED', message: 'no\u202e quota' } },
    'failed',
    'failed: no quota',
  ],
  [{ delivery: 'unsent', state: 'cancelled', closed: true }, 'cancelled', 'never sent'],
] as const)('%o is shown as %s', (more, shown, words) => {
  expect(fateOf(message(more))).toEqual({ shown, words });
});
