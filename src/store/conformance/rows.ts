import type {
  ExecutionId,
  NoticeId,
  OccurrenceId,
  RunId,
  ScheduleId,
  SessionId,
  SteerId,
  TurnId,
} from '../../base/ids.ts';
import type { Rule } from '../../ledger/decision.ts';
import type { Effect } from '../../ledger/effects.ts';
import type { Execution, SettledState } from '../../ledger/execution.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Dispatch, Notification } from '../../ledger/notification.ts';
import { newExecution } from '../../ledger/registration.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import { newOccurrence } from '../../ledger/occurrence.ts';
import type { ScheduleDefinition } from '../../ledger/schedule-definition.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import { newSchedule } from '../../ledger/schedule.ts';
import type { Input, Run, Session } from '../../ledger/session.ts';
import type { Steer, Turn } from '../../ledger/turn.ts';
import type { SettleEffect } from '../apply.ts';

/** Where tests begin: 2026-01-01, UTC. */
export const start = Date.UTC(2026, 0, 1);

/** Ids of the right form, by number, in the order of their numbers. */
export const id = {
  execution: (n: number) => idOf('exe', n) as ExecutionId,
  session: (n: number) => idOf('ses', n) as SessionId,
  turn: (n: number) => idOf('trn', n) as TurnId,
  notice: (n: number) => idOf('ntc', n) as NoticeId,
  steer: (n: number) => idOf('str', n) as SteerId,
  run: (n: number) => idOf('run', n) as RunId,
  schedule: (n: number) => idOf('sch', n) as ScheduleId,
  occurrence: (n: number) => idOf('occ', n) as OccurrenceId,
};

function idOf(prefix: string, n: number): string {
  return `${prefix}_${String(n).padStart(26, '0')}`;
}

/** A rule that decides these effects, whatever the state. */
export function deciding<T>(effects: readonly Effect[], value: T): () => Rule<T>;
export function deciding(effects: readonly Effect[]): () => Rule<undefined>;
export function deciding(effects: readonly Effect[], value?: unknown): () => Rule<unknown> {
  // biome-ignore lint/correctness/useYield: it asks nothing.
  return function* () {
    return { ok: true, effects, value };
  };
}

/** A root, or a child of `parent`, as a rule would register it. It is not counted: add `open` for that. */
export function execution(
  n: number,
  parent: Execution | null = null,
  set: Partial<Execution> = {},
): Execution {
  return newExecution(start, parent, parent ? 'explicit' : 'none', {
    id: id.execution(n),
    kind: 'outside',
    name: `execution ${n}`,
    ...set,
  });
}

/** The effects that register a row and count it on its parent and its holders. */
export function registering(row: Execution, holders: readonly ExecutionId[] = []): Effect[] {
  const counted = row.detachedAt === null;
  return [
    { do: 'insertExecution', row },
    ...holders.map((holderId): Effect => ({ do: 'insertHold', executionId: row.id, holderId })),
    ...(row.parentId !== null && counted ? [opening(row.parentId, 1)] : []),
    ...(counted ? holders.map((holder) => opening(holder, 1)) : []),
  ];
}

/** An `open` effect. */
export function opening(of: ExecutionId, by: number): Effect {
  return { do: 'open', id: of, by };
}

/** A `settle` effect. */
export function settling(n: number, set: Partial<SettleEffect> = {}): Effect {
  const state: SettledState = 'succeeded';
  return {
    do: 'settle',
    id: id.execution(n),
    state,
    at: start,
    openBy: 0,
    error: null,
    result: null,
    answerPlace: null,
    usage: null,
    ...set,
  };
}

/** A free session. */
export function session(n: number, set: Partial<Session> = {}): Session {
  return {
    id: id.session(n),
    project: 'default',
    agent: 'demo',
    cwd: '/work',
    title: null,
    state: 'live',
    hostedBy: null,
    delivery: 'auto',
    laneTurn: null,
    wakeTurn: null,
    lastTurn: null,
    endedTurns: 0,
    epoch: 0,
    node: 'local',
    nativeId: null,
    position: 0,
    limit: null,
    createdAt: start,
    lastActivityAt: start,
    ...set,
  };
}

/** A turn that has not begun. */
export function turn(n: number, sessionId: SessionId, set: Partial<Turn> = {}): Turn {
  return {
    id: id.turn(n),
    sessionId,
    epoch: 0,
    node: 'local',
    cause: 'message',
    state: 'starting',
    text: `text ${n}`,
    nativeTurnId: null,
    position: 0,
    writtenAt: null,
    createdAt: start,
    startedAt: null,
    endedAt: null,
    status: null,
    usage: null,
    ...set,
  };
}

/** An owed notice of a child, counted on its parent. */
export function notice(n: number, of: Execution, sessionId: SessionId, set: Partial<Notice> = {}): Notice {
  return {
    id: id.notice(n),
    executionId: of.id,
    rootId: of.rootId,
    countedOn: of.parentId ?? of.id,
    sessionId,
    mode: 'each',
    state: 'owed',
    attempt: 0,
    epoch: 0,
    steerId: null,
    continuationId: null,
    reason: null,
    actor: null,
    notBefore: start,
    owedAt: start,
    handedAt: null,
    handledAt: null,
    ...set,
  };
}

/** A queued text. */
export function input(
  of: Execution,
  sessionId: SessionId,
  position: number,
  set: Partial<Input> = {},
): Input {
  return { executionId: of.id, sessionId, position, text: of.name, wantsSteer: false, steerId: null, ...set };
}

/** A claimed steer. */
export function steer(n: number, sessionId: SessionId, turnId: TurnId, set: Partial<Steer> = {}): Steer {
  return {
    id: id.steer(n),
    sessionId,
    turnId,
    messageId: null,
    text: `steer ${n}`,
    state: 'claimed',
    createdAt: start,
    endedAt: null,
    ...set,
  };
}

/** A running run of two messages. */
export function run(n: number, sessionId: SessionId, set: Partial<Run> = {}): Run {
  const message = {
    timeoutMs: 1000,
    onFailure: 'stop',
    join: 'own',
    check: null,
    background: 'wait',
  } as const;
  return {
    id: id.run(n),
    project: 'default',
    name: `run ${n}`,
    sessionId,
    ownerId: null,
    plan: [
      { ...message, text: 'first' },
      { ...message, text: 'second' },
    ],
    todo: null,
    rowCount: null,
    budget: null,
    cursor: 0,
    currentId: null,
    tries: 0,
    repairs: 0,
    retryAt: null,
    again: null,
    begunBy: null,
    moves: 0,
    state: 'running',
    outcome: null,
    outcomeCode: null,
    cancelRequested: false,
    scheduleId: null,
    occurrenceId: null,
    instant: null,
    createdAt: start,
    endedAt: null,
    ...set,
  };
}

/** What a schedule says that is due every hour. */
export const hourly: ScheduleDefinition = {
  when: { cron: '0 * * * *', timezone: 'UTC' },
  timezone: 'UTC',
  agent: 'demo',
  cwd: '/work',
  session: { mode: 'fresh' },
  messages: [],
  overlap: 'skip',
  catchUp: { windowMs: 86_400_000, policy: 'latest' },
  notify: [],
  labels: [],
};

/** An active schedule. */
export function schedule(n: number, set: Partial<Schedule> = {}): Schedule {
  const made = newSchedule({
    id: id.schedule(n),
    project: 'default',
    name: `schedule ${n}`,
    origin: 'api',
    definition: hourly,
    createdAt: start,
  });
  return { ...made, ...set };
}

/** A due occurrence, `n` hours after the start. */
export function occurrence(n: number, scheduleId: ScheduleId, set: Partial<Occurrence> = {}): Occurrence {
  return newOccurrence({
    id: id.occurrence(n),
    scheduleId,
    instant: start + n * 3_600_000,
    trigger: 'time',
    revision: 1,
    createdAt: start,
    ...set,
  });
}

/** An owed notification about nothing in particular. */
export function notification(n: number, set: Partial<Notification> = {}): Notification {
  const transition = set.transition ?? 'missed';
  return {
    id: `${transition}:subject${n}`,
    transition,
    subject: `subject${n}`,
    project: null,
    name: null,
    code: null,
    text: null,
    rootId: null,
    sessionId: null,
    runId: null,
    scheduleId: null,
    to: null,
    state: 'owed',
    at: start,
    ...set,
  };
}

/** An owed dispatch. */
export function dispatch(of: Notification, target: string, set: Partial<Dispatch> = {}): Dispatch {
  return {
    id: `${target}:${of.id}`,
    notificationId: of.id,
    target,
    state: 'owed',
    leadId: null,
    attempt: 0,
    notBefore: start,
    error: null,
    owedAt: start,
    endedAt: null,
    ...set,
  };
}
