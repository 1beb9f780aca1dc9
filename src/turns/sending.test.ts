import { expect, it } from 'vitest';
import type { TurnId } from '../base/ids.ts';
import type { Conversation, Evidence } from '../drivers/port.ts';
import type { Turn } from '../ledger/turn.ts';
import type { TurnsContext } from './ports.ts';
import { Sending } from './sending.ts';

it('looks again while a text waits in a queue, where it can be taken back', async () => {
  // What waits, or has arrived, tells the ledger nothing.
  const sending = new Sending({} as TurnsContext);
  const turn = { id: 'trn_1' as TurnId } as Turn;
  sending.opened(turn.id);
  const resolve = (state: Evidence['state']): Promise<'done' | 'later'> =>
    sending.resolve({ evidence: async () => ({ state }) as Evidence } as unknown as Conversation, turn);
  expect(await resolve('queued')).toBe('later');
  expect(await resolve('unknown')).toBe('later');
  expect(await resolve('consumed')).toBe('done');
});
