import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { setTimeout as delay } from 'node:timers/promises';
import type { Rule } from '../model/prompt-script.ts';
import { findCodex } from './codex-bench.ts';
import { CodexServer } from './codex-server.ts';

const codex = findCodex();

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
const messagesOf = (mark: string): string[] => [
  `${mark} first. ${background('lint', `${mark} lint. [[slow 1 clean]]`)} ${background('tests', `${mark} test. [[fail 400]]`)} [[shell sleep 1]] [[slow 1 both started]]`,
  `${mark} second. [[slow 1 summary]]`,
];

/** Named windows: the fault point at which the server kills itself, and which times it reaches it are tried. */
const points: readonly { window: string; fault: string; times: readonly number[] }[] = [
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
const streaming = 'while it streams, calls tools and runs shells';
/** Milliseconds after the start of a run: while the agents stream, run shells and wait for the model. */
const moments = [150, 400, 700, 1000, 1400, 1800, 2300];

describe.skipIf(!codex)('kill -9 of the server in the middle of a real run', () => {
  let server: CodexServer;
  const counts = new Map<string, number>();
  let runs = 0;

  beforeAll(async () => {
    server = await CodexServer.start(codex ?? '', rules);
  });
  afterAll(async () => {
    console.log(`kills by window:\n${[...counts].map(([window, n]) => `  ${n}  ${window}`).join('\n')}`);
    await server?.stop();
  });

  const verify = async (runId: string, mark: string): Promise<void> => {
    const run = await server.ended(runId, 40_000);
    expect(run.outcome, await server.describe(run)).toBe('succeeded');
    // What the model was told to do by each text of ours: once, however often the server died.
    for (const text of [`${mark} first.`, `${mark} second.`]) {
      const turns = new Set(
        server.model.log.flatMap((event) =>
          event.type === 'request' && event.userTexts.at(-1)?.startsWith(text) ? [event.turnId] : [],
        ),
      );
      expect(turns.size, `turns that began with "${text}"`).toBe(1);
    }
    for (const tree of await server.trees(run)) {
      expect(tree.closed).toBe(true);
      expect(tree.notices.filter((notice) => notice.state !== 'handled')).toEqual([]);
    }
  };

  const cases = points.flatMap(({ window, fault, times }) =>
    times.map((n) => ({ window, fault: `${fault}:${n}` })),
  );
  test.each(cases)('$window ($fault)', async ({ window, fault }) => {
    await server.kill();
    await server.up(fault);
    if (!server.isUp) await server.up();
    const mark = `[${fault} ${++runs}]`;
    const runId = await server.run(messagesOf(mark)).catch(() => undefined);
    const isDead = await server.died(20_000);
    if (isDead) {
      counts.set(window, (counts.get(window) ?? 0) + 1);
      await server.up();
    }
    // A server that died in the call that begins a run may have begun it or not; then there is nothing to wait for.
    if (runId) await verify(runId, mark);
  });

  test.each(moments)('after %i ms', async (ms) => {
    const mark = `[${ms} ms ${++runs}]`;
    const runId = await server.run(messagesOf(mark));
    await delay(ms);
    await server.kill();
    await server.up();
    counts.set(streaming, (counts.get(streaming) ?? 0) + 1);
    await verify(runId, mark);
  });

  test('it died in every window', () => {
    const all = [...points.map(({ window }) => window), streaming];
    expect(all.filter((window) => !counts.has(window))).toEqual([]);
  });
});
