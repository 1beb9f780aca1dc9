import type { ScheduleInput } from '../contract/schedule-input.ts';
import type { WireDefinition } from '../contract/schedule.ts';
import { toInstant } from '../contract/text.ts';
import type {
  CatchUp,
  ScheduledWorkflow,
  ScheduleDefinition,
  ScheduleRule,
  ScheduleSession,
} from '../ledger/schedule-definition.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import { budgetOf, plannedMessage, retryOf } from '../workflows/planned-message.ts';

/** How late an instant may be noticed and still be made up for, if nobody says; milliseconds. */
const defaultWindowMs = 24 * 3_600_000;
const defaultZone = 'UTC';

/** What a schedule says, complete. What it says was parsed; whether it makes sense, `checkSchedules` finds out. */
export function definitionOf(said: ScheduleInput): ScheduleDefinition {
  const { agent = null, cwd, onlyIf, budget, workspace, messages = [], workflow } = said;
  const timezone = said.timezone ?? defaultZone;
  return {
    when: ruleOf(said, timezone),
    timezone,
    agent,
    cwd,
    session: sessionOf(said.session ?? 'fresh'),
    messages: messages.map(plannedMessage),
    overlap: said.overlap ?? 'skip',
    catchUp: catchUpOf(said.catchUp),
    notify: said.notify ?? [],
    labels: said.labels ?? [],
    ...(workflow === undefined ? {} : { workflow: scheduledWorkflow(workflow) }),
    ...(onlyIf === undefined ? {} : { onlyIf }),
    ...(budget === undefined ? {} : { budget: budgetOf(budget) }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}

/** A definition as it is shown; parsed again, it is the same definition. */
export function toDefinition(definition: ScheduleDefinition): WireDefinition {
  const { when, timezone, agent, cwd, onlyIf, overlap, catchUp } = definition;
  const { budget, notify, workspace, labels } = definition;
  return {
    ...shownRule(when),
    timezone,
    cwd,
    ...(agent === null ? {} : { agent }),
    ...shownWork(definition),
    overlap,
    catchUp: { window: catchUp.windowMs, policy: catchUp.policy },
    notify: [...notify],
    labels: [...labels],
    ...(onlyIf === undefined ? {} : { onlyIf }),
    ...(budget === undefined ? {} : { budget }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}

/** The keys, as they are written, whose values differ: what an edit changed. */
export function changedKeys(before: ScheduleDefinition, after: ScheduleDefinition): string[] {
  const was = entriesOf(before);
  const is = entriesOf(after);
  return [...new Set([...was.keys(), ...is.keys()])].filter((key) => was.get(key) !== is.get(key)).sort();
}

function entriesOf(definition: ScheduleDefinition): Map<string, string> {
  return new Map(
    Object.entries(toDefinition(definition)).map(([key, value]) => [key, JSON.stringify(value)]),
  );
}

function ruleOf(said: ScheduleInput, timezone: string): ScheduleRule {
  const { cron, every, at, after } = said;
  if (cron !== undefined) return { cron, timezone };
  if (every !== undefined) return { everyMs: every, anchor: 0 };
  if (at !== undefined) return { at, timezone };
  if (after === undefined) throw new Error('a schedule without a rule was parsed');
  const { schedule, status = 'succeeded', deadline } = after;
  return { after: { schedule, status, ...(deadline === undefined ? {} : { deadline }) } };
}

function sessionOf(said: NonNullable<ScheduleInput['session']>): ScheduleSession {
  const mode = typeof said === 'string' ? said : said.mode;
  const rotate = typeof said === 'string' ? undefined : said.rotate;
  if (mode === 'fresh') return { mode };
  if (rotate === undefined) return { mode };
  const { turns, age: ageMs, tokens } = rotate;
  return {
    mode,
    rotate: {
      ...(turns === undefined ? {} : { turns }),
      ...(ageMs === undefined ? {} : { ageMs }),
      ...(tokens === undefined ? {} : { tokens }),
    },
  };
}

function catchUpOf(said: ScheduleInput['catchUp']): CatchUp {
  return { windowMs: said?.window ?? defaultWindowMs, policy: said?.policy ?? 'latest' };
}

function shownRule(when: ScheduleRule): Pick<WireDefinition, 'cron' | 'every' | 'at' | 'after'> {
  if ('cron' in when) return { cron: when.cron };
  if ('everyMs' in when) return { every: when.everyMs };
  if ('at' in when) return { at: typeof when.at === 'number' ? toInstant(when.at) : when.at };
  return { after: when.after };
}

function scheduledWorkflow(said: NonNullable<ScheduleInput['workflow']>): ScheduledWorkflow {
  const { name, group, inputs, evaluation, timeout, retry } = said;
  return {
    name,
    ...(group === undefined ? {} : { group }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(evaluation === false ? { evaluation } : {}),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(retry === undefined ? {} : { retry: retryOf(retry) }),
  };
}

/** What it does: messages in a conversation, or a workflow. */
function shownWork({
  session,
  messages,
  workflow,
}: ScheduleDefinition): Pick<WireDefinition, 'session' | 'messages' | 'workflow'> {
  if (workflow === undefined) return { session: shownSession(session), messages: messages.map(shownMessage) };
  const { name, group, inputs, evaluation, timeoutMs, retry } = workflow;
  return {
    workflow: {
      name,
      ...(group === undefined ? {} : { group }),
      ...(inputs === undefined ? {} : { inputs: { ...inputs } }),
      ...(evaluation === undefined ? {} : { evaluation }),
      ...(timeoutMs === undefined ? {} : { timeout: timeoutMs }),
      ...(retry === undefined ? {} : { retry: { max: retry.max, backoff: retry.backoffMs } }),
    },
  };
}

function shownSession(session: ScheduleSession): WireDefinition['session'] {
  if (session.mode === 'fresh' || session.rotate === undefined) return { mode: session.mode };
  const { turns, ageMs, tokens } = session.rotate;
  return { mode: session.mode, rotate: { turns, age: ageMs, tokens } };
}

function shownMessage(message: PlannedMessage): NonNullable<WireDefinition['messages']>[number] {
  const { text, timeoutMs, onFailure, join, background, check, budget, retry } = message;
  return {
    text,
    timeout: timeoutMs,
    onFailure,
    join,
    background,
    ...(check === null ? {} : { check }),
    ...(budget === undefined ? {} : { budget }),
    ...(retry === undefined ? {} : { retry: { max: retry.max, backoff: retry.backoffMs } }),
  };
}
