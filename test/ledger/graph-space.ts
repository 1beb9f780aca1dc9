import type { ExecutionId } from '../../src/base/ids.ts';
import { FreshIds, Ids } from '../../src/base/ids.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import { cancel } from '../../src/ledger/cancel.ts';
import type { Rule } from '../../src/ledger/decision.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import { beginStep } from '../../src/ledger/graph-attempt.ts';
import { drainGraph, settleGraph } from '../../src/ledger/graph-settle.ts';
import { endProgram, stepEnded } from '../../src/ledger/graph-walk.ts';
import type { GraphStep, StepRef } from '../../src/ledger/graph.ts';
import { launch } from '../../src/ledger/launch.ts';
import { drained } from '../../src/ledger/run-end.ts';
import { settle } from '../../src/ledger/settle.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import type { WakeRow } from '../../src/wakeups/rows.ts';
import { graphOf } from './workflow.ts';

/** How much may happen in one history: the space is finite by that. */
export interface Left {
  readonly failures: number;
  readonly children: number;
  readonly cancels: number;
  readonly crashes: number;
  readonly looks: number;
}

/** Somebody has seen a step that is due, and acts on what it saw, now or much later. */
interface Look {
  readonly ref: StepRef;
  readonly moves: number;
}

/** One state of the space: what is durable, what somebody has in mind, and what may happen still. */
export interface Place {
  readonly rows: MemorySnapshot;
  readonly looks: readonly Look[];
  readonly left: Left;
  /** How the programs of attempts have ended. */
  readonly ends: ReadonlyMap<string, 'succeeded' | 'failed'>;
  readonly now: number;
  /** How many ids were made. */
  readonly made: number;
  /** The names of all that happened. */
  readonly path: readonly string[];
}

/** Something that may happen next. */
export interface Happening {
  readonly name: string;
  readonly run: () => Promise<Place>;
}

const reason = 'a step failed';
const end = { result: null, error: null, outputs: {} } as const;

/** A workflow of these steps that a person has just begun. */
export async function firstPlace(plans: readonly StepPlan[], failFast: boolean, left: Left): Promise<Place> {
  const rows = new MemoryStore({ clock: new VirtualClock(0) }).snapshot();
  const empty: Place = { rows, looks: [], left, ends: new Map(), now: 1, made: 0, path: [] };
  return at(empty, 'a person begins it', async ({ decide, now, ids }) => {
    const about = { now, id: ids.make('execution'), kind: 'workflow', name: 'whole' } as const;
    await decide(() => launch({ ...about, caller: { by: 'person' }, graph: graphOf(plans, { failFast }) }));
  });
}

/** Everything that may happen in a place. */
export function happenings(place: Place): Happening[] {
  const { rows, left, looks } = place;
  const steps = new Map(rows.graphSteps.map((step) => [step.currentId, step]));
  const open = rows.executions.filter((row) => !isSettled(row.state));
  return [
    ...rows.wakeups.flatMap((wake) => firings(place, wake)),
    ...looks.map((look) => acts(place, look)),
    ...open.flatMap((row) => {
      const step = steps.get(row.id);
      return step ? ofProgram(place, row, step) : row.kind === 'workflow' ? [] : ofChild(place, row);
    }),
    ...(left.cancels > 0
      ? open.filter((row) => row.cancelRequested === null).map((row) => cancels(place, row))
      : []),
  ];
}

/** A wake-up is handled; or the server dies behind one of its decisions, and it is owed still. */
function firings(place: Place, wake: WakeRow): Happening[] {
  const name = `wake-up of ${wake.kind} ${nameOf(place.rows, wake.target)}`;
  const whole: Happening = {
    name,
    run: () =>
      at({ ...place, now: Math.max(place.now, wake.at) }, name, async (doing) => {
        await handle(doing, wake, Infinity);
        await finish(doing, wake);
      }),
  };
  if (place.left.crashes === 0 || wake.at > place.now) return [whole];
  const left = { ...place.left, crashes: place.left.crashes - 1 };
  const dies = `the server dies in the ${name}`;
  // Whatever somebody had in mind is gone with it.
  return [
    whole,
    { name: dies, run: () => at({ ...place, left, looks: [] }, dies, (doing) => handle(doing, wake, 1)) },
  ];
}

/** The row goes, or is due at what was owed while it was handled, as the wake-ups of the server do it. */
async function finish({ store, owed }: Doing, { kind, target }: WakeRow): Promise<void> {
  const row = store.snapshot().wakeups.find((one) => one.kind === kind && one.target === target);
  if (row) await store.finishWake(row, owed.get(`${kind} ${target}`) ?? null);
}

/** What the handler of a wake-up decides, up to `most` decisions. */
async function handle(doing: Doing, { kind, target }: WakeRow, most: number): Promise<void> {
  const { decide, now, ids, rows } = doing;
  const decisions: (() => Promise<unknown>)[] = [];
  const graph = rows.graphs.find((row) => row.id === target);
  if (kind === 'step') {
    const step = rows.graphSteps.find((row) => row.ref === target);
    if (step) decisions.push(() => moveStep(doing, step));
  } else if (graph?.state === 'ended' && graph.left === 0) {
    decisions.push(() => decide(() => drainGraph({ now, id: graph.id })));
    const whole = { now, id: graph.id, result: 'done', outputs: {}, fresh: new FreshIds(ids) };
    decisions.push(() => decide(() => settleGraph(whole)));
  } else if (graph?.isStopping && kind === 'graph') {
    for (const { state, currentId } of rows.graphSteps)
      if (state === 'running' && currentId !== null) decisions.push(() => latch(doing, currentId, 'system'));
  } else if (kind === 'drained' && !graph) {
    const fresh = new FreshIds(ids);
    decisions.push(() => decide(() => drained({ now, id: target as ExecutionId, fresh })));
  }
  for (const decision of decisions.slice(0, most)) await decision();
}

function moveStep({ decide, now, ids, rows }: Doing, step: GraphStep): Promise<unknown> {
  const { ref, moves, plan } = step;
  const fresh = new FreshIds(ids);
  if (step.state === 'running' && rows.executions.find(({ id }) => id === step.currentId)?.closed)
    return decide(() => stepEnded({ now, ref }));
  const how = plan.when === 'false' ? ({ as: 'skip' } as const) : ({ as: 'launch', launch: {} } as const);
  return step.state === 'due' || step.state === 'backsOff'
    ? decide(() => beginStep({ now, ref, moves, how, fresh }))
    : Promise.resolve();
}

function acts(place: Place, look: Look): Happening {
  const name = `somebody who saw it before begins ${nameOf(place.rows, look.ref)}`;
  const looks = place.looks.filter((other) => other !== look);
  const run = (): Promise<Place> =>
    at({ ...place, looks }, name, ({ decide, now, ids }) => {
      const how = { as: 'launch', launch: {} } as const;
      return decide(() => beginStep({ now, ...look, how, fresh: new FreshIds(ids) }));
    });
  return { name, run };
}

/** The script of an attempt: it ends well or badly, begins something of its own, or is ended because it was cancelled. */
function ofProgram(place: Place, row: Execution, step: GraphStep): Happening[] {
  if (step.programEnd !== null) return [];
  const said = nameOf(place.rows, row.id);
  const ending = (state: 'succeeded' | 'failed' | 'cancelled', left = place.left): Happening => {
    const name = `the script of ${said} has ${state}`;
    const ends = new Map(place.ends);
    if (state !== 'cancelled') ends.set(row.id, state);
    const program = {
      ...end,
      state,
      ...(state === 'failed' ? { error: { code: 'SCRIPT_FAILED', message: '' } } : {}),
    };
    return {
      name,
      run: () =>
        at({ ...place, ends, left }, name, ({ decide, now, ids }) =>
          decide(() => endProgram({ now, id: row.id, end: program, fresh: new FreshIds(ids) })),
        ),
    };
  };
  if (row.cancelRequested) return [ending('cancelled')];
  const { failures, children } = place.left;
  return [
    ending('succeeded'),
    ...(failures > 0 ? [ending('failed', { ...place.left, failures: failures - 1 })] : []),
    ...(children > 0 ? [begets(place, row)] : []),
  ];
}

function begets(place: Place, parent: Execution): Happening {
  const name = `${nameOf(place.rows, parent.id)} begins a child`;
  const left = { ...place.left, children: place.left.children - 1 };
  const run = (): Promise<Place> =>
    at({ ...place, left }, name, ({ decide, now, ids }) => {
      const caller = { by: 'execution', executionId: parent.id } as const;
      return decide(() => launch({ now, id: ids.make('execution'), caller, kind: 'step', name: 'child' }));
    });
  return { name, run };
}

function ofChild(place: Place, row: Execution): Happening[] {
  const state = row.cancelRequested ? 'cancelled' : 'succeeded';
  const name = `the child has ${state}`;
  const run = (): Promise<Place> =>
    at(place, name, ({ decide, now, ids }) =>
      decide(() => settle({ now, id: row.id, noticeId: ids.make('notice'), ending: { state } })),
    );
  return [{ name, run }];
}

function cancels(place: Place, row: Execution): Happening {
  const name = `a person cancels ${nameOf(place.rows, row.id)}`;
  const left = { ...place.left, cancels: place.left.cancels - 1 };
  return { name, run: () => at({ ...place, left }, name, (doing) => latch(doing, row.id, 'person')) };
}

function latch({ decide, now, ids }: Doing, id: ExecutionId, kind: 'person' | 'system'): Promise<unknown> {
  const request = { actor: { kind }, reason, at: now };
  return decide(() => cancel({ now, id, request, verdict: 'CANCELLED', fresh: new FreshIds(ids) }));
}

/** What a happening works with. */
interface Doing {
  readonly store: MemoryStore;
  readonly rows: MemorySnapshot;
  readonly now: number;
  readonly ids: Ids;
  /** What was owed since, by kind and target. */
  readonly owed: ReadonlyMap<string, number>;
  readonly decide: (rule: () => Rule<unknown>) => Promise<unknown>;
}

/** The place that a happening leads to. Somebody may have seen what is due there. */
async function at(place: Place, name: string, work: (doing: Doing) => Promise<unknown>): Promise<Place> {
  const now = place.now + 1;
  const store = MemoryStore.restore(place.rows, { clock: new VirtualClock(now) });
  let made = place.made;
  const ids = new Ids(
    () => now,
    () => (++made % 1_000_003) / 1_000_003,
  );
  const owed = new Map<string, number>();
  store.onCommit(({ wakes }) => {
    for (const { kind, target, at: due } of wakes)
      owed.set(`${kind} ${target}`, Math.min(owed.get(`${kind} ${target}`) ?? due, due));
  });
  await work({ store, rows: place.rows, now, ids, owed, decide: (rule) => store.decide(rule) });
  const after = store.snapshot();
  // What is told and logged is not looked at.
  const rows = {
    ...after,
    events: [],
    notifications: [],
    dispatches: [],
    wakeups: after.wakeups.filter(isWanted),
  };
  return seeing({ ...place, rows, now, made, path: [...place.path, name] }, place.rows);
}

function isWanted({ kind }: WakeRow): boolean {
  return kind === 'step' || kind === 'graph' || kind === 'drained';
}

/** Whoever looked at a step that has just become due will act on that. */
function seeing(place: Place, before: MemorySnapshot): Place {
  if (place.left.looks === 0) return place;
  const was = new Map(before.graphSteps.map((step) => [step.ref, step.state]));
  const seen = place.rows.graphSteps.find(
    ({ ref, state, plan }) => state === 'due' && was.get(ref) !== 'due' && plan.when === null,
  );
  if (!seen) return place;
  const looks = [...place.looks, { ref: seen.ref, moves: seen.moves }];
  return { ...place, looks, left: { ...place.left, looks: place.left.looks - 1 } };
}

/** An execution, a step or the target of a wake-up in words that are the same in every history. */
export function nameOf(rows: MemorySnapshot, id: string): string {
  const row = rows.executions.find((one) => one.id === id);
  if (row) return `${row.name}#${row.attempt}`;
  const step = rows.graphSteps.find((one) => one.ref === id);
  return step ? `step ${step.plan.name}` : id;
}

/** What of a place decides what can happen from there: two places with one key go on alike. */
export function keyOf({ rows, looks, left, ends, now }: Place): string {
  const name = (id: string): string => nameOf(rows, id);
  return JSON.stringify([
    rows.executions
      .map((row) => [
        name(row.id),
        row.state,
        row.open,
        row.closed,
        row.drain,
        row.cancelRequested?.actor.kind,
        ends.get(row.id),
      ])
      .sort(),
    rows.graphSteps.map((step) => [
      step.plan.name,
      step.state,
      step.blockedBy,
      step.failedNeeds,
      step.deadNeeds,
      step.tries,
      step.reason,
      step.programEnd?.state,
      step.currentId && name(step.currentId),
    ]),
    rows.graphs.map(({ state, left: steps, failed, isStopping, outcome }) => [
      state,
      steps,
      failed,
      isStopping,
      outcome,
    ]),
    rows.wakeups.map((wake) => [wake.kind, name(wake.target), wake.at > now]).sort(),
    looks.map(({ ref, moves }) => [
      name(ref),
      moves === rows.graphSteps.find((step) => step.ref === ref)?.moves,
    ]),
    left,
  ]);
}
