import { type KillPlan, killCases } from './kill-cases.ts';
import { repeated } from './kill-times.ts';
import { piKit } from './pi-kit.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: [1, 3, 2, 4, 5, 6] },
  { window: 'between send and record', fault: 'send.written', times: [1, 3, 2, 4, 5, 6] },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: [1, 2] },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: [1, 2] },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: [1, 3, 2, 4, 5, 6] },
];
/** Milliseconds after the start of a run. */
const moments = [900, 2500, 1500, 3500, 5000, 8000];

killCases(piKit, {
  points: points.map((point) => ({ ...point, times: repeated(point.times) })),
  moments: repeated(moments),
  patienceMs: 120_000,
});
