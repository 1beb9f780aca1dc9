import { type KillPlan, killCases } from './kill-cases.ts';
import { piKit } from './pi-kit.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: [1, 3] },
  { window: 'between send and record', fault: 'send.written', times: [1, 3] },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: [1, 2] },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: [1, 3] },
  { window: 'before a wake-up', fault: 'wakeup.before', times: [3] },
];

killCases(piKit, { points, moments: [900, 2500], patienceMs: 120_000 });
