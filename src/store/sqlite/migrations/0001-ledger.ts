/**
 * `IN` with more than two values builds a temporary index each time the row is written, which made an insert three times
 * as dear; a chain of comparisons does not. The usual values come first.
 */
const oneOf = (column: string, values: readonly string[]): string =>
  values.map((value) => `${column} = '${value}'`).join(' OR ');

/**
 * The ledger. What SQL can say of its invariants is said here, so that no bug of a rule or of an interpreter can be
 * committed. Every number is INTEGER, because JavaScript numbers arrive as REAL; ids are text, because integers above
 * 2^53 are read wrongly by some libraries. References are deferred only where two rows of one decision name each other
 * and one must come first: a host and its session, a session and its turn, a claim and its steer.
 * Each deferred one needs an index, because a row that may repair it looks for what names it.
 */
export const ledgerSchema = `
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  agent TEXT NOT NULL,
  cwd TEXT NOT NULL,
  title TEXT,
  state TEXT NOT NULL CHECK (${oneOf('state', ['cold', 'live', 'stopped'])}),
  hosted_by TEXT REFERENCES executions (id) DEFERRABLE INITIALLY DEFERRED,
  lane_turn TEXT REFERENCES turns (id) DEFERRABLE INITIALLY DEFERRED,
  wake_turn TEXT REFERENCES turns (id) DEFERRABLE INITIALLY DEFERRED,
  last_turn TEXT REFERENCES turns (id),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  node TEXT NOT NULL,
  native_id TEXT,
  position INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_activity_at INTEGER NOT NULL,
  CHECK (lane_turn IS NULL OR lane_turn IS NOT wake_turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_host ON sessions (hosted_by) WHERE hosted_by IS NOT NULL;
CREATE INDEX sessions_live ON sessions (id) WHERE state = 'live';
CREATE INDEX sessions_lane ON sessions (lane_turn) WHERE lane_turn IS NOT NULL;
CREATE INDEX sessions_wake ON sessions (wake_turn) WHERE wake_turn IS NOT NULL;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  owner_id TEXT REFERENCES executions (id),
  plan TEXT NOT NULL,
  cursor INTEGER NOT NULL CHECK (cursor >= 0),
  current_id TEXT REFERENCES executions (id),
  state TEXT NOT NULL CHECK (state IN ('running', 'ended')),
  outcome TEXT CHECK (${oneOf('outcome', ['succeeded', 'failed', 'cancelled'])}),
  outcome_code TEXT,
  cancel_requested INTEGER NOT NULL CHECK (cancel_requested IN (0, 1)),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_running ON runs (session_id) WHERE state = 'running';
CREATE UNIQUE INDEX runs_owner ON runs (owner_id) WHERE owner_id IS NOT NULL;

CREATE TABLE executions (
  id TEXT PRIMARY KEY,
  root_id TEXT NOT NULL REFERENCES executions (id),
  parent_id TEXT REFERENCES executions (id),
  parent_source TEXT NOT NULL CHECK (${oneOf('parent_source', ['explicit', 'turn', 'task', 'none'])}),
  depth INTEGER NOT NULL,
  kind TEXT NOT NULL CHECK (${oneOf('kind', ['message', 'continuation', 'workflow', 'evaluation', 'step', 'agent', 'review', 'task', 'service', 'late', 'outside'])}),
  name TEXT NOT NULL,
  key TEXT,
  attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  project TEXT NOT NULL,
  runs_in TEXT REFERENCES sessions (id) DEFERRABLE INITIALLY DEFERRED,
  reports_to TEXT REFERENCES sessions (id),
  mode TEXT NOT NULL CHECK (${oneOf('mode', ['each', 'batch', 'none'])}),
  cancelled_by TEXT REFERENCES sessions (id),
  run_id TEXT REFERENCES runs (id),
  run_index INTEGER,
  correlation_id TEXT,
  join_mode TEXT NOT NULL DEFAULT 'own' CHECK (join_mode IN ('own', 'all')),
  check_command TEXT,
  background TEXT NOT NULL DEFAULT 'wait' CHECK (${oneOf('background', ['wait', 'cancel', 'detach'])}),
  timeout_ms INTEGER,
  wake_on_close TEXT,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (${oneOf('state', ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'lost'])}),
  waiting TEXT,
  open INTEGER NOT NULL DEFAULT 0 CHECK (open >= 0),
  closed INTEGER NOT NULL DEFAULT 0 CHECK (closed IN (0, 1)),
  drain INTEGER CHECK (drain >= 0),
  verdict TEXT,
  failures INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
  outcome TEXT CHECK (${oneOf('outcome', ['succeeded', 'failed', 'cancelled'])}),
  outcome_code TEXT,
  cancel_requested TEXT,
  detached_at INTEGER,
  deadline_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  closed_at INTEGER,
  error TEXT,
  result TEXT,
  usage TEXT,
  native_id TEXT,
  CHECK (CASE WHEN parent_id IS NULL THEN depth = 0 AND root_id = id ELSE depth > 0 AND root_id <> id END),
  CHECK (mode = 'none' OR reports_to IS NOT NULL),
  CHECK ((run_id IS NULL) = (run_index IS NULL)),
  CHECK (closed = (open = 0 AND state NOT IN ('queued', 'running'))),
  CHECK (closed = (closed_at IS NOT NULL)),
  CHECK ((state IN ('queued', 'running')) = (ended_at IS NULL)),
  CHECK (waiting IS NULL OR state IN ('queued', 'running')),
  CHECK ((outcome IS NOT NULL) = (closed = 1 AND parent_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_root ON executions (root_id);
CREATE INDEX executions_unclosed ON executions (parent_id) WHERE closed = 0;
CREATE INDEX executions_session ON executions (runs_in, closed) WHERE runs_in IS NOT NULL;
CREATE INDEX executions_owned ON executions (cancelled_by)
  WHERE closed = 0 AND cancelled_by IS NOT NULL AND cancelled_by IS NOT runs_in;
CREATE UNIQUE INDEX executions_key ON executions (parent_id, key, attempt) WHERE key IS NOT NULL;
CREATE INDEX executions_root_key ON executions (root_id, key) WHERE key IS NOT NULL;
CREATE UNIQUE INDEX executions_run ON executions (run_id, run_index, attempt)
  WHERE run_id IS NOT NULL AND kind = 'message';
CREATE INDEX executions_live_task ON executions (runs_in)
  WHERE kind = 'task' AND state IN ('queued', 'running');
CREATE INDEX executions_task_name ON executions (runs_in, native_id) WHERE kind = 'task';

CREATE TABLE holds (
  execution_id TEXT NOT NULL REFERENCES executions (id),
  holder_id TEXT NOT NULL REFERENCES executions (id),
  PRIMARY KEY (execution_id, holder_id),
  CHECK (execution_id <> holder_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX holds_holder ON holds (holder_id);

CREATE TABLE turns (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  node TEXT NOT NULL,
  cause TEXT NOT NULL CHECK (${oneOf('cause', ['message', 'notices', 'wake', 'late'])}),
  state TEXT NOT NULL CHECK (${oneOf('state', ['starting', 'running', 'waiting', 'ended'])}),
  text TEXT NOT NULL,
  native_turn_id TEXT,
  position INTEGER NOT NULL,
  written_at INTEGER,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  status TEXT CHECK (${oneOf('status', ['succeeded', 'failed', 'interrupted', 'refused', 'joined', 'lost'])}),
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (status IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turns_starting ON turns (session_id) WHERE state = 'starting';

CREATE TABLE turn_owners (
  turn_id TEXT NOT NULL REFERENCES turns (id),
  position INTEGER NOT NULL,
  execution_id TEXT NOT NULL REFERENCES executions (id),
  PRIMARY KEY (turn_id, position, execution_id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX turn_owners_execution ON turn_owners (execution_id, turn_id);

CREATE TABLE steers (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES sessions (id),
  turn_id TEXT NOT NULL REFERENCES turns (id),
  message_id TEXT REFERENCES executions (id),
  text TEXT NOT NULL,
  state TEXT NOT NULL CHECK (${oneOf('state', ['claimed', 'written', 'taken', 'refused', 'withdrawn'])}),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state IN ('claimed', 'written')) = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX steers_open ON steers (session_id) WHERE state IN ('claimed', 'written');

CREATE TABLE inputs (
  execution_id TEXT PRIMARY KEY REFERENCES executions (id),
  session_id TEXT NOT NULL REFERENCES sessions (id),
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  wants_steer INTEGER NOT NULL CHECK (wants_steer IN (0, 1)),
  steer_id TEXT REFERENCES steers (id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX inputs_queue ON inputs (session_id, position);
CREATE INDEX inputs_steer ON inputs (steer_id) WHERE steer_id IS NOT NULL;

CREATE TABLE notices (
  id TEXT PRIMARY KEY,
  execution_id TEXT NOT NULL REFERENCES executions (id),
  root_id TEXT NOT NULL REFERENCES executions (id),
  counted_on TEXT NOT NULL REFERENCES executions (id),
  session_id TEXT NOT NULL REFERENCES sessions (id),
  mode TEXT NOT NULL CHECK (mode IN ('each', 'batch')),
  state TEXT NOT NULL CHECK (${oneOf('state', ['owed', 'claimed', 'handed', 'handled', 'waived'])}),
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  epoch INTEGER NOT NULL CHECK (epoch >= 0),
  steer_id TEXT REFERENCES steers (id) DEFERRABLE INITIALLY DEFERRED,
  continuation_id TEXT REFERENCES executions (id),
  reason TEXT,
  actor TEXT,
  not_before INTEGER NOT NULL,
  owed_at INTEGER NOT NULL,
  handed_at INTEGER,
  handled_at INTEGER,
  CHECK (state <> 'owed' OR (steer_id IS NULL AND continuation_id IS NULL)),
  CHECK (state <> 'claimed' OR steer_id IS NOT NULL),
  CHECK (state NOT IN ('handed', 'handled') OR (continuation_id IS NOT NULL AND handed_at IS NOT NULL)),
  CHECK ((state = 'handled') = (handled_at IS NOT NULL)),
  CHECK (state <> 'waived' OR (reason IS NOT NULL AND actor IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX notices_execution ON notices (execution_id);
CREATE INDEX notices_pending_for ON notices (session_id, owed_at) WHERE state IN ('owed', 'claimed');
CREATE INDEX notices_pending_on ON notices (counted_on) WHERE state IN ('owed', 'claimed');
CREATE INDEX notices_steer ON notices (steer_id) WHERE steer_id IS NOT NULL;
CREATE INDEX notices_continuation ON notices (continuation_id) WHERE continuation_id IS NOT NULL;

CREATE TABLE wakeups (
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  due INTEGER NOT NULL,
  revision INTEGER NOT NULL CHECK (revision >= 1),
  PRIMARY KEY (kind, target)
) STRICT, WITHOUT ROWID;
CREATE INDEX wakeups_due ON wakeups (due);

CREATE TABLE events (
  sequence INTEGER PRIMARY KEY,
  count INTEGER NOT NULL CHECK (count BETWEEN 1 AND sequence),
  written TEXT NOT NULL
) STRICT;
CREATE TRIGGER events_newest BEFORE DELETE ON events WHEN OLD.sequence = (SELECT max(sequence) FROM events)
BEGIN
  SELECT RAISE(ABORT, 'the newest events cannot be deleted: their places would be used again');
END;
`;
