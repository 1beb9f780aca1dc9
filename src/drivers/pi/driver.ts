import type { Clock } from '../../base/clock.ts';
import type { Capabilities, Driver } from '../port.ts';
import { openConversation } from './open.ts';
import { probe } from './probe.ts';

/** What a driver of pi needs. */
export interface PiDriverOptions {
  readonly clock: Clock;
  /** How long pi may take from its launch to an open conversation. Milliseconds, default 60 seconds. */
  readonly openingMs?: number;
  /** Aborted when the server stops: openings under way are given up, since nothing was told to those agents yet. */
  readonly stopping?: AbortSignal;
}

/** Shown by experiment with the real program; docs/drivers/pi.md says by which. */
const capabilities: Capabilities = {
  steer: 'proven',
  negativeProof: 'turnEnd',
  turnEnd: 'protocol',
  backgroundTasks: false,
  wakesByItself: false,
  promptCancelsBackground: false,
  resume: 'always',
  locatesCalls: 'byId',
  limits: true,
  usage: 'cost',
};

/** The driver for pi in RPC mode: a process for each conversation, on a FIFO and an output file. */
export function piDriver(options: PiDriverOptions): Driver {
  const { clock, openingMs = 60_000, stopping = new AbortController().signal } = options;
  return {
    kind: 'pi',
    capabilities,
    honours: ['model', 'effort', 'home', 'sandbox', 'onQuestion', 'secrets', 'version'],
    probe,
    open: (request) => openConversation(request, { clock, openingMs, stopping }),
  };
}
