import { afterEach, describe, expect, it } from 'vitest';
import { isSettled } from '../../src/ledger/execution.ts';
import { recount } from '../../src/ledger/recount.ts';
import type { RuleName } from '../../src/ledger/rules.ts';
import { rules } from '../../src/ledger/rules.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import { expectedOf } from '../simulation/flow-expectations.ts';
import type { Left, Place } from './graph-space.ts';
import { firstPlace, happenings, keyOf, nameOf } from './graph-space.ts';
import { stepOf } from './workflow.ts';

/*
 * Everything that can happen to a small workflow, in every order: three steps, one that is tried again, one with a condition, a person
 * who cancels any part of it, a server that dies behind any decision, a script that begins something of its own.
 */
const nothing: Left = { failures: 0, children: 0, cancels: 0, crashes: 0, looks: 0 };
const retry = { max: 1, backoffMs: 20_000 };
const chain = [
  stepOf('a', { retry }),
  stepOf('b', { needs: ['a'] }),
  stepOf('c', { needs: ['b'], onFailure: 'continue' }),
];
const join = [stepOf('a'), stepOf('b', { retry }), stepOf('c', { needs: ['a', 'b'] })];
const condition = [
  stepOf('a', { onFailure: 'continue', retry }),
  stepOf('b', { needs: ['a'], when: 'false' }),
  stepOf('c', { needs: ['a', 'b'] }),
];

/** What is explored: its steps, whether it stops at the first failure, and how much may happen. */
const spaces: readonly (readonly [string, readonly StepPlan[], boolean, Left])[] = [
  ['one after the other', chain, false, { ...nothing, failures: 3, crashes: 1, looks: 1 }],
  ['side by side', join, false, { ...nothing, failures: 2, crashes: 1, looks: 1 }],
  ['side by side, until one fails', join, true, { ...nothing, failures: 2, crashes: 1, children: 1 }],
  ['with a condition', condition, false, { ...nothing, failures: 2, crashes: 1, looks: 1 }],
  ['with a child, cancelled', chain, false, { ...nothing, failures: 1, children: 1, cancels: 1, crashes: 1 }],
  ['side by side, cancelled', join, true, { ...nothing, failures: 1, children: 1, cancels: 1, crashes: 1 }],
];
/** A space that has more places than this has no end. */
const mostPlaces = 60_000;

afterEach(() => {
  for (const name of Object.keys(rules) as RuleName[]) rules[name] = true;
});

interface Explored {
  readonly places: number;
  readonly ends: number;
  readonly wrong: string | undefined;
}

async function explore(steps: readonly StepPlan[], failFast: boolean, left: Left): Promise<Explored> {
  const first = await firstPlace(steps, failFast, left);
  const seen = new Set([keyOf(first)]);
  const queue = [first];
  let ends = 0;
  for (let place = queue.pop(); place; place = queue.pop()) {
    const next = happenings(place);
    const wrong = next.length === 0 ? whyNotOver(place, steps) : undefined;
    if (wrong) return { places: seen.size, ends, wrong: told(place, wrong) };
    if (next.length === 0) ends++;
    for (const { run } of next) {
      const then = await run();
      const why = whyWrong(place, then, steps);
      if (why) return { places: seen.size, ends, wrong: told(then, why) };
      const key = keyOf(then);
      if (seen.has(key)) continue;
      seen.add(key);
      if (seen.size > mostPlaces) throw new Error(`more than ${mostPlaces} places`);
      queue.push(then);
    }
  }
  return { places: seen.size, ends, wrong: undefined };
}

function told({ path }: Place, why: string): string {
  return `${why}\n${path.join('\n')}`;
}

/** What is wrong with what has just happened. */
function whyWrong(before: Place, { rows }: Place, steps: readonly StepPlan[]): string | undefined {
  const counted = recount(rows);
  const old = new Map(before.rows.executions.map((row) => [row.id, row]));
  for (const row of rows.executions) {
    const said = nameOf(rows, row.id);
    const was = old.get(row.id);
    if (counted.get(row.id) !== row.open) return `${said} has a deficit of ${row.open}`;
    if (was && isSettled(was.state) && was.state !== row.state) return `${said} went on after its end`;
    if (isSettled(row.state) && !row.closed && row.cancelRequested === null)
      return `${said} has settled above what is open`;
    if (was) continue;
    if (old.get(row.parentId ?? row.id)?.cancelRequested) return `${said} begins below what was cancelled`;
    const plan = steps.find(({ name }) => name === row.name);
    const open = rows.executions.find(
      (other) =>
        !other.closed &&
        other.id !== row.id &&
        (other.name === row.name || plan?.needs.includes(other.name)) &&
        plan !== undefined,
    );
    if (open) return `${said} begins while ${nameOf(rows, open.id)} is open`;
  }
  return undefined;
}

/** What is wrong with the end of a history: nothing can happen any more. */
function whyNotOver({ rows, ends }: Place, plans: readonly StepPlan[]): string | undefined {
  const open = rows.executions.find((row) => !row.closed);
  if (open) return `${nameOf(rows, open.id)} is open for ever`;
  const [graph] = rows.graphs;
  const whole = rows.executions.find(({ id }) => id === graph?.id);
  if (!whole || graph?.state !== 'ended') return 'the workflow has not ended';
  if (rows.executions.some(({ cancelRequested }) => cancelRequested?.actor.kind === 'person'))
    return undefined;
  const steps = plans.map((plan) => ({ plan, ends, says: '', hasSucceeded: false }));
  const expected = expectedOf(
    { steps },
    ({ plan }) => rows.executions.filter(({ name }) => name === plan.name),
    graph.isStopping,
  );
  if (expected.wrong) return expected.wrong;
  return whole.state === expected.state ? undefined : `it has ${whole.state}, though ${expected.why}`;
}

describe('everything that can happen to a small workflow', () => {
  it.each(spaces)('%s', { timeout: 120_000 }, async (_, steps, failFast, left) => {
    const { wrong, ends, places } = await explore(steps, failFast, left);
    if (process.env['STEMMA_TELL']) console.log(`${places} places, ${ends} ends`);
    expect(wrong).toBeUndefined();
    expect(ends).toBeGreaterThan(1);
  });
});

describe('without one of the rules of workflows something of that goes wrong', () => {
  it.each<[RuleName, RegExp]>([
    ['stepOnce', /begins while|exists|deficit/],
    ['stepNeeds', /begins while|blocked by nothing/],
    ['stepMissed', /although what it needs had failed/],
    ['stepWhole', /settled above what is open/],
  ])('%s', { timeout: 120_000 }, async (name, what) => {
    rules[name] = false;
    const found: string[] = [];
    for (const [, steps, failFast, left] of spaces) {
      const { wrong } = await explore(steps, failFast, left).catch((error: unknown) => ({
        wrong: String(error),
      }));
      if (wrong) found.push(wrong.split('\n', 1)[0] ?? '');
      if (wrong) break;
    }
    expect(found[0]).toMatch(what);
  });
});
