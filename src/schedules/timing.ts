import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import { describeRule } from './rule/describe.ts';
import { instantsBetween, nextInstant } from './rule/instants.ts';
import type { Rule } from './rule/rule.ts';
import { parseRule } from './rule/rule.ts';

/*
 * When a definition is due, for rules of the ledger: pure. Definitions were accepted, so their rules can be read. A read
 * rule is remembered with the definition it is of, since stores answer the same object again and again.
 */

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** How far back the instant before another one is looked for, step by step: most rules come often. */
const looksBackMs = [minuteMs, hourMs, dayMs, 40 * dayMs, 400 * dayMs, Infinity];

const known = new WeakMap<ScheduleDefinition, Rule | null>();

/** The rule of a definition; null when it has no instants of its own. Throws when it cannot be read, which is a bug. */
export function ruleOf(definition: ScheduleDefinition): Rule | null {
  const before = known.get(definition);
  if (before !== undefined) return before;
  const rule = 'after' in definition.when ? null : readRule(definition.when);
  known.set(definition, rule);
  return rule;
}

function readRule(when: Parameters<typeof parseRule>[0]): Rule {
  const parsed = parseRule(when);
  if ('problem' in parsed) throw new Error(`a stored rule cannot be read: ${parsed.problem.message}`);
  return parsed.rule;
}

/** When a rule is due, in words: `At 02:00 (Europe/Berlin)`. */
export function dueWords(rule: Rule): string {
  return describeRule(rule);
}

/** The instants in (after, until], in order, the `limit` earliest. */
export function instantsIn(rule: Rule, after: number, until: number, limit: number): number[] {
  return instantsBetween(rule, after, until, limit);
}

/** The first instant later than `after`, or undefined. */
export function instantAfter(rule: Rule, after: number): number | undefined {
  return nextInstant(rule, after);
}

/** The last instant in (after, until], or undefined. */
export function lastInstantIn(rule: Rule, after: number, until: number): number | undefined {
  for (const backMs of looksBackMs) {
    const from = Math.max(after, until - backMs);
    let last: number | undefined;
    for (let at = nextInstant(rule, from, until); at !== undefined; at = nextInstant(rule, at, until))
      last = at;
    if (last !== undefined || from === after) return last;
  }
  return undefined;
}

/** Whether it is an instant of the rule. */
export function isInstantOf(rule: Rule, at: number): boolean {
  return nextInstant(rule, at - 1, at) === at;
}

/** The deadline of an occurrence of a schedule that runs after another one, or null. */
export function deadlineOf({ when, timezone }: ScheduleDefinition, instant: number): number | null {
  if (!('after' in when) || when.after.deadline === undefined) return null;
  const [hour = '0', minute = '0'] = when.after.deadline.split(':');
  const cron = `${Number(minute)} ${Number(hour)} * * *`;
  return nextInstant(readRule({ cron, timezone }), instant) ?? null;
}
