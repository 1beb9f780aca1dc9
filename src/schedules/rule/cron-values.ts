import { findNearest } from '../../base/nearest.ts';
import { type RuleField, RuleRefusal } from './problem.ts';

/** What one field of an expression may hold. */
export interface FieldKind {
  readonly field: RuleField;
  readonly lowest: number;
  readonly highest: number;
  /** Names in the order of their numbers, from `lowest`. */
  readonly names?: readonly string[];
  /** Said behind "from 0 to 23". */
  readonly hint?: string;
}

export const secondKind: FieldKind = { field: 'second', lowest: 0, highest: 59 };
export const minuteKind: FieldKind = { field: 'minute', lowest: 0, highest: 59 };
export const hourKind: FieldKind = { field: 'hour', lowest: 0, highest: 23, hint: 'midnight is 0' };
export const dayKind: FieldKind = {
  field: 'day of month',
  lowest: 1,
  highest: 31,
  hint: 'L is the last day',
};
export const monthKind: FieldKind = {
  field: 'month',
  lowest: 1,
  highest: 12,
  names: ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'],
};
export const weekdayKind: FieldKind = {
  field: 'day of week',
  lowest: 0,
  highest: 7,
  names: ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'],
  hint: 'Sunday is 0 or 7',
};

/** The numbers of one item of a list: a value, a range, a star, each with a step or without. Throws RuleRefusal. */
export function readItem(kind: FieldKind, item: string): number[] {
  const [range = '', stepText, ...more] = item.split('/');
  if (more.length > 0 || range === '')
    throw refused(kind, item, 'is no value; write for example 5, 1-5 or */2');
  const { low, high } = readRange(kind, range, stepText !== undefined);
  const step = stepText === undefined ? 1 : readStep(kind, item, stepText, high - low);
  const numbers: number[] = [];
  for (let value = low; value <= high; value += step) numbers.push(value);
  return numbers;
}

/** A number or a name of a field. Throws RuleRefusal. */
export function readValue(kind: FieldKind, text: string): number {
  const { lowest, highest, names = [], hint } = kind;
  const bounds = `from ${lowest} to ${highest}${hint === undefined ? '' : `; ${hint}`}`;
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    if (value >= lowest && value <= highest) return value;
    throw refused(kind, text, `is not ${bounds}`);
  }
  const at = names.indexOf(text.toLowerCase());
  if (at >= 0) return at + lowest;
  const long = names.find((name) => /^[a-z]{4,}$/i.test(text) && text.toLowerCase().startsWith(name));
  const near = long ?? findNearest(text, names);
  if (near !== undefined) throw refused(kind, text, `is no name of a ${word(kind)}; write ${near}`, near);
  const what =
    names.length > 0
      ? `is neither a number nor a name; write ${bounds}, or ${names[0]} to ${names.at(-1)}`
      : `is no number; write ${bounds}`;
  throw refused(kind, text, what);
}

/** The error for a part of a field. */
export function refused(kind: FieldKind, text: string, what: string, nearest?: string): RuleRefusal {
  return new RuleRefusal(kind.field, `${kind.field}: "${text}" ${what}.`, nearest);
}

function readRange(kind: FieldKind, range: string, hasStep: boolean): { low: number; high: number } {
  // The second 7 of a week is Sunday again.
  const last = kind === weekdayKind ? 6 : kind.highest;
  if (range === '*') return { low: kind.lowest, high: last };
  const [from = '', to, ...more] = range.split('-');
  if (more.length > 0 || from === '' || to === '')
    throw refused(
      kind,
      range,
      `is no ${word(kind)}; write ${kind.lowest} to ${kind.highest}, or a range such as ${kind.lowest}-${kind.lowest + 4}`,
    );
  const low = readValue(kind, from);
  if (to === undefined) return { low, high: hasStep ? last : low };
  let high = readValue(kind, to);
  if (kind === weekdayKind && high === 0 && low > 0) high = 7;
  if (high >= low) return { low, high };
  const around = `${low}-${last},${kind.lowest}-${high}`;
  throw refused(kind, range, `runs backwards; write ${around}`, around);
}

function readStep(kind: FieldKind, item: string, text: string, span: number): number {
  const step = /^\d+$/.test(text) ? Number(text) : 0;
  if (step < 1) throw refused(kind, item, 'has no step; behind / write a number from 1 on');
  if (step <= span || step === 1) return step;
  const every: Partial<Record<RuleField, string>> = { second: 's', minute: 'm', hour: 'h' };
  const unit = every[kind.field];
  const instead =
    unit === undefined
      ? ''
      : `; for every ${step} ${kind.field}s write "every: ${step}${unit}" instead of a cron expression`;
  throw refused(
    kind,
    item,
    `never takes its step: a ${word(kind)} counts from ${kind.lowest} to ${kind.highest} and begins again${instead}`,
  );
}

function word(kind: FieldKind): string {
  return kind === weekdayKind || kind === dayKind ? 'day' : kind.field;
}
