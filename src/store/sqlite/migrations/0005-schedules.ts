/**
 * Schedules and what became of each of their instants. An instant of a schedule is unique; what has run never changes. In
 * lists of few values comparisons are chained, as in the ledger's own tables.
 */
export const schedulesSchema = `
CREATE TABLE schedules (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin = 'file' OR origin = 'api' OR origin = 'agent'),
  definition TEXT NOT NULL CHECK (json_valid(definition)),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  depends_on TEXT,
  paused_at INTEGER,
  pause_reason TEXT CHECK (pause_reason IS NULL OR paused_at IS NOT NULL),
  cursor INTEGER NOT NULL,
  session_id TEXT REFERENCES sessions (id),
  removed_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX schedules_name ON schedules (project, name) WHERE removed_at IS NULL;
CREATE INDEX schedules_removed ON schedules (project, name) WHERE removed_at IS NOT NULL;
CREATE INDEX schedules_dependents ON schedules (depends_on) WHERE removed_at IS NULL;

CREATE TABLE occurrences (
  id TEXT PRIMARY KEY,
  schedule_id TEXT NOT NULL REFERENCES schedules (id),
  instant INTEGER NOT NULL,
  cause TEXT NOT NULL CHECK (cause = 'time' OR cause = 'after' OR cause = 'manual' OR cause = 'backfill'),
  state TEXT NOT NULL CHECK (
    state = 'due' OR state = 'waiting' OR state = 'claimed' OR state = 'ran' OR
    state = 'skipped' OR state = 'missed' OR state = 'expired' OR state = 'superseded'),
  reason TEXT CHECK (reason IS NOT NULL OR state = 'due' OR state = 'claimed' OR state = 'ran'),
  run_id TEXT REFERENCES runs (id),
  revision INTEGER NOT NULL CHECK (revision >= 1),
  in_turn INTEGER NOT NULL DEFAULT 0 CHECK (in_turn = 0 OR in_turn = 1),
  deadline_at INTEGER,
  created_at INTEGER NOT NULL,
  decided_at INTEGER,
  CHECK ((state = 'ran') = (run_id IS NOT NULL)),
  CHECK ((state = 'due' OR state = 'waiting' OR state = 'claimed') = (decided_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX occurrences_instant ON occurrences (schedule_id, instant);
CREATE INDEX occurrences_open ON occurrences (schedule_id, in_turn, instant)
  WHERE decided_at IS NULL;
CREATE UNIQUE INDEX occurrences_run ON occurrences (run_id) WHERE run_id IS NOT NULL;
CREATE TRIGGER occurrences_ran BEFORE UPDATE OF state, run_id, instant ON occurrences
WHEN OLD.state = 'ran' OR NEW.instant <> OLD.instant
BEGIN
  SELECT RAISE(ABORT, 'what has run does not change, and no occurrence changes its instant');
END;

ALTER TABLE runs ADD COLUMN schedule_id TEXT REFERENCES schedules (id);
ALTER TABLE runs ADD COLUMN occurrence_id TEXT REFERENCES occurrences (id);
ALTER TABLE runs ADD COLUMN instant INTEGER CHECK (
  (schedule_id IS NULL) = (instant IS NULL) AND (occurrence_id IS NULL) = (instant IS NULL));
CREATE UNIQUE INDEX runs_occurrence ON runs (occurrence_id) WHERE occurrence_id IS NOT NULL;
CREATE INDEX runs_schedule ON runs (schedule_id, id) WHERE schedule_id IS NOT NULL;
CREATE INDEX runs_ended ON runs (schedule_id, ended_at) WHERE schedule_id IS NOT NULL;
`;
