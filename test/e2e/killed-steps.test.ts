import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type StepKind, stepKinds } from './step-kinds.ts';
import { type Played, StepKills } from './step-kills.ts';
import type { Witness } from './step-witness.ts';

/*
 * Every kind of step, on a server that is killed at the fault points that it reaches. `STEMMA_KILLS=all` plays all that are found by a
 * look at one life of each kind; otherwise those below, in which each kind and each point is at least once. `STEMMA_KILLS=KIND,KIND`
 * plays all of those kinds, and `STEMMA_KILLS_TRIES` says how often each point is tried.
 */

/** By kind; faults that are joined with a `+` hit one server after the other. */
const chosen: Readonly<Record<string, readonly string[]>> = {
  script: ['script.ended:2'],
  failure: ['step.decided:2'],
  agent: ['check.found:1', 'agent.ending:1'],
  sequence: ['turn.ended:2+recover.step:1'],
  csv: ['send.before:3'],
  json: ['check.ran:3'],
  command: ['step.before:1'],
  todo: ['call.registered:2', 'send.written:5'],
  'nested todo': ['call.received:3', 'agent.ended:1'],
  route: ['step.closed:1'],
  human: ['step.begun:2'],
  workflow: ['graph.ended:2', 'commit.after:20'],
  groups: ['wakeup.before:9'],
  evaluation: ['graph.settled:1'],
  resume: ['check.settled:1'],
  rerun: ['advance.before:1'],
  launched: ['commit.before:30', 'script.before:1'],
  review: ['call.registered:2', 'send.before:2'],
};

/** How often a point is tried of those that are reached again and again. */
const mostTries = Number(process.env['STEMMA_KILLS_TRIES'] ?? 4);
/** Deaths of the server that comes back, whatever killed the first one. */
const again = [
  'turn.ended:1+recover.step:1',
  'send.written:1+recover.step:1+commit.after:1',
  'step.begun:1+commit.before:1',
  'step.closed:1+commit.after:1',
  'graph.ended:1+commit.after:1',
];

const asked = process.env['STEMMA_KILLS'];
const isWhole = (kind: string): boolean => asked === 'all' || (asked?.split(',').includes(kind) ?? false);

let kills: StepKills;
const references = new Map<string, Played>();

beforeAll(async () => {
  kills = await StepKills.open();
  const kinds = stepKinds.filter(({ name }) => asked === undefined || isWhole(name));
  await Promise.all(kinds.map(async (kind) => references.set(kind.name, await kills.play(kind))));
}, 300_000);

afterAll(() => kills.bench.close(), 180_000);

describe.each(stepKinds.filter(({ name }) => asked === undefined || isWhole(name)))(
  'a server that is killed: $name',
  (kind) => {
    test('ends as it should without a kill', () => {
      const { witness, faults } = references.get(kind.name) ?? {};
      expect(faults).toEqual([]);
      expect(witness).toMatchObject({ outcome: kind.outcome, ran: [...kind.ran].sort() });
    });

    test('comes back, and all ends as without the kill', { timeout: 3_600_000 }, async () => {
      const points = isWhole(kind.name) ? await allOf(kind) : (chosen[kind.name] ?? []);
      const wrong: unknown[] = [];
      for (const point of points) {
        const { deaths, other } = await killedAt(kind, point.split('+'));
        if (asked !== undefined)
          process.stderr.write(`${kind.name} ${point}: ${deaths} deaths${['', ...other].join('\n  ')}\n`);
        if (other.length > 0) wrong.push({ point, other });
      }
      expect(wrong).toEqual([]);
    });
  },
);

/** Plays it once; what is other than it would be without the kills. */
async function killedAt(
  kind: StepKind,
  faults: readonly string[],
): Promise<{ deaths: number; other: string[] }> {
  const reference = references.get(kind.name);
  if (!reference) return { deaths: 0, other: ['it was never played without a kill'] };
  try {
    const played = await kills.play(kind, faults);
    const { deaths } = played;
    const other = differences(kind, played, reference.witness);
    // A point that is found by a look at one life need not be reached in another one; those that are chosen are.
    if (asked === undefined && deaths !== faults.length) other.push(`${deaths} deaths, not ${faults.length}`);
    return { deaths, other };
  } catch (error) {
    return { deaths: 0, other: [String(error)] };
  }
}

/** What is other than it would be without a kill, in words. */
function differences(kind: StepKind, { witness, faults }: Played, as: Witness): string[] {
  const names = ['ran', 'executions', 'told', 'notices', 'records'] as const;
  const more = names.flatMap((name) =>
    without(witness[name], as[name]).map((text) => `more ${name}: ${text}`),
  );
  const less = names.flatMap((name) =>
    without(as[name], witness[name]).map((text) => `less ${name}: ${text}`),
  );
  const outcome = witness.outcome === as.outcome ? [] : [`it has ${witness.outcome ?? 'no outcome'}`];
  const isFree = kind.calls === true;
  // Fewer results come back in other words; nothing may be there that would not be without the kill.
  return [
    ...faults,
    ...outcome,
    ...(isFree ? more.filter((text) => /^more (ran|records)/.test(text)) : [...more, ...less]),
  ];
}

/** What of a list is not in the other one, each as often as it is there. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return list.filter((text) => {
    const at = left.indexOf(text);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

async function allOf(kind: StepKind): Promise<string[]> {
  const reached = await kills.trace(kind);
  const each = [...reached].flatMap(([point, count]) => timesOf(count).map((n) => `${point}:${n}`));
  return [...each, ...again.filter((point) => reached.has(point.split(':')[0] ?? ''))];
}

/** The first, the last, and some between them; of one, that in the middle. */
function timesOf(count: number): number[] {
  const tries = Math.min(count, mostTries);
  if (tries === 1) return [Math.ceil(count / 2)];
  return Array.from({ length: tries }, (_, i) => 1 + Math.round((i * (count - 1)) / (tries - 1)));
}
