import type { Run } from '../contract/run.ts';
import type { ApplyAnswer, Occurrence, Schedule } from '../contract/schedule.ts';
import { describeRule } from '../schedules/rule/describe.ts';
import { localText } from '../schedules/rule/local-text.ts';
import { parseRule, parseZone, type Rule } from '../schedules/rule/rule.ts';
import type { Zone } from '../schedules/rule/zone.ts';
import { formatDuration } from '../words/durations.ts';
import { type Span, span, type Tone } from '../words/line.ts';
import { stepCountWords } from '../words/step-words.ts';
import { plainLine } from '../words/text.ts';

/** What a schedule says of when; of a file or of the server. */
export interface SaidWhen {
  readonly cron?: string | undefined;
  /** Milliseconds. */
  readonly every?: number | undefined;
  readonly at?: number | string | undefined;
  readonly after?:
    | {
        readonly schedule: string;
        readonly status?: string | undefined;
        readonly deadline?: string | undefined;
      }
    | undefined;
  readonly timezone?: string | undefined;
}

/** The rule of a schedule; undefined for one that runs after another, or whose rule this version cannot read. */
export function ruleOf({ cron, every, at, timezone = 'UTC' }: SaidWhen): Rule | undefined {
  const written =
    cron !== undefined
      ? { cron, timezone }
      : every !== undefined
        ? { everyMs: every, anchor: 0 }
        : at !== undefined
          ? { at, timezone }
          : undefined;
  const read = written && parseRule(written);
  return read && 'rule' in read ? read.rule : undefined;
}

/** What a file changed of the schedules of a server: `+ shop/nightly`, `~ shop/report  (cron)`, `- shop/old`, in one line each. */
export function differenceLines({ project, created, changed, removed }: ApplyAnswer): string[] {
  const name = (text: string): string => plainLine(`${project}/${text}`);
  return [
    ...created.map((each) => `+ ${name(each)}`),
    ...changed.map(({ name: each, keys }) => `~ ${name(each)}  (${keys.map(plainLine).join(', ')})`),
    ...removed.map((each) => `- ${name(each)}`),
  ];
}

/** How much of it: `1 created, 0 changed, 0 removed, 2 unchanged`. */
export function differenceCounts({ created, changed, removed, unchanged }: ApplyAnswer): string {
  return `${created.length} created, ${changed.length} changed, ${removed.length} removed, ${unchanged.length} unchanged`;
}

/** When it runs, in words: `At 02:00 (Europe/Berlin)`, `after import`. */
export function ruleWords(said: SaidWhen): string {
  const { after } = said;
  if (after !== undefined) {
    const status = after.status === undefined || after.status === 'succeeded' ? '' : ` (${after.status})`;
    const deadline = after.deadline === undefined ? '' : `, until ${after.deadline}`;
    return plainLine(`after ${after.schedule}${status}${deadline}`);
  }
  const rule = ruleOf(said);
  return rule ? describeRule(rule) : '?';
}

/** The zone of a name; UTC for one that this system does not know. */
export function zoneOf(name: string): Zone {
  const found = parseZone(name);
  const zone = 'zone' in found ? found : parseZone('UTC');
  if ('zone' in zone) return zone.zone;
  throw new Error('UTC is no zone');
}

/** An instant of the wire as people of a zone write it: `Sun 2026-03-29 03:00 +02:00`. */
export function instantWords(instant: string, zone: string): string {
  return localText(zoneOf(zone), Date.parse(instant));
}

/** How far an instant is from now: `in 3h12m`, `2d04h ago`. */
export function distanceWords(ms: number, now: number): string {
  return ms >= now ? `in ${formatDuration(ms - now)}` : `${formatDuration(now - ms)} ago`;
}

/** Where a schedule is, as a cell. */
export function stateCell({ state }: Pick<Schedule, 'state'>): Span {
  const tones: Record<Schedule['state'], Tone> = { active: 'plain', paused: 'warn', removed: 'dim' };
  return span(state, tones[state]);
}

/** How its last run went, and when it was for. */
export function lastRunCell({ lastRun }: Pick<Schedule, 'lastRun'>, now: number): Span {
  if (!lastRun) return span('never', 'dim');
  const distance = distanceWords(Date.parse(lastRun.instant), now);
  const words = lastRun.outcome ? `${lastRun.outcome} ${distance}` : `${lastRun.state}, due ${distance}`;
  return span(words, toneOfOutcome(lastRun.outcome));
}

/** What became of an instant, as a cell. */
export function occurrenceCell({ state }: Pick<Occurrence, 'state'>): Span {
  const tones: Record<Occurrence['state'], Tone> = {
    due: 'live',
    waiting: 'live',
    claimed: 'live',
    ran: 'good',
    skipped: 'dim',
    missed: 'warn',
    expired: 'warn',
    superseded: 'dim',
  };
  return span(state, tones[state]);
}

/** How much of a run is done: its messages, or the steps of its workflow. */
export function doneWords(run: Run): string {
  const { messages, messagesCount = messages.length, messagesClosed = 0, workflow } = run;
  if (workflow) return stepCountWords(workflow.counts);
  if (messagesCount > messages.length) return `${messagesClosed} of ${messagesCount}`;
  const closed = messages.filter(({ attempts }) => attempts.at(-1)?.closed === true).length;
  return `${closed} of ${messages.length}`;
}

/** How a run ended, or where it is. */
export function runCell({ state, outcome, outcomeCode }: Run): Span {
  const code = outcomeCode === undefined ? '' : ` (${plainLine(outcomeCode)})`;
  return span(`${outcome ?? state}${code}`, state === 'ended' ? toneOfOutcome(outcome) : 'live');
}

function toneOfOutcome(outcome: Run['outcome']): Tone {
  if (outcome === undefined) return 'plain';
  return outcome === 'succeeded' ? 'good' : outcome === 'failed' ? 'bad' : 'warn';
}
