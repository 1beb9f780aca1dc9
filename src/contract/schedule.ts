import { z } from 'zod';
import { budget } from './budget.ts';
import { outcome } from './execution.ts';
import { cursorText, largestLimit, queryNumber } from './page.ts';
import { isNotTooMany, scheduleInput, scheduleName, tooManySchedules } from './schedule-input.ts';
import { instant, nameText } from './text.ts';
import { workspaceMode } from './workspace-mode.ts';

/** Where a schedule comes from: a file, the API, or an agent. */
const origins = ['file', 'api', 'agent'] as const;

const shownRetry = z.object({ max: z.number(), backoff: z.number() });

/** What a schedule says, complete: what was left out is filled in. It can be sent back as it is. */
const definition = z
  .object({
    cron: z.string().optional(),
    every: z.number().optional().meta({ description: 'Milliseconds.' }),
    at: z.string().optional(),
    after: z.object({ schedule: z.string(), status: z.string(), deadline: z.string().optional() }).optional(),
    timezone: z.string(),
    agent: z.string().optional(),
    cwd: z.string(),
    session: z
      .object({
        mode: z.string(),
        rotate: z
          .object({ turns: z.number().optional(), age: z.number().optional(), tokens: z.number().optional() })
          .optional(),
      })
      .optional()
      .meta({ description: 'Absent where it runs a workflow.' }),
    messages: z
      .array(
        z.object({
          text: z.string(),
          timeout: z.number(),
          onFailure: z.string(),
          join: z.string(),
          background: z.string(),
          check: z.string().optional(),
          budget: budget.optional(),
          retry: shownRetry.optional(),
        }),
      )
      .optional()
      .meta({ description: 'Absent where it runs a workflow.' }),
    workflow: z
      .object({
        name: z.string(),
        group: z.string().optional(),
        inputs: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
        evaluation: z.boolean().optional(),
        timeout: z.number().optional(),
        retry: shownRetry.optional(),
      })
      .optional(),
    onlyIf: z.string().optional(),
    overlap: z.string(),
    catchUp: z.object({ window: z.number(), policy: z.string() }),
    budget: budget.optional(),
    notify: z.array(z.string()),
    workspace: workspaceMode.optional(),
    labels: z.array(z.string()),
  })
  .meta({
    id: 'ScheduleDefinition',
    description: 'What a schedule says, with what was left out filled in; durations in milliseconds.',
  });
/** What a schedule says, complete; durations in milliseconds. */
export type WireDefinition = z.infer<typeof definition>;

export const schedule = z
  .object({
    id: z.string(),
    project: z.string(),
    name: z.string(),
    origin: z.enum(origins),
    revision: z.number().meta({ description: 'Grows with each edit.' }),
    state: z.enum(['active', 'paused', 'removed']),
    paused: z.object({ since: instant, reason: z.string().optional() }).optional(),
    when: z
      .string()
      .optional()
      .meta({ description: 'When it is due, in words: "At 02:00 (Europe/Berlin)".' }),
    next: instant.optional().meta({ description: 'Its next instant; absent when there is none.' }),
    lastRun: z
      .object({
        runId: z.string(),
        instant: instant,
        state: z.enum(['waiting', 'running', 'ended']),
        outcome: outcome.optional(),
      })
      .optional()
      .meta({ description: 'The run that began last. What was skipped is no run.' }),
    createdAt: instant,
    updatedAt: instant,
    definition,
  })
  .meta({ id: 'ScheduleView', description: 'A schedule, named project/name.' });
/** A schedule on the wire. */
export type Schedule = z.infer<typeof schedule>;

/** What becomes of an instant. The last five are ends. */
export const occurrenceStates = [
  'due',
  'waiting',
  'claimed',
  'ran',
  'skipped',
  'missed',
  'expired',
  'superseded',
] as const;

export const occurrence = z
  .object({
    id: z.string(),
    project: z.string(),
    schedule: z.string(),
    instant,
    trigger: z.enum(['time', 'manual', 'backfill', 'after']),
    state: z.enum(occurrenceStates),
    reason: z
      .string()
      .optional()
      .meta({ description: 'A short code, then words: "overlap: run_… is at work".' }),
    runId: z.string().optional(),
    revision: z.number().meta({ description: 'Of the schedule when this was decided.' }),
    until: instant.optional().meta({ description: 'Until when it waits.' }),
    createdAt: instant,
    decidedAt: instant.optional(),
  })
  .meta({ id: 'Occurrence', description: 'One instant of a schedule, and what became of it.' });
/** One instant of a schedule, and what became of it. */
export type Occurrence = z.infer<typeof occurrence>;

export const previewAnswer = z
  .object({
    definition,
    before: definition.optional().meta({ description: 'What it says now; absent where there is none.' }),
    when: z.string().optional().meta({ description: 'When it would be due, in words.' }),
    changed: z.array(z.string()).meta({ description: 'The keys that it would say differently.' }),
    next: z
      .array(z.object({ instant, local: z.string() }))
      .meta({ description: 'Its next instants then; none of one that runs after another.' }),
  })
  .meta({ id: 'PreviewAnswer', description: 'What a schedule would be.' });
/** What a schedule would be, and what of it is new. */
export type PreviewAnswer = z.infer<typeof previewAnswer>;

export const triggerAnswer = z
  .object({
    runId: z.string().meta({ description: 'Also while it waits: a run is named after its occurrence.' }),
    instant,
    state: z.enum(occurrenceStates),
    reason: z.string().optional(),
  })
  .meta({ id: 'TriggerAnswer' });
/** What a trigger made: the run, and whether it goes at once. */
export type TriggerAnswer = z.infer<typeof triggerAnswer>;

export const backfillBody = z
  .strictObject({
    from: instant.meta({ description: 'The first instant that counts, RFC 3339 in UTC.' }),
    to: instant.meta({ description: 'Instants before this one count.' }),
    dryRun: z.boolean().optional(),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
    path: ['to'],
    message: 'must be later than "from"',
  })
  .meta({ id: 'BackfillBody' });
export type BackfillBody = z.infer<typeof backfillBody>;

export const backfillAnswer = z
  .object({
    dryRun: z.boolean(),
    due: z.array(z.object({ instant, was: z.enum(occurrenceStates).optional() })).meta({
      description: 'What runs now, oldest first. `was`: what had become of it; absent: it had no row.',
    }),
    left: z.number().meta({ description: 'How many instants of the range had run, or are at work.' }),
  })
  .meta({ id: 'BackfillAnswer' });
export type BackfillAnswer = z.infer<typeof backfillAnswer>;

export const nextQuery = z.strictObject({ n: queryNumber(1, 1_000).optional() });
/** How many next instants are shown if not said. */
export const defaultNext = 5;

export const nextAnswer = z
  .object({
    timezone: z.string(),
    items: z.array(z.object({ instant, local: z.string() })).meta({
      description: '`local`: the same in the zone of the schedule.',
    }),
    note: z.string().optional().meta({ description: 'Why there are none, or why they will not run.' }),
  })
  .meta({ id: 'NextAnswer' });
/** The next instants of a schedule. */
export type NextAnswer = z.infer<typeof nextAnswer>;

export const occurrencesQuery = z.strictObject({
  state: z.enum(occurrenceStates).optional(),
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestLimit).optional(),
});
/** Which occurrences of a schedule, newest first. */
export type OccurrencesQuery = z.infer<typeof occurrencesQuery>;

export const runsQuery = z.strictObject({
  state: nameText.optional(),
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestLimit).optional(),
});
/** Which runs of a schedule, newest first. */
export type RunsQuery = z.infer<typeof runsQuery>;

export const stopAnswer = z
  .object({
    runs: z.array(z.string()).meta({ description: 'The runs that were cancelled.' }),
    skipped: z.array(instant).meta({ description: 'The instants that waited and were given up.' }),
  })
  .meta({ id: 'StopAnswer' });
export type StopAnswer = z.infer<typeof stopAnswer>;

export const applyBody = z
  .strictObject({
    project: scheduleName,
    schedules: z.record(scheduleName, scheduleInput).refine(isNotTooMany, tooManySchedules).meta({
      description:
        'All schedules of the file: what came from a file and is not here any more is removed. An empty mapping removes all of them.',
    }),
    dryRun: z.boolean().optional(),
  })
  .meta({ id: 'ApplyBody' });
export type ApplyBody = z.infer<typeof applyBody>;

export const applyAnswer = z
  .object({
    project: z.string(),
    dryRun: z.boolean(),
    created: z.array(z.string()),
    changed: z.array(
      z.object({
        name: z.string(),
        keys: z.array(z.string()).meta({ description: 'What it says differently.' }),
      }),
    ),
    unchanged: z.array(z.string()),
    removed: z.array(z.string()),
  })
  .meta({ id: 'ApplyAnswer', description: 'What a file changed, or with dryRun would change.' });
export type ApplyAnswer = z.infer<typeof applyAnswer>;

export const rerunBody = z
  .strictObject({
    from: z.union([z.int().min(0).max(1_000), nameText]).meta({
      description:
        'The index of the message to begin with; the first is 0. Of a run of a workflow: the name of the step.',
    }),
    only: z.boolean().optional().meta({
      description: 'Of a run of a workflow: this step alone; what needs it keeps what it came to before.',
    }),
  })
  .meta({ id: 'RerunBody' });
/** Where a run begins again. */
export type RerunBody = z.infer<typeof rerunBody>;
