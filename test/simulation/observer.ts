import type { ExecutionId, SessionId } from '../../src/base/ids.ts';
import type { Delivery } from '../../src/drivers/port.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import { isSettled } from '../../src/ledger/execution.ts';
import { recount } from '../../src/ledger/recount.ts';
import type { SimulatedAgent } from './agent.ts';
import { emptySnapshot } from '../../src/store/memory/state.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import { checkAttempts } from './attempts.ts';
import { checkAdmission } from './admission.ts';
import { checkBatches } from './batches.ts';
import { checkBeginnings, checkComposites, learnFlows } from './flow-checks.ts';
import { Labels } from './labels.ts';
import { checkMonotone } from './monotone.ts';
import { checkParentage } from './parentage.ts';
import type { Programs } from './programs.ts';
import { checkOutcomes } from './outcomes.ts';
import { Rounds } from './rounds.ts';
import { readText } from './texts.ts';
import { checkWaits } from './waits.ts';
import type { World } from './world.ts';

/**
 * Watches every commit and every text that is handed out, and compares what the ledger says with what is really the case.
 * It reads the ledger's rows, never its rules.
 */
export class Observer {
  readonly #world: World;
  readonly #programs: Programs;
  /** Which delivery carried which hand-over of a result. */
  readonly #handOvers = new Map<string, string>();
  /** Results that each continuation was registered for. */
  readonly #continuations = new Map<ExecutionId, Set<string>>();
  /** Roots that were cancelled while their text was in a turn that others owned too: what comes of it is the others'. */
  readonly #steppedDown = new Set<ExecutionId>();
  readonly #rounds: Rounds;
  readonly #labels: Labels;
  #state: MemorySnapshot = emptySnapshot('none');

  constructor(world: World, programs: Programs) {
    this.#world = world;
    this.#programs = programs;
    this.#rounds = new Rounds(world);
    this.#labels = new Labels(world.truth);
  }

  /** The last durable state. */
  get state(): MemorySnapshot {
    return this.#state;
  }

  /** A commit happened. */
  see(committed: MemorySnapshot): void {
    const before = this.#state;
    const state = this.#labels.apply(committed);
    this.#state = state;
    this.#learn(before, state);
    const context = { world: this.#world, before, after: state, continuations: this.#continuations };
    checkCounts(this.#world, state);
    checkMonotone(context);
    checkParentage(context);
    checkOutcomes(context);
    checkAttempts(context);
    checkAdmission(context);
    if (this.#world.isWorking) {
      checkComposites(context);
      checkBeginnings(context);
      checkWaits(context);
    }
    checkBatches(context);
    this.#rounds.check(context);
    this.#checkClosed(state);
  }

  /** A text leaves the server: the next message of a sequence only when nothing of the one before is alive. */
  handOut(agent: SimulatedAgent, { id, text }: Delivery): void {
    const { truth, violations } = this.#world;
    this.#rounds.handOut(agent, text);
    for (const one of readText(text, truth.labels)) {
      if (one.kind === 'message') this.#checkOrder(one.label, agent.sessionId);
      else {
        const key = `${one.noticeId}#${one.epoch}`;
        const known = this.#handOvers.get(key);
        if (known !== undefined && known !== id)
          violations.report('EPOCH', `${key} of ${one.label} was handed over before`);
        this.#handOvers.set(key, id);
      }
      const isHome =
        truth.messages.get(one.label)?.sessions.has(agent.sessionId) ??
        truth.works.get(one.label)?.tells === agent.sessionId;
      if (!isHome) violations.report('CROSS', `${one.label} is handed to ${agent.label}`);
    }
  }

  #checkOrder(label: string, sessionId: SessionId): void {
    const { truth, violations } = this.#world;
    const { executions } = this.#state;
    const message = executions.findLast(
      (row) => row.name === label && row.kind === 'message' && row.runsIn === sessionId,
    );
    // Every attempt of every message that the run has sent before, whatever their order in the plan.
    const earlier = executions.filter(
      (row) => row.kind === 'message' && row.runId !== null && row.runId === message?.runId,
    );
    for (const row of earlier) {
      if (row.id >= (message?.id ?? '') || row.name === label) continue;
      if (row.cancelRequested && this.#steppedDown.has(row.rootId)) continue;
      const alive = truth.alive(row.name, row.cancelRequested ? 'programs' : 'all');
      if (alive)
        violations.report('EARLY', `${label} is handed out while ${alive}, which is part of ${row.name}`);
    }
  }

  /** Brings what is known of launches up to date with what exists, and who needs no handling any more. */
  #learn(before: MemorySnapshot, state: MemorySnapshot): void {
    const { truth } = this.#world;
    for (const row of state.executions) {
      if (row.cancelRequested !== null) truth.cancelled.add(row.name);
      const work = truth.works.get(row.name);
      if (!work) continue;
      work.isKnown = true;
      if (work.isStep) {
        if (row.detachedAt !== null) work.isDetached = true;
        continue;
      }
      if (work.stage === 'calling') work.stage = 'running';
      else if (work.stage === 'never') work.stage = work.kind === 'task' ? 'ended' : 'running';
      const root = state.executions.find((other) => other.id === row.rootId);
      const hasDeadline = (root?.deadlineAt ?? null) !== null;
      // A program of the server's own is what the server tells of it.
      const isOwn = row.kind === 'agent' || row.kind === 'review' || this.#world.flows.all.has(row.name);
      if (work.kind === 'work' && !isOwn) this.#programs.begin(row, work, hasDeadline);
      if (isOwn) work.stage = isSettled(row.state) ? 'ended' : 'running';
      if (row.detachedAt !== null) work.isDetached = true;
      if (row.cancelRequested !== null) work.excuse ??= 'cancelled';
    }
    for (const notice of state.notices) {
      const row = state.executions.find((other) => other.id === notice.executionId);
      const work = row && truth.works.get(row.name);
      if (work && notice.state === 'waived') work.excuse ??= notice.reason ?? 'waived';
      if (notice.continuationId === null) continue;
      const known = this.#continuations.get(notice.continuationId) ?? new Set();
      this.#continuations.set(notice.continuationId, known.add(row?.name ?? ''));
    }
    this.#learnMessages(before, state);
    this.#learnSteps(before, state);
    if (this.#world.isWorking) learnFlows(this.#world, state);
  }

  /** Messages of a background agent's conversation were caused by its launch. */
  #learnMessages(before: MemorySnapshot, state: MemorySnapshot): void {
    const { truth } = this.#world;
    if (before.executions.length === state.executions.length) return;
    const known = new Set(before.executions.map((row) => row.id));
    for (const row of state.executions) {
      if (row.kind !== 'message' || row.runsIn === null) continue;
      if (truth.messages.has(row.name)) {
        if (isRepair(row) && !known.has(row.id)) truth.addCopy(row.name, row.runsIn);
        continue;
      }
      const owner = state.executions.find((other) => other.id === row.parentId);
      truth.addMessage(row.name, row.runsIn, owner?.name ?? null);
    }
  }

  #learnSteps(before: MemorySnapshot, state: MemorySnapshot): void {
    const old = new Map(before.executions.map((row) => [row.id, row.state]));
    for (const row of state.executions) {
      if (row.state !== 'cancelled' || old.get(row.id) === 'cancelled') continue;
      const turns = state.owners.filter((owner) => owner.executionId === row.id).map((owner) => owner.turnId);
      const goesOn = state.turns.some((turn) => turns.includes(turn.id) && turn.state !== 'ended');
      if (goesOn) this.#steppedDown.add(row.rootId);
    }
  }

  #checkClosed(state: MemorySnapshot): void {
    const { truth, violations } = this.#world;
    for (const row of state.executions) {
      if (!row.closed || isNeverParent(row) || isTriedAgain(state, row)) continue;
      if (this.#steppedDown.size > 0 && this.#hasSteppedDown(state, row)) continue;
      const alive = truth.alive(row.name, row.cancelRequested ? 'programs' : 'all');
      if (alive) return violations.report('CLOSED_EARLY', `${row.name} is closed while ${alive}`);
    }
  }

  /** Whether an agent may be at work on it still, or on what a run sent before under its name, and it is over all the same. */
  #hasSteppedDown(state: MemorySnapshot, row: Execution): boolean {
    return state.executions.some(
      (each) =>
        each.name === row.name && this.#steppedDown.has(each.rootId) && isCancelledWithin(state, each),
    );
  }
}

/** Whether it, or something below it, was cancelled: a message that stepped down is over while its agent is at work. */
function isCancelledWithin({ executions }: MemorySnapshot, row: Execution): boolean {
  const rows = new Map(executions.map((each) => [each.id, each]));
  const isWithin = (each: Execution | undefined): boolean =>
    each !== undefined &&
    (each.id === row.id || (each.parentId !== null && isWithin(rows.get(each.parentId))));
  return executions.some((each) => each.cancelRequested && each.rootId === row.rootId && isWithin(each));
}

/** What is tried again has the name of what comes behind it, whose work is not its own. */
function isTriedAgain(state: MemorySnapshot, row: Execution): boolean {
  const isAttempt =
    ((row.kind === 'step' || row.kind === 'workflow') && row.key !== null) ||
    isRepair(row) ||
    row.runId !== null;
  return isAttempt && state.executions.some(({ name, id }) => name === row.name && id > row.id);
}

/** What the gate of a message refused goes back in words that are said each time. */
function isRepair(row: Execution): boolean {
  return row.kind === 'message' && row.name.startsWith('[stemma repair ');
}

/** Nothing is caused by these themselves: what they launch is caused by what they handle, or by their own parent. */
function isNeverParent({ kind }: Execution): boolean {
  return kind === 'continuation' || kind === 'late' || kind === 'task';
}

function checkCounts(world: World, state: MemorySnapshot): void {
  const counted = recount(state);
  for (const row of state.executions) {
    const open = counted.get(row.id);
    if (open === row.open) continue;
    world.violations.report(
      'COUNT',
      `${describe(row)} has a deficit of ${row.open}; a recount gives ${open}`,
    );
  }
}

/** A row in words. */
export function describe(row: Pick<Execution, 'kind' | 'name' | 'state'>): string {
  return `${row.kind} ${row.name} (${row.state})`;
}
