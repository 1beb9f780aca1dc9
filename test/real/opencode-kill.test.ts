import { opencodeKit } from './opencode-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';
import { halved, repeated } from './kill-times.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'between send and record', fault: 'send.written', times: repeated([2, 4, 1, 3, 5, 6]) },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: halved([1, 2]) },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: halved([2, 1]) },
  { window: 'before a steer', fault: 'steer.before', times: halved([1]) },
  { window: 'between steer and record', fault: 'steer.written', times: halved([1]) },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: repeated([1, 4, 2, 3, 5]) },
];
/** Milliseconds after the start of a run. */
const moments = repeated([1500, 5000, 3000, 8000, 12_000, 16_000]);

// Each kill takes as long as the programs of three conversations take to come up: a tool call and a steer share their kills
// between their two windows.
killCases(opencodeKit, { points, moments, lanes: 2, patienceMs: 150_000 });
