import type { ScheduleId } from '../../src/base/ids.ts';
import type { ScheduleRule } from '../../src/ledger/schedule-definition.ts';
import { instantsBetween } from '../../src/schedules/rule/instants.ts';
import { parseRule } from '../../src/schedules/rule/rule.ts';

interface Kept {
  rule: ScheduleRule;
  readonly after: ScheduleId | undefined;
  readonly instants: Set<number>;
  /** What another one had before this one ran after it: bound only if that row is decided again. */
  readonly possible: Set<number>;
  isRemoved: boolean;
}

/**
 * Which instants there must be, kept beside the product: each stretch of the wall clock that a server has lived through, or
 * found behind itself, brings the instants of every rule as it was then. It knows nothing of rows and cursors.
 */
export class InstantBook {
  readonly #kept = new Map<ScheduleId, Kept>();
  #seen: number;

  constructor(now: number) {
    this.#seen = now;
  }

  /** The clock shows this now, and a server looks. */
  look(now: number): void {
    const live = [...this.#kept.values()].filter((kept) => !kept.isRemoved);
    // Those that run after others come first: what is new to the first of their chain is not in its book yet.
    for (const kept of live) if (kept.after !== undefined) this.#bind(kept, now);
    for (const kept of live)
      if (kept.after === undefined)
        for (const at of between(kept.rule, this.#seen, now)) kept.instants.add(at);
    this.#seen = now;
  }

  add(id: ScheduleId, rule: ScheduleRule, after?: ScheduleId): void {
    this.#kept.set(id, { rule, after, instants: new Set(), possible: new Set(), isRemoved: false });
  }

  edit(id: ScheduleId, rule: ScheduleRule): void {
    this.#of(id).rule = rule;
  }

  remove(id: ScheduleId): void {
    this.#of(id).isRemoved = true;
  }

  /** Somebody asked for the instants of a range. */
  backfill(id: ScheduleId, from: number, to: number): void {
    const kept = this.#of(id);
    const top = this.#top(kept);
    if (top) for (const at of between(top.rule, from - 1, to - 1)) kept.instants.add(at);
  }

  /** In order. */
  instantsOf(id: ScheduleId): number[] {
    return [...this.#of(id).instants].sort((a, b) => a - b);
  }

  /** Whether there may be a row that need not be there. */
  mayHave(id: ScheduleId, instant: number): boolean {
    return this.#of(id).possible.has(instant);
  }

  /** It has what is new to the first of its chain. */
  #bind(kept: Kept, now: number): void {
    const top = this.#top(kept);
    if (!top) return;
    for (const at of between(top.rule, this.#seen, now))
      (top.instants.has(at) ? kept.possible : kept.instants).add(at);
  }

  #top(kept: Kept): Kept | undefined {
    let top = kept;
    while (top.after !== undefined) top = this.#of(top.after);
    return top.isRemoved ? undefined : top;
  }

  #of(id: ScheduleId): Kept {
    const kept = this.#kept.get(id);
    if (!kept) throw new Error(`no schedule ${id}`);
    return kept;
  }
}

function between(rule: ScheduleRule, after: number, until: number): number[] {
  if ('after' in rule || until <= after) return [];
  const read = parseRule(rule);
  if (!('rule' in read)) throw new Error(read.problem.message);
  return instantsBetween(read.rule, after, until, 1_000_000);
}
