import type { ScheduleId } from '../base/ids.ts';
import { StemmaError } from '../base/errors.ts';
import { defaultLimit } from '../contract/page.ts';
import { defaultNext, type Schedule } from '../contract/schedule.ts';
import { scheduleName } from '../contract/schedule-input.ts';
import { listFilter } from './finding.ts';
import type { ApiPorts, ScheduleQueries, ScheduleRef } from './ports.ts';
import { invalidInput, notFound, present, valueOf } from './problems.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';

type ReadingNames = 'listSchedules' | 'getSchedule' | 'nextInstants' | 'listOccurrences' | 'listScheduleRuns';
type ChangingNames =
  | 'applySchedules'
  | 'putSchedule'
  | 'previewSchedule'
  | 'removeSchedule'
  | 'triggerSchedule'
  | 'pauseSchedule'
  | 'resumeSchedule'
  | 'backfillSchedule'
  | 'stopSchedule';

/** The routes about schedules. */
export function scheduleHandlers({ ports }: HandlerContext): HandlersOf<ReadingNames | ChangingNames> {
  return { ...readingHandlers(ports), ...changingHandlers(ports) };
}

function readingHandlers(ports: ApiPorts): HandlersOf<ReadingNames> {
  const { scheduleQueries: queries } = ports;
  return {
    listSchedules: async ({ query }) => queries.list(await listFilter(ports, query)),
    getSchedule: async ({ parameter }) => shown(queries, await findSchedule(queries, parameter)),
    nextInstants: async ({ parameter, query }) => {
      const id = await findSchedule(queries, parameter);
      return present(await queries.next(id, query.n ?? defaultNext), parameter);
    },
    listOccurrences: async ({ parameter, query }) => {
      const id = await findSchedule(queries, parameter);
      return queries.occurrences(id, { ...query, limit: query.limit ?? defaultLimit });
    },
    listScheduleRuns: async ({ parameter, query }) => {
      const id = await findSchedule(queries, parameter);
      return queries.runs(id, { ...query, limit: query.limit ?? defaultLimit });
    },
  };
}

function changingHandlers({ schedules, scheduleQueries: queries }: ApiPorts): HandlersOf<ChangingNames> {
  return {
    applySchedules: async ({ body, call }) => valueOf(await schedules.apply(body, call)),
    putSchedule: async ({ parameter, body, call }) =>
      shown(queries, valueOf(await schedules.put(newRef(parameter), body, call))),
    previewSchedule: async ({ parameter, body, call }) =>
      valueOf(await schedules.preview(newRef(parameter), body, call)),
    removeSchedule: async ({ parameter, call }) => {
      const id = await findSchedule(queries, parameter);
      valueOf(await schedules.remove(id, call));
      return shown(queries, id);
    },
    triggerSchedule: async ({ parameter, call }) =>
      valueOf(await schedules.trigger(await findSchedule(queries, parameter), call)),
    pauseSchedule: async ({ parameter, body, call }) => {
      const id = await findSchedule(queries, parameter);
      valueOf(await schedules.pause(id, body.reason, call));
      return shown(queries, id);
    },
    resumeSchedule: async ({ parameter, call }) => {
      const id = await findSchedule(queries, parameter);
      valueOf(await schedules.resume(id, call));
      return shown(queries, id);
    },
    backfillSchedule: async ({ parameter, body, call }) =>
      valueOf(await schedules.backfill(await findSchedule(queries, parameter), body, call)),
    stopSchedule: async ({ parameter, body, call }) =>
      valueOf(await schedules.stop(await findSchedule(queries, parameter), body.reason, call)),
  };
}

async function shown(queries: ScheduleQueries, id: ScheduleId): Promise<Schedule> {
  return present(await queries.get(id), id);
}

/** The schedule that `project/name`, or a name alone, means. Throws `NOT_FOUND`, and `AMBIGUOUS_ID` with what it fits. */
async function findSchedule(queries: ScheduleQueries, text: string): Promise<ScheduleId> {
  const ref = refOf(text);
  if (ref === undefined) throw notFound(text);
  const found = await queries.find(ref);
  if (found.found === 'one') return found.id;
  if (found.found === 'none') {
    const message = `There is no schedule "${text}"; "stemma schedule ls" shows those that there are.`;
    throw new StemmaError('NOT_FOUND', message, { id: text });
  }
  const { matches } = found;
  const message = `Several projects have a schedule "${text}": ${matches.slice(0, 10).join(', ')}. Say which one.`;
  throw new StemmaError('AMBIGUOUS_ID', message, { matches });
}

function newRef(text: string): ScheduleRef {
  const ref = refOf(text);
  if (ref !== undefined) return ref;
  const message = `${JSON.stringify(text.slice(0, 80))} is no name of a schedule; write NAME or PROJECT/NAME, of letters, digits, ".", "_" and "-"`;
  throw invalidInput('name', [{ path: 'name', message }]);
}

function refOf(text: string): ScheduleRef | undefined {
  const [first = '', second, ...more] = text.split('/');
  if (more.length > 0) return undefined;
  const ref = second === undefined ? { name: first } : { project: first, name: second };
  return Object.values(ref).every((part) => scheduleName.safeParse(part).success) ? ref : undefined;
}
