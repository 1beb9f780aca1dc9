/**
 * Runs that send workflows have no session. SQLite cannot take a NOT NULL back, so the table is made anew, as its manual
 * says to. What a run sends may be a workflow or an evaluation, and no other execution names a run.
 */
export const workflowRunsSchema = `
CREATE TABLE new_runs (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  session_id TEXT REFERENCES sessions (id) CHECK (session_id IS NOT NULL OR owner_id IS NULL),
  owner_id TEXT REFERENCES executions (id),
  plan TEXT NOT NULL,
  todo TEXT CHECK (todo IS NULL OR owner_id IS NOT NULL),
  row_count INTEGER CHECK (row_count IS NULL OR row_count >= 0),
  budget TEXT,
  cursor INTEGER NOT NULL CHECK (cursor >= 0),
  current_id TEXT REFERENCES executions (id),
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  repairs INTEGER NOT NULL DEFAULT 0 CHECK (repairs >= 0 AND repairs <= tries),
  retry_at INTEGER CHECK (retry_at IS NULL OR (state = 'running' AND current_id IS NOT NULL)),
  done_again TEXT CHECK (done_again IS NULL OR json_valid(done_again)),
  moves INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0),
  state TEXT NOT NULL CHECK (state = 'running' OR state = 'ended'),
  outcome TEXT CHECK (outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'cancelled'),
  outcome_code TEXT,
  cancel_requested INTEGER NOT NULL CHECK (cancel_requested = 0 OR cancel_requested = 1),
  schedule_id TEXT REFERENCES schedules (id),
  occurrence_id TEXT REFERENCES occurrences (id),
  instant INTEGER,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL)),
  CHECK ((schedule_id IS NULL) = (instant IS NULL) AND (occurrence_id IS NULL) = (instant IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO new_runs (
  id, project, name, session_id, owner_id, plan, todo, row_count, budget, cursor, current_id, tries, repairs, retry_at, moves,
  state, outcome, outcome_code, cancel_requested, schedule_id, occurrence_id, instant, created_at, ended_at)
SELECT
  id, project, name, session_id, owner_id, plan, todo, row_count, budget, cursor, current_id, tries, repairs, retry_at, moves,
  state, outcome, outcome_code, cancel_requested, schedule_id, occurrence_id, instant, created_at, ended_at
FROM runs;
DROP TABLE runs;
ALTER TABLE new_runs RENAME TO runs;
CREATE INDEX runs_running ON runs (session_id) WHERE state = 'running';
CREATE UNIQUE INDEX runs_owner ON runs (owner_id) WHERE owner_id IS NOT NULL;
CREATE UNIQUE INDEX runs_occurrence ON runs (occurrence_id) WHERE occurrence_id IS NOT NULL;
CREATE INDEX runs_schedule ON runs (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (schedule_id, ended_at) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_workflow ON runs (plan ->> '$[0].workflow.workflow', id);

DROP INDEX executions_run;
CREATE UNIQUE INDEX executions_run ON executions (run_id, run_index, attempt) WHERE run_id IS NOT NULL;
`;
