import { systemClock } from '../src/base/clock.ts';
import type { SessionId } from '../src/base/ids.ts';
import { FreshIds } from '../src/base/ids.ts';
import type { Rule } from '../src/ledger/decision.ts';
import type { Wake } from '../src/ledger/effects.ts';
import { takeLane } from '../src/ledger/lane.ts';
import { openSession } from '../src/ledger/open-session.ts';
import { beginRun } from '../src/ledger/sequence.ts';
import type { PlannedMessage } from '../src/ledger/session.ts';
import { newSession } from '../src/ledger/session.ts';
import { agentEnded } from '../src/ledger/turn-end.ts';
import { agentStarted } from '../src/ledger/turn-start.ts';
import { advanceRun } from '../src/runs/advance.ts';
import { localWakeups } from '../src/wakeups/local.ts';
import { percentile, report } from './figures.ts';
import { openLoad } from './load.ts';

/**
 * From the end of a turn, which closes its message, to the next message of the run in its session's queue, both commits
 * included, while a thousand other runs are live and their turns end at an offered rate.
 */
const others = 1_000;
const secondsOfRate = Number(process.env['BENCH_SECONDS'] ?? 12);
const node = 'local';
/** Messages of the run that is measured, before another one takes its place. */
const probeLength = 20;

const { store, ids, ...load } = await openLoad();
const clock = systemClock;
const texts = { fill: async ({ text }: { text: string }) => ({ ok: true, text }) as const };
const sentNext = new Map<string, (at: number) => void>();
const wakeups = localWakeups({ store, clock });
await wakeups.start(async ({ kind, target }: Wake) => {
  if (kind !== 'run') return;
  await advanceRun({ store, clock, ids, texts }, target as Parameters<typeof advanceRun>[1]);
  sentNext.get(target)?.(performance.now());
  sentNext.delete(target);
});

async function decide<T>(rule: () => Rule<T>): Promise<T> {
  const decided = await store.decide(rule);
  if (!decided.ok) throw new Error(decided.message);
  return decided.value;
}

interface LiveRun {
  readonly id: string;
  readonly sessionId: SessionId;
}

/** A run in a session of its own, its first message in the queue. */
async function live(length: number): Promise<LiveRun> {
  const now = Date.now();
  const [sessionId, id] = [ids.make('session'), ids.make('run')];
  const about = { id: sessionId, project: 'default', agent: 'demo', cwd: '/', title: null, node };
  await decide(() => openSession({ now, session: newSession({ ...about, createdAt: now }) }));
  const message: PlannedMessage = {
    text: 'Go on.',
    timeoutMs: 3_600_000,
    onFailure: 'stop',
    join: 'own',
    check: null,
    background: 'wait',
  };
  const plan = Array.from({ length }, () => message);
  const sent = next(id);
  await decide(() => beginRun({ now, id, project: 'default', name: 'bench', sessionId, plan }));
  await sent;
  return { id, sessionId };
}

function next(id: string): Promise<number> {
  return new Promise((resolve) => sentNext.set(id, resolve));
}

/** The agent takes up the message that is due. Answers what ends its turn, and when the next message was sent. */
async function turnOf({ id, sessionId }: LiveRun): Promise<() => Promise<number>> {
  const fresh = (): FreshIds => new FreshIds(ids);
  const taken = await decide(() => takeLane({ now: Date.now(), sessionId, node, fresh: fresh() }));
  if (!taken.taken) throw new Error(`nothing is due in ${sessionId}`);
  const nativeTurnId = taken.turn.id;
  const about = { sessionId, nativeTurnId, position: 0 };
  await decide(() =>
    agentStarted({ now: Date.now(), ...about, node, deliveryId: taken.turn.id, fresh: fresh() }),
  );
  const how = { status: 'succeeded', answer: 'Done.', tasks: [], endIsNegativeProof: true } as const;
  return async () => {
    const sent = next(id);
    await decide(() => agentEnded({ now: Date.now(), ...about, ...how, fresh: fresh() }));
    return sent;
  };
}

const runs = await Promise.all(Array.from({ length: others }, () => live(30)));
const rows: string[][] = [['turns/s offered', 'done', 'p50 ms', 'p99 ms', 'probes']];

/** Ends turns of the other runs as they fall due until `isOver`; answers how many a second. */
async function work(perSecond: number, isOver: () => boolean): Promise<number> {
  const idle = [...runs];
  const pending = new Set<Promise<void>>();
  let begunCount = 0;
  let doneCount = 0;
  const begun = performance.now();
  while (!isOver()) {
    const due = ((performance.now() - begun) / 1000) * perSecond;
    while (begunCount < due) {
      const mine = idle.shift();
      if (!mine) break;
      begunCount++;
      const one = turnOf(mine)
        .then((ends) => ends())
        .then(() => {
          doneCount++;
          idle.push(mine);
          pending.delete(one);
        });
      pending.add(one);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(pending);
  return (doneCount / (performance.now() - begun)) * 1000;
}

for (const perSecond of [0, 250, 1_000]) {
  const lags: number[] = [];
  let probe = await live(probeLength);
  const end = performance.now() + secondsOfRate * 1000;
  const working = work(perSecond, () => performance.now() > end);
  while (performance.now() < end) {
    // The last message has none behind it.
    if (lags.length % (probeLength - 1) === probeLength - 2) probe = await live(probeLength);
    const ends = await turnOf(probe);
    await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 10));
    const begun = performance.now();
    lags.push((await ends()) - begun);
  }
  const done = await working;
  rows.push([
    String(perSecond),
    done.toFixed(0),
    percentile(lags, 0.5).toFixed(2),
    percentile(lags, 0.99).toFixed(2),
    String(lags.length),
  ]);
}
report('From the end of a turn to the next message, 1,000 other runs live', store.library, rows);
await wakeups.stop();
await load.end();
