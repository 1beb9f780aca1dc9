import type { ScheduleId } from '../../src/base/ids.ts';
import type { ScheduleRule } from '../../src/ledger/schedule-definition.ts';
import { instantsBetween } from '../../src/schedules/rule/instants.ts';
import { parseRule } from '../../src/schedules/rule/rule.ts';

interface Kept {
  rule: ScheduleRule;
  readonly after: ScheduleId | undefined;
  readonly instants: Set<number>;
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
    for (const kept of this.#kept.values())
      if (!kept.isRemoved && kept.after === undefined) this.#bring(kept.instants, kept.rule, this.#seen, now);
    for (const kept of this.#kept.values()) {
      if (kept.isRemoved || kept.after === undefined) continue;
      const rule = this.#top(kept);
      if (rule) this.#bring(kept.instants, rule, this.#seen, now);
    }
    this.#seen = now;
  }

  add(id: ScheduleId, rule: ScheduleRule, after?: ScheduleId): void {
    this.#kept.set(id, { rule, after, instants: new Set(), isRemoved: false });
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
    const rule = kept.after === undefined ? kept.rule : this.#top(kept);
    if (rule) this.#bring(kept.instants, rule, from - 1, to - 1);
  }

  /** In order. */
  instantsOf(id: ScheduleId): number[] {
    return [...this.#of(id).instants].sort((a, b) => a - b);
  }

  #top(kept: Kept): ScheduleRule | undefined {
    let top = kept;
    while (top.after !== undefined) top = this.#of(top.after);
    return top.isRemoved ? undefined : top.rule;
  }

  #bring(into: Set<number>, rule: ScheduleRule, after: number, until: number): void {
    if ('after' in rule || until <= after) return;
    const read = parseRule(rule);
    if (!('rule' in read)) throw new Error(read.problem.message);
    for (const instant of instantsBetween(read.rule, after, until, 1_000_000)) into.add(instant);
  }

  #of(id: ScheduleId): Kept {
    const kept = this.#kept.get(id);
    if (!kept) throw new Error(`no schedule ${id}`);
    return kept;
  }
}
