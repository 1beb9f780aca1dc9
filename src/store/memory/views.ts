import { isSettled } from '../../ledger/execution.ts';
import { isPending } from '../../ledger/notice.ts';
import type { Notification } from '../../ledger/notification.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import { stateOf } from '../../ledger/schedule.ts';
import { cursorOf, placeOf } from '../schedule-cursor.ts';
import type {
  EventLog,
  IdOf,
  LiveRoot,
  NotificationFilter,
  NotificationView,
  OccurrenceFilter,
  Page,
  Paging,
  RecoveryViews,
  ScheduleFilter,
  Views,
} from '../views.ts';
import { notificationCursor, notificationPlace } from '../views.ts';
import { answerFrom } from './answer.ts';
import { deliveryOf } from './turn-answers.ts';
import { graphOf, runOf } from './graph-view.ts';
import type { MemoryState } from './state.ts';
import { openTreeOf, treeOf } from './tree-view.ts';

type Reading = <T>(query: () => T) => Promise<T>;

/** The views on rows in memory. */
export function memoryViews(state: MemoryState, read: Reading): Views {
  return {
    executions: (filter) =>
      read(() =>
        page([...state.rows('execution').values()], filter, (row) => {
          const { state: wanted, kind, sessionId, rootId, project, root, live } = filter;
          return (
            fits(wanted, row.state) &&
            fits(kind, row.kind) &&
            fits(sessionId, row.runsIn) &&
            fits(rootId, row.rootId) &&
            fits(project, row.project) &&
            fits(root, row.parentId === null) &&
            fits(live, !row.closed)
          );
        }),
      ),
    tree: (rootId, { limit }) => read(() => treeOf(state, rootId, limit)),
    openTree: (rootId, { limit }) => read(() => openTreeOf(state, rootId, limit)),
    notices: (filter) =>
      read(() =>
        page(
          [...state.rows('notice').values()],
          filter,
          (row) => fits(filter.sessionId, row.sessionId) && fits(filter.state, row.state),
        ),
      ),
    sessions: (filter) =>
      read(() =>
        page(
          [...state.rows('session').values()],
          filter,
          (row) => fits(filter.project, row.project) && fits(filter.state, row.state),
        ),
      ),
    inputsOf: (sessionId) => read(() => answerFrom(state, { ask: 'inputs', args: [sessionId] }) as never),
    deliveries: (ids) => read(() => ids.map((id) => deliveryOf(state, id))),
    liveRoots: (place) => read(() => liveRootsOf(state, place)),
    runs: (filter) =>
      read(() =>
        page(
          [...state.rows('run').values()],
          filter,
          (row) =>
            fits(filter.project, row.project) &&
            fits(filter.state, row.state) &&
            fits(filter.sessionId, row.sessionId) &&
            fits(filter.scheduleId, row.scheduleId) &&
            fits(filter.workflow?.name, row.plan[0]?.workflow?.workflow) &&
            fits(filter.workflow?.project, row.plan[0]?.workflow?.graph.project),
        ),
      ),
    run: (id, places) => read(() => runOf(state, id, places)),
    graph: (id, page) => read(() => graphOf(state, id, page)),
    schedules: (filter) => read(() => schedulesOf(state, filter)),
    occurrences: (filter) => read(() => occurrencesOf(state, filter)),
    notifications: (filter) => read(() => notificationsOf(state, filter)),
    resolvePrefix: <Kind extends keyof IdOf>(kind: Kind, prefix: string, limit: number) =>
      read(() => {
        const ids = [...state.rows(kind).keys()].filter((id) => id.startsWith(prefix));
        return ids.sort().slice(0, limit) as IdOf[Kind][];
      }),
  };
}

function notificationsOf(state: MemoryState, filter: NotificationFilter): Page<NotificationView> {
  const place = notificationPlace(filter.cursor);
  const isBehind = ({ at, id }: Notification): boolean => at < place.at || (at === place.at && id < place.id);
  const views = [...state.rows('notification').values()]
    .filter(
      (row) => isBehind(row) && fits(filter.transition, row.transition) && fits(filter.project, row.project),
    )
    .sort((a, b) => b.at - a.at || -byId(a, b))
    .map((notification) => ({
      notification,
      dispatches: [...state.rows('dispatch').values()]
        .filter((row) => row.notificationId === notification.id)
        .sort(byId),
    }))
    .filter(
      ({ dispatches }) => filter.state === undefined || dispatches.some((row) => row.state === filter.state),
    );
  const items = views.slice(0, filter.limit);
  const last = items.at(-1);
  return views.length > filter.limit && last
    ? { items, next: notificationCursor(last.notification) }
    : { items };
}

function fits<Value>(wanted: Value | undefined, is: Value): boolean {
  return wanted === undefined || wanted === is;
}

function page<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
  matches: (row: Row) => boolean,
): Page<Row> {
  const newest = rows.filter((row) => (cursor === undefined || row.id < cursor) && matches(row));
  newest.sort((a, b) => (a.id < b.id ? 1 : -1));
  const items = newest.slice(0, limit);
  const last = items.at(-1);
  return newest.length > limit && last ? { items, next: last.id } : { items };
}

function schedulesOf(state: MemoryState, filter: ScheduleFilter): Page<Schedule> {
  const { project, name, origin, label, state: wanted, cursor, limit } = filter;
  const place = placeOf(cursor);
  const found = [...state.rows('schedule').values()]
    .filter((row) => {
      const isIt = wanted === undefined ? row.removedAt === null : stateOf(row) === wanted;
      const isLabelled = label === undefined || row.definition.labels.includes(label);
      const isNamed = fits(project, row.project) && fits(name, row.name) && fits(origin, row.origin);
      return isIt && isLabelled && isNamed && byName(placeOf(cursorOf(row)), place) > 0;
    })
    .sort((a, b) => byName(placeOf(cursorOf(a)), placeOf(cursorOf(b))));
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last ? { items, next: cursorOf(last) } : { items };
}

function byName(a: readonly string[], b: readonly string[]): number {
  const i = a.findIndex((part, at) => part !== b[at]);
  return i < 0 ? 0 : String(a[i]) < String(b[i]) ? -1 : 1;
}

function occurrencesOf(state: MemoryState, filter: OccurrenceFilter): Page<Occurrence> {
  const { scheduleId, cursor, limit } = filter;
  const before = cursor === undefined ? Infinity : Number(cursor);
  const found = [...state.rows('occurrence').values()]
    .filter((row) => row.scheduleId === scheduleId && row.instant < before && fits(filter.state, row.state))
    .sort((a, b) => b.instant - a.instant);
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return found.length > limit && last ? { items, next: String(last.instant) } : { items };
}

function liveRootsOf(state: MemoryState, { cursor = '', limit }: Paging): Page<LiveRoot> {
  const unclosed = [...state.rows('execution').values()].filter((row) => !row.closed).sort(byId);
  const behind = unclosed.filter((row) => row.parentId === null && row.id > cursor);
  const roots = behind.slice(0, limit);
  const last = roots.at(-1);
  const items = roots.map((root): LiveRoot => {
    const below = new Set<string>([root.id]);
    // Parents are registered before their children, but ids made in one millisecond elsewhere need not be in that order.
    for (let size = 0; size !== below.size; ) {
      size = below.size;
      for (const row of unclosed) if (row.parentId !== null && below.has(row.parentId)) below.add(row.id);
    }
    const notices = [...state.rows('notice').values()];
    return {
      root,
      openExecutions: below.size - 1,
      openNotices: notices.filter((row) => isPending(row.state) && below.has(row.countedOn)).length,
    };
  });
  return behind.length > limit && last ? { items, next: last.id } : { items };
}

/** What a starting server reads, from rows in memory. */
export function memoryRecoveryViews(state: MemoryState, read: Reading): RecoveryViews {
  return {
    liveSessions: () =>
      read(() => {
        const ids = new Set<string>();
        for (const input of state.rows('input').values()) ids.add(input.sessionId);
        for (const notice of state.rows('notice').values())
          if (isPending(notice.state)) ids.add(notice.sessionId);
        for (const steer of state.rows('steer').values())
          if (steer.endedAt === null) ids.add(steer.sessionId);
        for (const row of state.rows('execution').values())
          if (row.kind === 'task' && row.runsIn !== null && !isSettled(row.state)) ids.add(row.runsIn);
        return [...state.rows('session').values()]
          .filter((row) => row.state === 'live' || row.laneTurn || row.wakeTurn || ids.has(row.id))
          .sort(byId);
      }),
    schedules: () =>
      read(() =>
        [...state.rows('schedule').values()]
          .filter((row) => row.removedAt === null)
          .sort(byId)
          .map((row) => row.id),
      ),
    claimedOccurrences: () =>
      read(() => [...state.rows('occurrence').values()].filter((row) => row.state === 'claimed').sort(byId)),
    openScripts: () =>
      read(() =>
        [...state.rows('graphStep').values()]
          .filter((row) => row.state === 'due' || row.state === 'running')
          .filter((row) => row.plan.does.type === 'script')
          .map((row) => row.ref)
          .sort(),
      ),
    runningRuns: () =>
      read(() => [...state.rows('run').values()].filter((run) => run.state === 'running').sort(byId)),
  };
}

/** The committed events, from memory. */
export function memoryEventLog(state: MemoryState, read: Reading): EventLog {
  return {
    databaseId: state.databaseId,
    eventsSince: (sequence, filter, limit) =>
      read(() => {
        const later = state.events.filter((event) => event.sequence > sequence);
        const found = later.filter(
          (event) => fits(filter.rootId, event.rootId) && fits(filter.sessionId, event.sessionId),
        );
        const events = found.slice(0, limit);
        const last = events.at(-1)?.sequence;
        if (events.length === limit && last !== undefined) return { events, through: last, isEnd: false };
        return { events, through: later.at(-1)?.sequence ?? sequence, isEnd: true };
      }),
    lastSequence: () => read(() => state.events.at(-1)?.sequence ?? 0),
  };
}

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
