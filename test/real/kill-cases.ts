import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import { userTexts } from '../model/model-request.ts';
import type { Rule } from '../model/prompt-script.ts';
import { AgentServer } from './agent-server.ts';
import { type AgentKit, findProgram } from './kit.ts';

const background = (name: string, instruction: string): string =>
  `[[tool run_in_background ${JSON.stringify({ name, instruction })}]]`;
const rules: Rule[] = [
  {
    when: '\\[stemma ntc_\\S+ #\\d+\\] tests failed',
    steps: `${background('tests', 'Second try. [[slow 1 green]]')} [[say again]]`,
  },
  { when: '\\[stemma ntc_\\S+ #\\d+\\] (\\w+) succeeded', steps: '[[say handled $1]]' },
];

// One run of this kind is killed once; the marks in its texts tell the runs apart in the model's log.
// `steered`: the first turn is at work until its failed agent has begun to fail, however long that takes to come up.
const messagesOf = (mark: string, steered?: { marker: string }): string[] => {
  const begins = steered ? `[[shell touch ${steered.marker}]] ` : '';
  const works = steered
    ? `for i in $(seq 300); do test -e ${steered.marker} && break; sleep 0.1; done; sleep 3`
    : 'sleep 1';
  return [
    `${mark} first. ${background('lint', `${mark} lint. [[slow 1 clean]]`)} ${background('tests', `${mark} test. ${begins}[[fail 400]]`)} [[shell ${works}]] [[slow 1 both started]]`,
    `${mark} second. [[slow 1 summary]]`,
  ];
};

/** When a server is killed. */
export interface KillPlan {
  /** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
  readonly points: readonly {
    readonly window: string;
    readonly fault: string;
    readonly times: readonly number[];
  }[];
  /** Milliseconds after the start of a run: while the agents stream, run shells and wait for the model. */
  readonly moments: readonly number[];
  /** Milliseconds in which a run ends after a kill, default 40 seconds. */
  readonly patienceMs?: number;
  /** Servers that are tried at the same time, each with its own cases; default 1. */
  readonly lanes?: number;
  /** What must hold besides, after each run. */
  readonly check?: (server: AgentServer) => void;
}

const streaming = 'while it streams, calls tools and runs shells';

/** When one server of a lane dies. */
type Case =
  | { readonly window: string; readonly fault: string }
  | { readonly window: typeof streaming; readonly afterMs: number };

/** `kill -9` of the server in the middle of runs of a real agent program: each message reaches the model once. */
export function killCases(kit: AgentKit, plan: KillPlan): void {
  const program = findProgram(kit.name);
  const { points, moments, lanes = 1 } = plan;
  const cases: Case[] = [
    ...points.flatMap(({ window, fault, times }) => times.map((n) => ({ window, fault: `${fault}:${n}` }))),
    ...moments.map((afterMs) => ({ window: streaming, afterMs }) as const),
  ];
  describe.skipIf(!program)(`kill -9 of the server in the middle of a run of the real ${kit.name}`, () => {
    const counts = new Map<string, number>();
    for (let lane = 0; lane < lanes; lane++) {
      const own = cases.filter((_, index) => index % lanes === lane);
      describe.concurrent(`server ${lane + 1} of ${lanes}`, () =>
        laneOf(kit, program ?? '', plan, own, counts));
    }
    describe('altogether', () => {
      test('it died in every window', () => {
        console.log(`kills by window:\n${[...counts].map(([window, n]) => `  ${n}  ${window}`).join('\n')}`);
        const all = [...points.map(({ window }) => window), streaming];
        expect(all.filter((window) => !counts.has(window))).toEqual([]);
      });
    });
  });
}

/** The cases of one server, one after the other. */
function laneOf(
  kit: AgentKit,
  program: string,
  { check, patienceMs = 40_000 }: KillPlan,
  cases: readonly Case[],
  counts: Map<string, number>,
): void {
  let server: AgentServer;
  let runs = 0;
  beforeAll(async () => {
    server = await AgentServer.start(kit, program, rules);
  });
  afterAll(() => server?.stop());

  const dies = (window: string): void => void counts.set(window, (counts.get(window) ?? 0) + 1);
  const verify = async (runId: string, mark: string): Promise<void> => {
    await verifyRun(server, runId, mark, patienceMs);
    check?.(server);
  };
  for (const one of cases) {
    if ('fault' in one)
      test.sequential(`${one.window} (${one.fault})`, { timeout: 3 * patienceMs + 40_000 }, async () => {
        // A run may pass a window by (a busy machine brings a result after the turn instead of into it): then another is tried.
        for (let tries = 1; tries <= 3; tries++) {
          await server.kill();
          await server.up(one.fault);
          if (!server.isUp) await server.up();
          const mark = `[${one.fault} ${++runs}]`;
          const steered = one.fault.startsWith('steer') ? { marker: `failing-${runs}` } : undefined;
          const runId = await server.run(messagesOf(mark, steered)).catch(() => undefined);
          const died = await diesFirst(server, runId, patienceMs);
          if (died) {
            dies(one.window);
            await server.up();
          }
          // A server that died in the call that begins a run may have begun it or not; then there is nothing to wait for.
          if (runId) await verify(runId, mark);
          if (died) break;
        }
      });
    else
      test.sequential(`after ${one.afterMs} ms`, { timeout: patienceMs + 40_000 }, async () => {
        const mark = `[${one.afterMs} ms ${++runs}]`;
        const runId = await server.run(messagesOf(mark));
        await delay(one.afterMs);
        await server.kill();
        await server.up();
        dies(one.window);
        await verify(runId, mark);
      });
  }
}

async function verifyRun(
  server: AgentServer,
  runId: string,
  mark: string,
  patienceMs: number,
): Promise<void> {
  const run = await server.ended(runId, patienceMs);
  expect(run.outcome, await server.describe(run)).toBe('succeeded');
  // What the model was told to do by each text of ours: once, however often the server died.
  for (const text of [`${mark} first.`, `${mark} second.`]) {
    const turns = new Set(
      server.model.log.flatMap((event) =>
        event.type === 'request' && event.userTexts.at(-1)?.startsWith(text) ? [event.turnId] : [],
      ),
    );
    expect(turns.size, `turns that began with "${text}"`).toBe(1);
    const histories = server.model.requests.map(
      (request) => userTexts(request).filter((said) => said.startsWith(text)).length,
    );
    expect(Math.max(...histories), `"${text}" in one conversation`).toBe(1);
  }
  for (const tree of await server.trees(run)) {
    expect(tree.closed).toBe(true);
    expect(tree.notices.filter((notice) => notice.state !== 'handled')).toEqual([]);
  }
}

/** Whether the server dies before the run has ended: how long that takes is up to the machine. */
async function diesFirst(
  server: AgentServer,
  runId: string | undefined,
  patienceMs: number,
): Promise<boolean> {
  for (const until = Date.now() + patienceMs; Date.now() < until; ) {
    if (await server.died(300)) return true;
    const run = runId && (await server.client.call('getRun', { id: runId }).catch(() => undefined));
    if (run && run.state === 'ended') return server.died(300);
  }
  return false;
}
