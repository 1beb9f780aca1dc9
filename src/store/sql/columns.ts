import type { Execution } from '../../ledger/execution.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Dispatch, Notification } from '../../ledger/notification.ts';
import type { Input, Run, Session } from '../../ledger/session.ts';
import type { Steer, Turn } from '../../ledger/turn.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { Param } from './connection.ts';
import type { Cell } from './connection.ts';

/** How a field is stored. `json` is text; null stays NULL and costs nothing. */
type ColumnType = 'text' | 'integer' | 'flag' | 'json';

/** Where a field of a row is stored. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** The value of most rows: an insert binds the column only where it differs. */
  readonly usual: Param | undefined;
  /** Whether the schema has the usual value as the default, so that the column need not be named either. */
  readonly isDefault: boolean;
}

/** A column for each field of a row: a field that is forgotten does not compile. */
export type Columns<Row> = { readonly [Field in keyof Row]-?: Column };

/** A column of a type; an insert binds it only where it differs from `usual`. */
export const column =
  (type: ColumnType, usual?: Param, isDefault = true) =>
  (name: string): Column => ({ name, type, usual, isDefault });
/** What is nearly always another value. */
export const text = column('text');
export const integer = column('integer');
const flag = column('flag');
export const json = column('json');
/** What is nearly always null. */
export const seldom = {
  text: column('text', null),
  integer: column('integer', null),
  json: column('json', null),
};
/** Text that is nearly always the same, written into the statement. */
const mostly = (value: string): ((name: string) => Column) => column('text', value, false);

export const executionColumns: Columns<Execution> = {
  id: text('id'),
  rootId: text('root_id'),
  parentId: text('parent_id'),
  parentSource: text('parent_source'),
  depth: integer('depth'),
  kind: text('kind'),
  name: text('name'),
  key: seldom.text('key'),
  attempt: column('integer', 1)('attempt'),
  project: mostly('default')('project'),
  runsIn: seldom.text('runs_in'),
  reportsTo: seldom.text('reports_to'),
  mode: mostly('none')('mode'),
  cancelledBy: seldom.text('cancelled_by'),
  runId: seldom.text('run_id'),
  runIndex: seldom.integer('run_index'),
  correlationId: seldom.text('correlation_id'),
  join: column('text', 'own')('join_mode'),
  check: seldom.text('check_command'),
  background: column('text', 'wait')('background'),
  timeoutMs: seldom.integer('timeout_ms'),
  budget: seldom.json('budget'),
  wakeOnClose: seldom.text('wake_on_close'),
  createdAt: integer('created_at'),
  state: mostly('running')('state'),
  waiting: seldom.json('waiting'),
  open: column('integer', 0)('open'),
  closed: column('flag', false)('closed'),
  drain: seldom.integer('drain'),
  verdict: seldom.text('verdict'),
  failures: column('integer', 0)('failures'),
  outcome: seldom.text('outcome'),
  outcomeCode: seldom.text('outcome_code'),
  cancelRequested: seldom.json('cancel_requested'),
  detachedAt: seldom.integer('detached_at'),
  deadlineAt: seldom.integer('deadline_at'),
  clockedUntil: seldom.integer('clocked_until'),
  startedAt: integer('started_at'),
  endedAt: seldom.integer('ended_at'),
  closedAt: seldom.integer('closed_at'),
  error: seldom.json('error'),
  result: seldom.text('result'),
  answerPlace: seldom.integer('answer_place'),
  usage: seldom.json('usage'),
  spent: seldom.json('spent'),
  nativeId: seldom.text('native_id'),
};

export const noticeColumns: Columns<Notice> = {
  id: text('id'),
  executionId: text('execution_id'),
  rootId: text('root_id'),
  countedOn: text('counted_on'),
  sessionId: text('session_id'),
  mode: mostly('each')('mode'),
  state: mostly('owed')('state'),
  attempt: integer('attempt'),
  epoch: integer('epoch'),
  steerId: seldom.text('steer_id'),
  continuationId: seldom.text('continuation_id'),
  reason: seldom.text('reason'),
  actor: seldom.json('actor'),
  notBefore: integer('not_before'),
  owedAt: integer('owed_at'),
  handedAt: seldom.integer('handed_at'),
  handledAt: seldom.integer('handled_at'),
};

export const sessionColumns: Columns<Session> = {
  id: text('id'),
  project: text('project'),
  agent: text('agent'),
  cwd: text('cwd'),
  title: seldom.text('title'),
  state: text('state'),
  hostedBy: seldom.text('hosted_by'),
  delivery: column('text', 'auto')('delivery'),
  laneTurn: seldom.text('lane_turn'),
  wakeTurn: seldom.text('wake_turn'),
  lastTurn: seldom.text('last_turn'),
  endedTurns: column('integer', 0)('ended_turns'),
  epoch: integer('epoch'),
  node: text('node'),
  nativeId: seldom.text('native_id'),
  position: integer('position'),
  limit: seldom.json('usage_limit'),
  createdAt: integer('created_at'),
  lastActivityAt: integer('last_activity_at'),
};

export const turnColumns: Columns<Turn> = {
  id: text('id'),
  sessionId: text('session_id'),
  epoch: integer('epoch'),
  node: text('node'),
  cause: text('cause'),
  state: text('state'),
  text: text('text'),
  nativeTurnId: seldom.text('native_turn_id'),
  position: integer('position'),
  writtenAt: seldom.integer('written_at'),
  createdAt: integer('created_at'),
  startedAt: seldom.integer('started_at'),
  endedAt: seldom.integer('ended_at'),
  status: seldom.text('status'),
  usage: seldom.json('usage'),
};

export const inputColumns: Columns<Input> = {
  executionId: text('execution_id'),
  sessionId: text('session_id'),
  position: integer('position'),
  text: text('text'),
  wantsSteer: flag('wants_steer'),
  steerId: seldom.text('steer_id'),
};

export const steerColumns: Columns<Steer> = {
  id: text('id'),
  sessionId: text('session_id'),
  turnId: text('turn_id'),
  messageId: seldom.text('message_id'),
  text: text('text'),
  state: text('state'),
  createdAt: integer('created_at'),
  endedAt: seldom.integer('ended_at'),
};

export const runColumns: Columns<Run> = {
  id: text('id'),
  project: text('project'),
  name: text('name'),
  sessionId: text('session_id'),
  ownerId: seldom.text('owner_id'),
  plan: json('plan'),
  todo: seldom.json('todo'),
  rowCount: seldom.integer('row_count'),
  budget: seldom.json('budget'),
  cursor: integer('cursor'),
  currentId: seldom.text('current_id'),
  tries: integer('tries'),
  repairs: column('integer', 0)('repairs'),
  retryAt: seldom.integer('retry_at'),
  again: seldom.json('done_again'),
  begunBy: seldom.text('begun_by'),
  moves: integer('moves'),
  state: text('state'),
  outcome: seldom.text('outcome'),
  outcomeCode: seldom.text('outcome_code'),
  cancelRequested: flag('cancel_requested'),
  scheduleId: seldom.text('schedule_id'),
  occurrenceId: seldom.text('occurrence_id'),
  instant: seldom.integer('instant'),
  createdAt: integer('created_at'),
  endedAt: seldom.integer('ended_at'),
};

export const scheduleColumns: Columns<Schedule> = {
  id: text('id'),
  project: text('project'),
  name: text('name'),
  origin: text('origin'),
  definition: json('definition'),
  revision: integer('revision'),
  dependsOn: seldom.text('depends_on'),
  pausedAt: seldom.integer('paused_at'),
  pauseReason: seldom.text('pause_reason'),
  cursor: integer('cursor'),
  sessionId: seldom.text('session_id'),
  removedAt: seldom.integer('removed_at'),
  createdAt: integer('created_at'),
  updatedAt: integer('updated_at'),
};

export const occurrenceColumns: Columns<Occurrence> = {
  id: text('id'),
  scheduleId: text('schedule_id'),
  instant: integer('instant'),
  trigger: mostly('time')('cause'),
  state: mostly('due')('state'),
  reason: seldom.text('reason'),
  runId: seldom.text('run_id'),
  revision: integer('revision'),
  inTurn: column('flag', false)('in_turn'),
  until: seldom.integer('deadline_at'),
  createdAt: integer('created_at'),
  decidedAt: seldom.integer('decided_at'),
};

export const notificationColumns: Columns<Notification> = {
  id: text('id'),
  transition: text('transition'),
  subject: text('subject'),
  project: seldom.text('project'),
  name: seldom.text('name'),
  code: seldom.text('code'),
  text: seldom.text('text'),
  rootId: seldom.text('root_id'),
  sessionId: seldom.text('session_id'),
  runId: seldom.text('run_id'),
  scheduleId: seldom.text('schedule_id'),
  to: seldom.json('targets'),
  state: text('state'),
  at: integer('at'),
};

export const dispatchColumns: Columns<Dispatch> = {
  id: text('id'),
  notificationId: text('notification_id'),
  target: text('target'),
  state: text('state'),
  leadId: seldom.text('lead_id'),
  attempt: integer('attempt'),
  notBefore: integer('not_before'),
  error: seldom.json('error'),
  owedAt: integer('owed_at'),
  endedAt: seldom.integer('ended_at'),
};

export const admissionColumns: Columns<Admission> = {
  sessionId: text('session_id'),
  agent: text('agent'),
  project: text('project'),
  place: integer('place'),
  since: integer('since'),
  calledAt: seldom.integer('called_at'),
};

export const workspaceColumns: Columns<Workspace> = {
  runId: text('run_id'),
  how: text('how'),
  from: text('from_path'),
  path: text('path'),
  lock: seldom.text('lock_path'),
  checkout: seldom.json('checkout'),
  place: seldom.integer('place'),
  isHeld: flag('is_held'),
  left: seldom.json('left_behind'),
};

/** A field's value as a parameter. */
export function encode(column: Column, value: unknown): Param {
  if (value === null || value === undefined) return null;
  return column.type === 'json' ? JSON.stringify(value) : (value as Param);
}

/** A field's value from a cell. */
export function decode(column: Column, cell: Cell): unknown {
  if (cell === null) return null;
  if (column.type === 'flag') return cell === 1;
  return column.type === 'json' ? JSON.parse(String(cell)) : cell;
}
