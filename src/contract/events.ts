import { z } from 'zod';
import { instant } from './text.ts';

/** The types of events on the stream. Clients ignore types that they do not know: more will come. */
export const eventTypes = [
  'execution.registered',
  'execution.started',
  'execution.requeued',
  'execution.waiting',
  'execution.overspent',
  'execution.cancelRequested',
  'execution.settled',
  'execution.closed',
  'execution.detached',
  'notice.owed',
  'notice.claimed',
  'notice.handed',
  'notice.handled',
  'notice.waived',
  'turn.started',
  'turn.joined',
  'turn.ended',
  'turn.endIgnored',
  'session.state',
  'session.limit',
  'run.state',
  'run.advanced',
  'run.backsOff',
  'run.workspace',
  'graph.state',
  'step.state',
  'schedule.changed',
  'occurrence.state',
  'alarm',
] as const;
export type EventType = (typeof eventTypes)[number];

/** The type of the one event that is no fact of the ledger: the cursor named is not of this database; read afresh. */
export const resetEventType = 'reset';

export const event = z
  .object({
    id: z.string().meta({ description: 'An opaque cursor.' }),
    at: instant,
    type: z.string().meta({ description: [...eventTypes, resetEventType].join(', ') }),
    rootId: z.string().optional(),
    sessionId: z.string().optional(),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Event', description: 'Something that was committed.' });
/** Something that was committed. It belongs to at most one session. */
export type Event = z.infer<typeof event>;
