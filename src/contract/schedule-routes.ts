import { z } from 'zod';
import { listQuery, pageOf } from './page.ts';
import { optionalReasonBody } from './requests.ts';
import { at, get, post, type RouteSpec } from './route-spec.ts';
import { run } from './run.ts';
import * as schedules from './schedule.ts';
import { scheduleInput } from './schedule-input.ts';

// By its name alone where it is the only one, as project%2Fname, or, for whoever writes addresses by hand, as project/name.
const named = (more = '') => ({
  path: at(`/schedules/:name${more}`),
  aliases: [at(`/schedules/:project/:name${more}`)],
});
const nothing = z.strictObject({});

/** The routes of schedules. Those with a word behind the name come first: the alias of the others fits their paths too. */
export const scheduleRoutes = {
  listSchedules: {
    ...get,
    path: at('/schedules'),
    summary: 'Schedules by project and name; removed ones only with state=removed',
    query: listQuery,
    answer: pageOf(schedules.schedule),
  },
  applySchedules: {
    ...post,
    path: at('/schedules/apply'),
    summary: 'Make the schedules of a file be these: all of them or nothing; with dryRun only the difference',
    body: schedules.applyBody,
    answer: schedules.applyAnswer,
  },
  triggerSchedule: {
    ...post,
    ...named('/trigger'),
    summary: 'Begin a run now, also while it is paused; 409 OVERLAP when one is at work and it skips',
    body: nothing,
    status: 202,
    answer: schedules.triggerAnswer,
    launches: true,
  },
  pauseSchedule: {
    ...post,
    ...named('/pause'),
    summary: 'Skip its instants from now on',
    body: optionalReasonBody,
    answer: schedules.schedule,
  },
  resumeSchedule: {
    ...post,
    ...named('/resume'),
    summary: 'Go on with its next instant; what was skipped stays skipped',
    body: nothing,
    answer: schedules.schedule,
  },
  backfillSchedule: {
    ...post,
    ...named('/backfill'),
    summary: 'Run the instants of a range in the past that have not run, one after the other',
    body: schedules.backfillBody,
    status: 202,
    answer: schedules.backfillAnswer,
    launches: true,
  },
  previewSchedule: {
    ...post,
    ...named('/preview'),
    summary: 'What PUT would do with this body: the same checks, and nothing is changed',
    body: scheduleInput,
    answer: schedules.previewAnswer,
  },
  stopSchedule: {
    ...post,
    ...named('/stop'),
    summary: 'Cancel its runs and give up what waits; it goes on with its next instant',
    body: optionalReasonBody,
    answer: schedules.stopAnswer,
  },
  nextInstants: {
    ...get,
    ...named('/next'),
    summary: 'Its next instants, in UTC and in its zone',
    query: schedules.nextQuery,
    answer: schedules.nextAnswer,
  },
  listOccurrences: {
    ...get,
    ...named('/occurrences'),
    summary: 'Its instants and what became of each, newest first',
    query: schedules.occurrencesQuery,
    answer: pageOf(schedules.occurrence),
  },
  listScheduleRuns: {
    ...get,
    ...named('/runs'),
    summary: 'Its runs, newest first',
    query: schedules.runsQuery,
    answer: pageOf(run),
  },
  getSchedule: { ...get, ...named(), summary: 'One schedule', answer: schedules.schedule },
  putSchedule: {
    ...post,
    ...named(),
    method: 'PUT',
    summary: 'Make a schedule or replace the whole of it: what is left out has its default',
    body: scheduleInput,
    answer: schedules.schedule,
  },
  removeSchedule: {
    ...post,
    ...named(),
    method: 'DELETE',
    summary: 'Remove it; a run that is at work goes on',
    answer: schedules.schedule,
  },
} as const satisfies Record<string, RouteSpec>;
