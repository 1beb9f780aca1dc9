import { codexKit } from './codex-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: [1, 2, 3, 4, 5, 6] },
  { window: 'between send and record', fault: 'send.written', times: [1, 2, 3, 4, 5, 6] },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: [1, 2, 3] },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: [1, 2, 3] },
  { window: 'before a steer', fault: 'steer.before', times: [1, 2] },
  { window: 'between steer and record', fault: 'steer.written', times: [1, 2] },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: [1, 2, 3, 4, 5, 6] },
  { window: 'before a commit', fault: 'commit.before', times: [8, 14, 20, 26] },
  { window: 'between commit and wake-up', fault: 'commit.after', times: [8, 14, 20, 26] },
  { window: 'before a wake-up', fault: 'wakeup.before', times: [1, 3, 5, 7, 9] },
  { window: 'before an advance', fault: 'advance.before', times: [1, 2, 3, 4, 5] },
];
/** Milliseconds after the start of a run. */
const moments = [150, 400, 700, 1000, 1400, 1800, 2300];

killCases(codexKit, { points, moments, lanes: 2, patienceMs: 60_000 });
