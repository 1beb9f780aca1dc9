/** Text compares byte by byte, as ids must, whatever the database's own collation is. */
const text = 'TEXT COLLATE "C"';
const flag = (column: string, other = ''): string =>
  `${column} SMALLINT NOT NULL ${other} CHECK (${column} IN (0, 1))`;
const oneOf = (column: string, ...values: readonly string[]): string =>
  `CHECK (${column} IN (${values.map((value) => `'${value}'`).join(', ')}))`;

/**
 * The ledger. What SQL can say of its invariants is said here, so that no bug of a rule or of an interpreter can be committed.
 * Numbers of JavaScript are BIGINT, flags 0 and 1, as in the other database, so that statements can be shared. References stand
 * apart (`0002`): each is checked when the writes of a decision are done.
 * What a statement must find inside of a document has a column of its own beside it (`step_name`, `workflow`, `labels`): agents
 * write texts that are JSON and that PostgreSQL cannot take apart (NUL, half of a pair of surrogates).
 */
export const ledgerSchema = `
CREATE TABLE meta (
  key ${text} PRIMARY KEY,
  value ${text} NOT NULL
);

CREATE TABLE sessions (
  id ${text} PRIMARY KEY,
  project ${text} NOT NULL,
  agent ${text} NOT NULL,
  cwd ${text} NOT NULL,
  title ${text},
  state ${text} NOT NULL ${oneOf('state', 'cold', 'live', 'stopped')},
  hosted_by ${text},
  delivery ${text} NOT NULL ${oneOf('delivery', 'auto', 'controller')},
  lane_turn ${text},
  wake_turn ${text},
  last_turn ${text},
  epoch BIGINT NOT NULL CHECK (epoch >= 0),
  node ${text} NOT NULL,
  native_id ${text},
  position BIGINT NOT NULL,
  usage_limit ${text},
  created_at BIGINT NOT NULL,
  last_activity_at BIGINT NOT NULL,
  CHECK (lane_turn IS NULL OR lane_turn IS DISTINCT FROM wake_turn)
);
CREATE INDEX sessions_live ON sessions (id) WHERE state = 'live';
CREATE INDEX sessions_lane ON sessions (lane_turn) WHERE lane_turn IS NOT NULL;
CREATE INDEX sessions_wake ON sessions (wake_turn) WHERE wake_turn IS NOT NULL;
CREATE INDEX sessions_limited ON sessions (agent, id) WHERE usage_limit IS NOT NULL;

CREATE TABLE runs (
  id ${text} PRIMARY KEY,
  project ${text} NOT NULL,
  name ${text} NOT NULL,
  session_id ${text} CHECK (session_id IS NOT NULL OR owner_id IS NULL),
  owner_id ${text},
  plan ${text} NOT NULL,
  workflow ${text},
  todo ${text} CHECK (todo IS NULL OR owner_id IS NOT NULL),
  row_count BIGINT CHECK (row_count >= 0),
  budget ${text},
  cursor BIGINT NOT NULL CHECK (cursor >= 0),
  current_id ${text},
  tries BIGINT NOT NULL CHECK (tries >= 0),
  repairs BIGINT NOT NULL CHECK (repairs >= 0 AND repairs <= tries),
  retry_at BIGINT CHECK (retry_at IS NULL OR (state = 'running' AND current_id IS NOT NULL)),
  done_again ${text} CHECK (done_again::json IS NOT NULL OR done_again IS NULL),
  begun_by ${text},
  moves BIGINT NOT NULL CHECK (moves >= 0),
  state ${text} NOT NULL ${oneOf('state', 'running', 'ended')},
  outcome ${text} ${oneOf('outcome', 'succeeded', 'failed', 'cancelled')},
  outcome_code ${text},
  ${flag('cancel_requested')},
  schedule_id ${text},
  occurrence_id ${text},
  instant BIGINT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((schedule_id IS NULL) = (instant IS NULL) AND (occurrence_id IS NULL) = (instant IS NULL))
);
CREATE INDEX runs_running ON runs (session_id, id) WHERE state = 'running';
CREATE UNIQUE INDEX runs_owner ON runs (owner_id) WHERE owner_id IS NOT NULL;
CREATE UNIQUE INDEX runs_occurrence ON runs (occurrence_id) WHERE occurrence_id IS NOT NULL;
CREATE INDEX runs_schedule ON runs (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (schedule_id, ended_at, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_workflow ON runs (workflow, id) WHERE workflow IS NOT NULL;

CREATE TABLE run_rows (
  run_id ${text} NOT NULL,
  position BIGINT NOT NULL CHECK (position >= 0),
  row ${text} NOT NULL,
  PRIMARY KEY (run_id, position)
);

CREATE TABLE executions (
  id ${text} PRIMARY KEY,
  root_id ${text} NOT NULL,
  parent_id ${text},
  parent_source ${text} NOT NULL ${oneOf('parent_source', 'explicit', 'turn', 'task', 'none')},
  depth BIGINT NOT NULL,
  kind ${text} NOT NULL ${oneOf('kind', 'message', 'continuation', 'workflow', 'evaluation', 'step', 'agent', 'review', 'task', 'service', 'late', 'outside')},
  name ${text} NOT NULL,
  key ${text},
  attempt BIGINT NOT NULL CHECK (attempt >= 1),
  project ${text} NOT NULL,
  runs_in ${text},
  reports_to ${text},
  mode ${text} NOT NULL ${oneOf('mode', 'each', 'batch', 'none')},
  cancelled_by ${text},
  run_id ${text},
  run_index BIGINT,
  correlation_id ${text},
  join_mode ${text} NOT NULL ${oneOf('join_mode', 'own', 'all')},
  check_command ${text},
  background ${text} NOT NULL ${oneOf('background', 'wait', 'cancel', 'detach')},
  timeout_ms BIGINT,
  budget ${text},
  wake_on_close ${text},
  created_at BIGINT NOT NULL,
  state ${text} NOT NULL ${oneOf('state', 'queued', 'running', 'succeeded', 'failed', 'cancelled', 'lost')},
  waiting ${text},
  open BIGINT NOT NULL CHECK (open >= 0),
  ${flag('closed')},
  drain BIGINT CHECK (drain >= 0),
  verdict ${text},
  failures BIGINT NOT NULL CHECK (failures >= 0),
  outcome ${text} ${oneOf('outcome', 'succeeded', 'failed', 'cancelled')},
  outcome_code ${text},
  cancel_requested ${text},
  detached_at BIGINT,
  deadline_at BIGINT,
  started_at BIGINT,
  ended_at BIGINT,
  closed_at BIGINT,
  error ${text},
  result ${text},
  usage ${text},
  spent ${text},
  native_id ${text},
  CHECK (CASE WHEN parent_id IS NULL THEN depth = 0 AND root_id = id ELSE depth > 0 AND root_id <> id END),
  CHECK (mode = 'none' OR reports_to IS NOT NULL),
  CHECK ((run_id IS NULL) = (run_index IS NULL)),
  CHECK ((closed = 1) = (open = 0 AND state NOT IN ('queued', 'running'))),
  CHECK ((closed = 1) = (closed_at IS NOT NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL)),
  CHECK (waiting IS NULL OR state IN ('queued', 'running')),
  CHECK ((outcome IS NOT NULL) = (closed = 1 AND parent_id IS NULL))
);
CREATE INDEX executions_root ON executions (root_id, id);
CREATE INDEX executions_unclosed ON executions (parent_id, id) WHERE closed = 0;
CREATE INDEX executions_session ON executions (runs_in, closed, id) WHERE runs_in IS NOT NULL;
CREATE INDEX executions_owned ON executions (cancelled_by, id)
  WHERE closed = 0 AND cancelled_by IS NOT NULL AND cancelled_by IS DISTINCT FROM runs_in;
CREATE UNIQUE INDEX executions_key ON executions (parent_id, key, attempt) WHERE key IS NOT NULL;
CREATE INDEX executions_root_key ON executions (root_id, key, id) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX executions_run ON executions (run_id, run_index, attempt) WHERE run_id IS NOT NULL;
CREATE INDEX executions_live_task ON executions (runs_in, id)
  WHERE kind = 'task' AND state IN ('queued', 'running');
CREATE INDEX executions_task_name ON executions (runs_in, native_id, id) WHERE kind = 'task';
CREATE INDEX executions_waiting ON executions (root_id, id) WHERE waiting IS NOT NULL;
CREATE INDEX executions_closed_workflows ON executions (reports_to, closed_at, id)
  WHERE closed = 1 AND kind = 'workflow' AND reports_to IS NOT NULL;

CREATE TABLE holds (
  execution_id ${text} NOT NULL,
  holder_id ${text} NOT NULL,
  PRIMARY KEY (execution_id, holder_id),
  CHECK (execution_id <> holder_id)
);
CREATE INDEX holds_holder ON holds (holder_id, execution_id);

CREATE TABLE turns (
  id ${text} PRIMARY KEY,
  session_id ${text} NOT NULL,
  epoch BIGINT NOT NULL CHECK (epoch >= 0),
  node ${text} NOT NULL,
  cause ${text} NOT NULL ${oneOf('cause', 'message', 'notices', 'wake', 'late')},
  state ${text} NOT NULL ${oneOf('state', 'starting', 'running', 'waiting', 'ended')},
  text ${text} NOT NULL,
  native_turn_id ${text},
  position BIGINT NOT NULL,
  written_at BIGINT,
  created_at BIGINT NOT NULL,
  started_at BIGINT,
  ended_at BIGINT,
  status ${text} ${oneOf('status', 'succeeded', 'failed', 'interrupted', 'refused', 'joined', 'lost')},
  usage ${text},
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (status IS NOT NULL))
);
CREATE UNIQUE INDEX turns_starting ON turns (session_id) WHERE state = 'starting';

CREATE TABLE turn_owners (
  turn_id ${text} NOT NULL,
  position BIGINT NOT NULL,
  execution_id ${text} NOT NULL,
  PRIMARY KEY (turn_id, position, execution_id)
);
CREATE UNIQUE INDEX turn_owners_execution ON turn_owners (execution_id, turn_id);

CREATE TABLE steers (
  id ${text} PRIMARY KEY,
  session_id ${text} NOT NULL,
  turn_id ${text} NOT NULL,
  message_id ${text},
  text ${text} NOT NULL,
  state ${text} NOT NULL ${oneOf('state', 'claimed', 'written', 'taken', 'refused', 'withdrawn')},
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  CHECK ((state IN ('claimed', 'written')) = (ended_at IS NULL))
);
CREATE INDEX steers_open ON steers (session_id, id) WHERE state IN ('claimed', 'written');
CREATE INDEX steers_message ON steers (message_id, id) WHERE message_id IS NOT NULL;

CREATE TABLE inputs (
  execution_id ${text} PRIMARY KEY,
  session_id ${text} NOT NULL,
  position BIGINT NOT NULL,
  text ${text} NOT NULL,
  ${flag('wants_steer')},
  steer_id ${text}
);
CREATE INDEX inputs_queue ON inputs (session_id, position, execution_id);

CREATE TABLE notices (
  id ${text} PRIMARY KEY,
  execution_id ${text} NOT NULL,
  root_id ${text} NOT NULL,
  counted_on ${text} NOT NULL,
  session_id ${text} NOT NULL,
  mode ${text} NOT NULL ${oneOf('mode', 'each', 'batch')},
  state ${text} NOT NULL ${oneOf('state', 'owed', 'claimed', 'handed', 'handled', 'waived')},
  attempt BIGINT NOT NULL CHECK (attempt >= 0),
  epoch BIGINT NOT NULL CHECK (epoch >= 0),
  steer_id ${text},
  continuation_id ${text},
  reason ${text},
  actor ${text},
  not_before BIGINT NOT NULL,
  owed_at BIGINT NOT NULL,
  handed_at BIGINT,
  handled_at BIGINT,
  CHECK (state <> 'owed' OR (steer_id IS NULL AND continuation_id IS NULL)),
  CHECK (state <> 'claimed' OR steer_id IS NOT NULL),
  CHECK (state NOT IN ('handed', 'handled') OR (continuation_id IS NOT NULL AND handed_at IS NOT NULL)),
  CHECK ((state = 'handled') = (handled_at IS NOT NULL)),
  CHECK (state <> 'waived' OR (reason IS NOT NULL AND actor IS NOT NULL)),
  CHECK (mode = 'each' OR (steer_id IS NULL AND counted_on <> execution_id))
);
CREATE UNIQUE INDEX notices_execution ON notices (execution_id);
CREATE INDEX notices_pending_for ON notices (session_id, owed_at, id) WHERE state IN ('owed', 'claimed');
CREATE INDEX notices_pending_on ON notices (counted_on, id) WHERE state IN ('owed', 'claimed');
CREATE INDEX notices_batch ON notices (session_id, counted_on) WHERE state = 'owed' AND mode = 'batch';
CREATE INDEX notices_steer ON notices (steer_id, id) WHERE steer_id IS NOT NULL;
CREATE INDEX notices_continuation ON notices (continuation_id, id) WHERE continuation_id IS NOT NULL;

CREATE TABLE admissions (
  session_id ${text} PRIMARY KEY,
  agent ${text} NOT NULL,
  project ${text} NOT NULL,
  place BIGINT NOT NULL CHECK (place >= 1),
  since BIGINT NOT NULL,
  called_at BIGINT
);
CREATE UNIQUE INDEX admissions_place ON admissions (place);
CREATE INDEX admissions_of ON admissions (agent, project, place);

CREATE TABLE workspaces (
  run_id ${text} PRIMARY KEY,
  how ${text} NOT NULL ${oneOf('how', 'exclusive', 'worktree', 'scratch', 'shared')},
  from_path ${text} NOT NULL,
  path ${text} NOT NULL,
  lock_path ${text} CHECK (lock_path IS NULL OR how = 'exclusive'),
  checkout ${text} CHECK ((how = 'worktree') = (checkout IS NOT NULL)),
  place BIGINT CHECK (place IS NULL OR (place >= 1 AND lock_path IS NOT NULL)),
  ${flag('is_held')},
  left_behind ${text},
  CHECK (is_held = 0 OR place IS NOT NULL)
);
CREATE UNIQUE INDEX workspaces_held ON workspaces (lock_path) WHERE is_held = 1;
CREATE UNIQUE INDEX workspaces_line ON workspaces (lock_path, place) WHERE place IS NOT NULL;

CREATE TABLE wakeups (
  kind ${text} NOT NULL,
  target ${text} NOT NULL,
  due BIGINT NOT NULL,
  revision BIGINT NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (kind, target)
);
CREATE INDEX wakeups_due ON wakeups (due);

CREATE TABLE events (
  sequence BIGINT PRIMARY KEY,
  count BIGINT NOT NULL CHECK (count BETWEEN 1 AND sequence),
  written ${text} NOT NULL
);
`;
