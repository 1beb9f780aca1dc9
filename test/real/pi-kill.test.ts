import { type KillPlan, killCases } from './kill-cases.ts';
import { halved, repeated } from './kill-times.ts';
import { piKit } from './pi-kit.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: repeated([1, 3, 2, 4, 5, 6]) },
  { window: 'between send and record', fault: 'send.written', times: repeated([1, 3, 2, 4, 5, 6]) },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: halved([1, 2]) },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: halved([1, 2]) },
  { window: 'before a steer', fault: 'steer.before', times: halved([1]) },
  { window: 'between steer and record', fault: 'steer.written', times: halved([1]) },
  {
    window: "between the turn's end and its commit",
    fault: 'turn.ended',
    times: repeated([1, 3, 2, 4, 5, 6]),
  },
];
/** Milliseconds after the start of a run. */
const moments = [900, 2500, 1500, 3500, 5000, 8000];

// A tool call and a steer share their kills between their two windows.
killCases(piKit, {
  points,
  moments: repeated(moments),
  lanes: 2,
  patienceMs: 120_000,
});
