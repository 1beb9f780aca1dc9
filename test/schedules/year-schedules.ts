import type { ScheduleDefinition, ScheduleRule } from '../../src/ledger/schedule-definition.ts';
import type { Dice } from './random.ts';
import { day, hour, minute, says } from './world.ts';

/** Zones that change their clocks on different days, by an hour or half of one, in both hemispheres, or never. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Auckland',
  'Asia/Kolkata',
  'America/Santiago',
  'Africa/Casablanca',
];

/** A rule of the kind that people write: mostly daily, some hourly, weekly and monthly. */
export function anyRule(dice: Dice): ScheduleRule {
  const timezone = dice.one(zones);
  const at = `${dice.below(60)} ${dice.below(24)}`;
  const cron = (text: string): ScheduleRule => ({ cron: text, timezone });
  switch (dice.below(10)) {
    case 0:
      return cron(`${dice.below(60)} */${dice.one([6, 8, 12])} * * *`);
    case 1:
      return cron(`${at} * * ${dice.below(7)}`);
    case 2:
      return cron(`${at} 1,15,31 * *`);
    case 3:
      return { everyMs: dice.one([8 * hour, 36 * hour, 25 * hour + 7 * minute]), anchor: 0 };
    // What the gap swallows and the overlap brings twice.
    case 4:
      return cron(`${dice.one([0, 15, 30, 45])} ${dice.one([1, 2, 3])} * * *`);
    default:
      return cron(`${at} * * *`);
  }
}

/** Everything but its rule. */
export function anyDefinition(dice: Dice, when: ScheduleRule): ScheduleDefinition {
  return says({
    when,
    timezone: 'timezone' in when ? when.timezone : 'UTC',
    overlap: dice.one(['skip', 'skip', 'queueOne', 'cancelOther', 'allow']),
    session: dice.chance(70) ? { mode: 'fresh' } : { mode: 'keep', rotate: { ageMs: 20 * day } },
    catchUp: {
      windowMs: dice.one([hour, 12 * hour, day, 7 * day]),
      policy: dice.one(['none', 'latest', 'latest', 'all']),
    },
    ...(dice.chance(20) ? { onlyIf: dice.one(['yes', 'no']) } : {}),
    labels: [String(dice.below(1_000_000))],
  });
}
