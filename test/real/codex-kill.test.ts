import { codexKit } from './codex-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';
import { repeated } from './kill-times.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: repeated([1, 3, 2, 4, 5, 6]) },
  { window: 'between send and record', fault: 'send.written', times: repeated([2, 4, 1, 3, 5, 6]) },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: repeated([1, 3, 2]) },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: repeated([2, 1, 3]) },
  { window: 'before a steer', fault: 'steer.before', times: repeated([1, 2]) },
  { window: 'between steer and record', fault: 'steer.written', times: repeated([1, 2]) },
  {
    window: "between the turn's end and its commit",
    fault: 'turn.ended',
    times: repeated([1, 4, 2, 3, 5, 6]),
  },
  { window: 'before a commit', fault: 'commit.before', times: repeated([8, 20, 14, 26]) },
  { window: 'between commit and wake-up', fault: 'commit.after', times: repeated([14, 26, 8, 20]) },
  { window: 'before a wake-up', fault: 'wakeup.before', times: repeated([1, 5, 3, 7, 9]) },
  { window: 'before an advance', fault: 'advance.before', times: repeated([1, 3, 2, 4, 5]) },
];
/** Milliseconds after the start of a run. */
const moments = repeated([700, 1800, 400, 1000, 150, 1400, 2300]);

killCases(codexKit, { points, moments, lanes: 2, patienceMs: 60_000 });
