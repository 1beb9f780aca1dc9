import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Event } from '../../../src/contract/events.ts';
import type { Execution, TreeView } from '../../../src/contract/execution.ts';
import type { Page } from '../../../src/contract/page.ts';
import type { MonitorAnswer } from '../../../src/contract/requests.ts';
import type { Run } from '../../../src/contract/run.ts';
import type { NextAnswer, Occurrence, Schedule } from '../../../src/contract/schedule.ts';
import type { AgentView, Session } from '../../../src/contract/session.ts';
import type { StepAttemptView } from '../../../src/contract/step-attempt.ts';
import type { Workflow } from '../../../src/contract/workflow.ts';
import { ask } from './ask.ts';

/* What the page reads of the server, each with the events that may change it. */

/** The filters of a list, as the API takes them; what is undefined is not asked for. */
export type Filters = Readonly<Record<string, string | number | undefined>>;

/** `?state=running&limit=20`; '' where nothing is asked for. */
export function queryText(filters: Filters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString()}`;
}

const isOf = (prefix: string) => (event: Event) => event.type.startsWith(prefix);
const isOfRoot = (id: string) => (event: Event) => event.rootId === id;
/** What changes how runs are shown: where they stand, their steps, and what they wait for. */
const isOfRuns = ({ type }: Event): boolean =>
  ['run.', 'graph.', 'step.'].some((prefix) => type.startsWith(prefix)) ||
  ['execution.waiting', 'execution.started', 'session.limit'].includes(type);
/** While another page of the same thing is read, the one before stays; that of another thing does not. */
const keepOf =
  (id: string) =>
  <T>(before: T | undefined, query?: { readonly queryKey: readonly unknown[] }): T | undefined =>
    query?.queryKey[1] === id ? before : undefined;
const isOfSession = (id: string) => (event: Event) => event.sessionId === id;

/** So many live roots are shown at most; and of each answer. */
const mostLive = 5_000;
const livePage = 500;

/** Live roots and what holds each, the oldest first; of very many the oldest 5,000. */
export const monitorQuery = (filters: Filters = {}) =>
  queryOptions({
    queryKey: ['monitor', filters],
    queryFn: async ({ signal }): Promise<Pick<MonitorAnswer, 'items' | 'nextCursor'>> => {
      const items: MonitorAnswer['items'] = [];
      for (let cursor: string | undefined; ; ) {
        const path = `/monitor${queryText({ limit: livePage, cursor, ...filters })}`;
        const page = await ask<MonitorAnswer>(path, signal);
        items.push(...page.items);
        cursor = page.nextCursor;
        if (cursor === undefined) return { items };
        if (items.length >= mostLive) return { items, nextCursor: cursor };
      }
    },
    placeholderData: keepPreviousData,
    meta: { touchedBy: (event) => event.rootId !== undefined || event.sessionId !== undefined },
  });

/** A list of executions, newest first. */
export const executionsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ['executions', filters],
    queryFn: ({ signal }) => ask<Page<Execution>>(`/executions${queryText(filters)}`, signal),
    placeholderData: keepPreviousData,
    meta: { touchedBy: isOf('execution.') },
  });

/** A whole tree with its notices and what holds it; of results and errors the beginnings. */
export const treeQuery = (id: string) =>
  queryOptions({
    queryKey: ['tree', id],
    // To compare ten thousand executions with those of before takes longer than to draw those on the screen.
    structuralSharing: false,
    queryFn: ({ signal }) => ask<TreeView>(`/executions/${encodeURIComponent(id)}/tree?brief=true`, signal),
    meta: { touchedBy: isOfRoot(id) },
  });

/** One execution, with the whole of its texts. `rootId`: whose events concern it. */
export const executionQuery = (id: string, rootId: string) =>
  queryOptions({
    queryKey: ['execution', id],
    queryFn: ({ signal }) => ask<Execution>(`/executions/${encodeURIComponent(id)}`, signal),
    meta: { touchedBy: isOfRoot(rootId) },
  });

/** Runs, newest first. */
export const runsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ['runs', filters],
    queryFn: ({ signal }) => ask<Page<Run>>(`/runs${queryText(filters)}`, signal),
    placeholderData: keepPreviousData,
    meta: { touchedBy: isOfRuns },
  });

/** One run with its messages: those about the one at which it stands, if `filters` do not say which. */
export const runQuery = (id: string, filters: Filters = {}) =>
  queryOptions({
    queryKey: ['run', id, filters],
    queryFn: ({ signal }) => ask<Run>(`/runs/${encodeURIComponent(id)}${queryText(filters)}`, signal),
    placeholderData: keepOf(id),
    meta: {
      // Which roots are its own is in the answer alone; what its messages say while they run changes nothing of it.
      touchedBy: (event) => isOfRuns(event) || ['execution.settled', 'execution.closed'].includes(event.type),
    },
  });

/** Sessions, latest activity first. */
export const sessionsQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ['sessions', filters],
    queryFn: ({ signal }) => ask<Page<Session>>(`/sessions${queryText(filters)}`, signal),
    placeholderData: keepPreviousData,
    meta: { touchedBy: (event) => event.sessionId !== undefined },
  });

/** One session. */
export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ['session', id],
    queryFn: ({ signal }) => ask<Session>(`/sessions/${encodeURIComponent(id)}`, signal),
    meta: { touchedBy: isOfSession(id) },
  });

const isOfSchedules = (event: Event): boolean =>
  ['schedule.', 'occurrence.', 'run.'].some((prefix) => event.type.startsWith(prefix));

/** All schedules. */
export const schedulesQuery = (filters: Filters = {}) =>
  queryOptions({
    queryKey: ['schedules', filters],
    queryFn: ({ signal }) =>
      ask<Page<Schedule>>(`/schedules${queryText({ limit: 500, ...filters })}`, signal),
    placeholderData: keepPreviousData,
    meta: { touchedBy: isOfSchedules },
  });

/** One schedule by `project/name`. */
export const scheduleQuery = (name: string) =>
  queryOptions({
    queryKey: ['schedule', name],
    queryFn: ({ signal }) => ask<Schedule>(`/schedules/${encodeURIComponent(name)}`, signal),
    meta: { touchedBy: isOfSchedules },
  });

/** The next instants of a schedule. */
export const nextQuery = (name: string, n = 5) =>
  queryOptions({
    queryKey: ['next', name, n],
    queryFn: ({ signal }) => ask<NextAnswer>(`/schedules/${encodeURIComponent(name)}/next?n=${n}`, signal),
    meta: { touchedBy: isOfSchedules },
  });

/** What became of the instants of a schedule, newest first. */
export const occurrencesQuery = (name: string, filters: Filters = {}) =>
  queryOptions({
    queryKey: ['occurrences', name, filters],
    queryFn: ({ signal }) =>
      ask<Page<Occurrence>>(
        `/schedules/${encodeURIComponent(name)}/occurrences${queryText(filters)}`,
        signal,
      ),
    placeholderData: keepPreviousData,
    meta: { touchedBy: isOfSchedules },
  });

/** The runs of a schedule, newest first. */
export const scheduleRunsQuery = (name: string, filters: Filters = {}) =>
  queryOptions({
    queryKey: ['scheduleRuns', name, filters],
    queryFn: ({ signal }) =>
      ask<Page<Run>>(`/schedules/${encodeURIComponent(name)}/runs${queryText(filters)}`, signal),
    placeholderData: keepPreviousData,
    meta: { touchedBy: isOfSchedules },
  });

/** The workflow files of the server. */
export const workflowsQuery = () =>
  queryOptions({
    queryKey: ['workflows'],
    queryFn: ({ signal }) => ask<Page<Workflow>>(`/workflows${queryText({ limit: 500 })}`, signal),
    // Files change without an event: they are looked at again now and then.
    staleTime: 5_000,
    refetchInterval: 15_000,
    meta: { touchedBy: () => false },
  });

/** The runs of a workflow with their steps and evaluations, newest first. */
export const workflowRunsQuery = (name: string, filters: Filters = {}) =>
  queryOptions({
    queryKey: ['workflowRuns', name, filters],
    queryFn: ({ signal }) =>
      ask<Page<Run>>(`/workflows/${encodeURIComponent(name)}/runs${queryText(filters)}`, signal),
    placeholderData: keepOf(name),
    meta: { touchedBy: isOfRuns },
  });

/** All that is known of one attempt of a step. `rootId`: whose events concern it; undefined: those of all. */
export const attemptQuery = (id: string, rootId?: string) =>
  queryOptions({
    queryKey: ['attempt', id],
    queryFn: ({ signal }) => ask<StepAttemptView>(`/executions/${encodeURIComponent(id)}/attempt`, signal),
    meta: { touchedBy: (event) => event.rootId !== undefined && event.rootId === (rootId ?? event.rootId) },
  });

/** The agents that there are; `check`: also what a look at each program found, which takes seconds. */
export const agentsQuery = (check: boolean) =>
  queryOptions({
    queryKey: ['agents', check],
    queryFn: ({ signal }) => ask<Page<AgentView>>(`/agents?check=${check}`, signal),
    staleTime: 60_000,
  });
