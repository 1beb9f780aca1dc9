import cronstrue from 'cronstrue';
import { assertNever } from '../../base/assert-never.ts';
import type { Cron } from './cron.ts';
import { localText } from './local-text.ts';
import type { Rule } from './rule.ts';
import { findZone } from './zone.ts';

/** A rule in words, for people: `At 02:30, Monday through Friday (Europe/Berlin)`. In English, with hours from 0 to 23. */
export function describeRule(rule: Rule): string {
  switch (rule.kind) {
    case 'cron':
      return `${cronWords(rule.cron)} (${rule.zone.name})`;
    case 'every': {
      const utc = findZone('UTC');
      const from = rule.anchor === 0 || !utc ? '' : `, counted from ${localText(utc, rule.anchor)} (UTC)`;
      return `Every ${lengthWords(rule.everyMs)}${from}`;
    }
    case 'at':
      return `Once, at ${localText(rule.zone, rule.instant)} (${rule.zone.name})`;
    default:
      return assertNever(rule);
  }
}

function cronWords({ text, days }: Cron): string {
  try {
    const words = cronstrue.toString(text, { use24HourTimeFormat: true });
    // Where both restrict the days it says "and", or nothing; that either is enough is what people get wrong about cron.
    return isRestricted(text) ? words.replace(beforeWeekday, days.either ? ', or ' : ', but only ') : words;
  } catch {
    // A few lists that we take it has no words for.
    return `By "${text}"`;
  }
}

const beforeWeekday = /, (?:and )?(?=(?:on )?(?:the )?(?:\w+ )?(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day)/;

/** Both fields that name days say something. */
function isRestricted(text: string): boolean {
  return text
    .split(' ')
    .slice(-3)
    .every((field, index) => index === 1 || !/^[*?]$/.test(field));
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** `90 minutes` as `1 hour 30 minutes`; one unit alone without its 1: `hour`. */
function lengthWords(ms: number): string {
  const parts: string[] = [];
  let rest = ms;
  for (const [unit, unitMs] of units) {
    const count = Math.floor(rest / unitMs);
    rest -= count * unitMs;
    if (count > 0) parts.push(count === 1 ? `1 ${unit}` : `${count} ${unit}s`);
  }
  if (rest > 0) parts.push(`${rest} ms`);
  const words = parts.join(' ');
  return parts.length === 1 ? words.replace(/^1 /, '') : words;
}
