import { expect } from 'vitest';
import { commandOf, processesWithEnvironment } from '../e2e/living-processes.ts';
import type { AgentServer } from './agent-server.ts';
import { claudeKit } from './claude-kit.ts';
import { type KillPlan, killCases } from './kill-cases.ts';
import { kills, repeated } from './kill-times.ts';

const windows: KillPlan['points'] = [
  { window: 'before the send', fault: 'send.before', times: repeated([1, 3, 2, 4, 5]) },
  { window: 'between send and record', fault: 'send.written', times: repeated([2, 4, 1, 3, 5]) },
  { window: 'in a tool call, before it is registered', fault: 'call.received', times: repeated([1, 2]) },
  { window: 'in a tool call, after it is registered', fault: 'call.registered', times: repeated([2, 1]) },
  { window: 'before a steer', fault: 'steer.before', times: repeated([1]) },
  { window: 'between steer and record', fault: 'steer.written', times: repeated([1]) },
  { window: "between the turn's end and its commit", fault: 'turn.ended', times: repeated([1, 3, 2, 4]) },
];
const more: KillPlan['points'] = [
  { window: 'before a commit', fault: 'commit.before', times: repeated([8, 20, 14, 26, 11, 17]) },
  { window: 'between commit and wake-up', fault: 'commit.after', times: repeated([14, 26, 8, 20, 11, 17]) },
  { window: 'before a wake-up', fault: 'wakeup.before', times: repeated([1, 5, 3, 7]) },
  { window: 'before an advance', fault: 'advance.before', times: repeated([1, 2, 3]) },
];
const moments = [700, 1500, 400, 1100, 1900, 2300, 2700, 150, 900, 1300];

killCases(claudeKit, {
  points: kills > 2 ? [...windows, ...more] : windows,
  moments: repeated(moments),
  lanes: 2,
  patienceMs: 60_000,
  check(server) {
    const histories = JSON.stringify(server.model.requests.map(({ conversation }) => conversation));
    expect(histories).not.toMatch(/interrupted by user/i);
    const served = conversationsServed(server);
    expect(served.length).toBeGreaterThan(0);
    expect(served.filter((id, index) => served.indexOf(id) !== index)).toEqual([]);
  },
});

/** The conversation of each living Claude process of this server. */
function conversationsServed({ directory }: AgentServer): string[] {
  return processesWithEnvironment(directory).flatMap((pid) => {
    const id = /stream-json.*--(?:session-id|resume) (\S+)/.exec(commandOf(pid))?.[1];
    return id === undefined ? [] : [id];
  });
}
