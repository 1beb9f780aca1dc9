import { z } from 'zod';
import type { RuleProblem } from '../schedules/rule/problem.ts';
import { parseRule, parseZone } from '../schedules/rule/rule.ts';
import { parseTemplate } from '../schedules/templates.ts';
import { budget } from './budget.ts';
import { durationMs } from './durations.ts';
import { targetNames } from './notify-targets.ts';
import { messageList } from './sequence.ts';
import { directoryPath, nameText, textOf } from './text.ts';
import { workflowTarget } from './workflow-target.ts';
import { workspaceMode } from './workspace-mode.ts';

/** The name of a schedule or a project: it stands in addresses, as `project/name`. */
export const scheduleName = textOf(100, 1).refine(
  (name) => /^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name),
  'is no name of a schedule or a project; use letters, digits, ".", "_" and "-", beginning with a letter or a digit',
);

/** An IANA time zone. */
export const timeZone = textOf(100, 1)
  .superRefine((name, context) => {
    const found = parseZone(name);
    if ('problem' in found) tell(context, [], found.problem);
  })
  .meta({ description: 'An IANA time zone, such as Europe/Berlin. Default: UTC.' });

const localTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/;

/** An instant in milliseconds, or a local time as `YYYY-MM-DDTHH:MM:SS`, which is read in the schedule's zone. */
const onceAt = textOf(100, 1)
  .transform((text, context): number | string => {
    const said = text.replace(' ', 'T');
    const isLocal = localTime.test(said);
    const ms = Date.parse(isLocal ? `${said}Z` : said);
    const isWhole = isLocal || /^\d{4}-\d{2}-\d{2}T.*(?:Z|[+-]\d{2}:\d{2})$/.test(said);
    if (isWhole && !Number.isNaN(ms) && isDayOfMonth(said)) return isLocal ? said : ms;
    const message = `"${text}" is no date with a time; write for example 2027-01-01T09:00, or 2027-01-01T09:00:00Z`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .meta({
    description:
      'Once: a local time in the zone of the schedule (2027-01-01T09:00), or one with Z or an offset.',
  });

// `Date.parse` takes the 30th of February for the 2nd of March.
function isDayOfMonth(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return day <= (Date.UTC(year, month, 1) - Date.UTC(year, month - 1, 1)) / 86_400_000;
}

/** How many schedules one file may have. */
const largestFile = 1_000;

/** Refuses more schedules than one file may have: applied, and read by a server that starts. */
export function isNotTooMany(all: object): boolean {
  return Object.keys(all).length <= largestFile;
}
/** What is said of more of them. */
export const tooManySchedules = `has more than ${largestFile} schedules`;

const everyMs = durationMs
  .refine((ms) => ms >= 1_000, 'must be at least 1s')
  .meta({ description: 'So much time from one to the next: "15m". Counted from 1970-01-01T00:00Z.' });

const after = z
  .strictObject({
    schedule: scheduleName.meta({ description: 'Another schedule of the same project.' }),
    status: z.enum(['succeeded', 'failed', 'any']).optional().meta({
      description: 'How the run of the other one must have ended. Default: succeeded.',
    }),
    deadline: textOf(5, 1)
      .refine(
        (text) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text),
        'is no time of the day; write HH:MM, as in "06:00"',
      )
      .optional()
      .meta({ description: 'HH:MM in the zone: from then on it is not begun any more.' }),
  })
  .meta({ description: 'When the run of another schedule for the same instant has ended.' });

const rotation = z
  .strictObject({
    turns: z.int().min(1).max(1_000_000).optional(),
    age: durationMs.optional(),
    tokens: z.int().min(1).max(1_000_000_000_000).optional(),
  })
  .refine(
    (said) => Object.values(said).some((bound) => bound !== undefined),
    'needs "turns", "age" or "tokens"',
  )
  .meta({ description: 'When the kept conversation gives way to a new one: at the first of these bounds.' });

const session = z
  .union([
    z.enum(['fresh', 'keep']),
    z
      .strictObject({ mode: z.enum(['fresh', 'keep']), rotate: rotation.optional() })
      .refine((said) => said.mode === 'keep' || said.rotate === undefined, {
        path: ['rotate'],
        message: 'is for mode: keep; a fresh conversation needs none',
      }),
  ])
  .meta({
    description:
      'fresh (the default): a new conversation for each run. keep: the same one every time; a mapping says when it rotates.',
  });

const catchUp = z
  .strictObject({
    window: durationMs
      .optional()
      .meta({ description: 'What is noticed later than this is missed. Default 24h.' }),
    policy: z.enum(['none', 'latest', 'all']).optional().meta({
      description:
        'Of the instants within the window: none is made up for, the latest (the default), or all.',
    }),
  })
  .meta({ description: 'What becomes of instants that are noticed late, as after a stop of the server.' });

const fields = {
  cron: textOf(200, 1).optional().meta({
    description: 'A cron expression of 5 or 6 fields (seconds first), or @daily, @hourly, …; in quotes.',
  }),
  every: everyMs.optional(),
  at: onceAt.optional(),
  after: after.optional(),
  timezone: timeZone.optional(),
  agent: nameText.optional().meta({
    description:
      'The agent profile. With a workflow: of steps that name none, where its file names none either.',
  }),
  session: session.optional(),
  messages: messageList.optional().meta({
    description: 'Sent in order, each when the tree of the one before is closed.',
  }),
  workflow: workflowTarget.optional(),
  onlyIf: textOf(100_000, 1).optional().meta({
    description: 'A shell command; anything but exit code 0 skips the occurrence, and no money is spent.',
  }),
  overlap: z.enum(['skip', 'queueOne', 'cancelOther', 'allow']).optional().meta({
    description: 'What becomes of an instant while a run of the same schedule is at work. Default: skip.',
  }),
  catchUp: catchUp.optional(),
  budget: budget.optional(),
  notify: targetNames.optional().meta({
    description:
      'The targets of this file that are told when something becomes different: failed, waiting, missed, …',
  }),
  workspace: workspaceMode.optional().meta({ description: 'Default: that of the profile, else exclusive.' }),
  labels: z.array(nameText).max(50).optional().meta({ description: 'Words to find it by.' }),
};

const ruleKeys = ['cron', 'every', 'at', 'after'] as const;

interface Said {
  readonly cron?: string | undefined;
  readonly every?: unknown;
  readonly at?: number | string | undefined;
  readonly after?: unknown;
  readonly timezone?: string | undefined;
  readonly agent?: string | undefined;
  readonly session?: z.output<typeof session> | undefined;
  readonly messages?: readonly { readonly text: string }[] | undefined;
  readonly workflow?: unknown;
}

function checkWhole(said: Said, context: z.RefinementCtx): void {
  sayOnce(said, context);
  sayWhat(said, context);
  const { cron, at, timezone = 'UTC', messages = [] } = said;
  // A zone that there is not has been told already.
  if ('zone' in parseZone(timezone)) {
    if (cron !== undefined) checkRule(parseRule({ cron, timezone }), 'cron', context);
    if (at !== undefined) checkRule(parseRule({ at, timezone }), 'at', context);
  }
  for (const [index, message] of messages.entries()) {
    // One that is wrong in itself comes here too, unread.
    const { text } = message as Partial<typeof message>;
    if (text !== undefined) checkTemplates(text, index, context);
  }
}

// Which instants a schedule has must be said once, or nobody could tell which of two is meant.
function sayOnce(said: Said, context: z.RefinementCtx): void {
  const [first, second] = ruleKeys.filter((key) => said[key] !== undefined);
  if (first === undefined) {
    context.addIssue({ code: 'custom', message: 'says not when; it needs one of cron, every, at and after' });
  } else if (second !== undefined) {
    const message = `there is "${first}" already; a schedule has exactly one of cron, every, at and after`;
    context.addIssue({ code: 'custom', path: [second], message });
  }
}

// Who gets messages must be said; the steps of a workflow say so themselves.
function sayWho({ agent, messages }: Pick<Said, 'agent' | 'messages'>, context: z.RefinementCtx): void {
  if (agent !== undefined || messages === undefined) return;
  context.addIssue({ code: 'custom', path: ['agent'], message: 'is missing; expected string' });
}

// What it does is said once too.
function sayWhat({ messages, workflow, session: mode }: Said, context: z.RefinementCtx): void {
  const tellOf = (path: string[], message: string): void =>
    context.addIssue({ code: 'custom', path, message });
  if (messages === undefined && workflow === undefined)
    return tellOf(['messages'], 'is missing; a schedule needs messages or a workflow');
  if (messages !== undefined && workflow !== undefined)
    return tellOf(['workflow'], 'there is "messages" already; a schedule has either messages or a workflow');
  const isKept = mode === 'keep' || (typeof mode === 'object' && mode.mode === 'keep');
  if (workflow !== undefined && isKept)
    tellOf(['session'], 'is for messages; each step of a workflow has a conversation of its own');
}

function checkRule(read: ReturnType<typeof parseRule>, key: string, context: z.RefinementCtx): void {
  if ('problem' in read) tell(context, [key], read.problem);
}

function checkTemplates(text: string, index: number, context: z.RefinementCtx): void {
  const parsed = parseTemplate(text);
  if (parsed.ok) return;
  for (const { line, column, message, nearest } of parsed.issues) {
    const path = ['messages', index, 'text'];
    const params = nearest === undefined ? {} : { nearest };
    const at = `line ${line}, character ${column} of the text: `;
    context.addIssue({ code: 'custom', path, message: `${at}${message.replace(/\.$/, '')}`, params });
  }
}

// The key is told with the path already.
function tell(context: z.RefinementCtx, path: string[], { field, message, nearest }: RuleProblem): void {
  const key = path[0] ?? 'timezone';
  const said = (field === key ? message.slice(field.length + 2) : message).replace(/\.$/, '');
  context.addIssue({
    code: 'custom',
    path,
    message: said,
    params: nearest === undefined ? {} : { nearest },
  });
}

/** A schedule as the API takes it: whole, since what is left out has its default. */
export const scheduleInput = z
  .strictObject({ ...fields, cwd: directoryPath })
  .superRefine(checkWhole)
  .superRefine(sayWho)
  .meta({ id: 'ScheduleInput', description: 'A schedule, whole: what is left out has its default.' });
/** What a schedule says, as the API takes it: durations in milliseconds, `at` a local time or milliseconds. */
export type ScheduleInput = z.output<typeof scheduleInput>;
/** A schedule as it is sent. */
export type ScheduleInputSent = z.input<typeof scheduleInput>;

/** A schedule as an agent makes it: for itself, in its own directory, unless it says otherwise. */
export const scheduleOfAgent = z
  .strictObject({
    name: scheduleName.describe('A short name: letters, digits, ".", "_" and "-".'),
    project: scheduleName.optional().describe('Default: that of this conversation.'),
    ...fields,
    agent: nameText.optional().describe('The agent profile; default: the one of this conversation.'),
    cwd: directoryPath.optional().describe('Where it works; default: the directory of this conversation.'),
  })
  .superRefine(checkWhole);

/** A schedule as it stands in `stemma.yaml`: its directory may be relative to the file, and is the file's if not said. */
export const scheduleOnDisk = z
  .strictObject({
    ...fields,
    cwd: textOf(4_096, 1).optional().meta({
      description: "Where the agent works; relative to this file's directory, which is the default.",
    }),
  })
  .superRefine(checkWhole)
  .superRefine(sayWho)
  .meta({ id: 'Schedule' });
/** A schedule of a file; `cwd` as written. */
export type ScheduleOnDisk = z.output<typeof scheduleOnDisk>;
