import { opencodeKit } from './opencode-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';
import { kills } from './kill-times.ts';

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: [1, 2, 3, 4, 5, 6] },
  { window: 'between send and record', fault: 'send.written', times: [1, 2, 3, 4, 5, 6] },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: [1, 2, 3] },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: [1, 2, 3] },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: [1, 2, 3, 4, 5, 6] },
  { window: 'before a commit', fault: 'commit.before', times: [8, 14, 20, 26] },
  { window: 'between commit and wake-up', fault: 'commit.after', times: [8, 14, 20, 26] },
];
/** Milliseconds after the start of a run. */
const moments = [1500, 3000, 5000, 8000, 12_000, 16_000];

// Each kill takes as long as the programs of three conversations take to come up, so CI tries a few; STEMMA_KILLS=20: all.
const tries = process.env['STEMMA_KILLS'] === undefined ? 1 : kills;
const some = points.map((point) => ({ ...point, times: point.times.slice(0, tries) }));
killCases(opencodeKit, {
  points:
    tries > 1
      ? some
      : some.filter(({ fault }) => ['send.written', 'call.registered', 'turn.ended'].includes(fault)),
  moments: moments.slice(0, tries + 1),
  patienceMs: 150_000,
});
