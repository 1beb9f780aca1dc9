/**
 * Workflows and their steps. The end of a step finds what it needs by its place, its name or its attempt, and never looks
 * through all of them. In lists of few values comparisons are chained, as in the ledger's own tables.
 */
export const graphsSchema = `
CREATE TABLE graphs (
  id TEXT PRIMARY KEY REFERENCES executions (id),
  project TEXT NOT NULL,
  workflow TEXT NOT NULL,
  variables_of TEXT,
  inputs TEXT NOT NULL CHECK (json_valid(inputs)),
  settings TEXT NOT NULL CHECK (json_valid(settings)),
  of_id TEXT REFERENCES executions (id),
  resumes_id TEXT REFERENCES executions (id),
  left_count INTEGER NOT NULL CHECK (left_count >= 0),
  failed_count INTEGER NOT NULL DEFAULT 0 CHECK (failed_count >= 0),
  state TEXT NOT NULL CHECK (state = 'running' OR state = 'ended'),
  outcome TEXT CHECK (outcome IS NULL OR outcome = 'succeeded' OR outcome = 'failed' OR outcome = 'cancelled'),
  outcome_code TEXT,
  error TEXT,
  is_stopping INTEGER NOT NULL DEFAULT 0 CHECK (is_stopping = 0 OR is_stopping = 1),
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX graphs_evaluating ON graphs (of_id, id) WHERE state = 'running' AND of_id IS NOT NULL;
CREATE TRIGGER graphs_ended BEFORE UPDATE OF state, outcome ON graphs
WHEN OLD.state = 'ended' AND (NEW.state <> OLD.state OR NEW.outcome IS NOT OLD.outcome)
BEGIN
  SELECT RAISE(ABORT, 'what has ended does not change');
END;

CREATE TABLE graph_steps (
  ref TEXT PRIMARY KEY CHECK (ref = graph_id || '/' || place),
  graph_id TEXT NOT NULL REFERENCES graphs (id),
  place INTEGER NOT NULL CHECK (place >= 0),
  plan TEXT NOT NULL CHECK (json_valid(plan)),
  dependents TEXT NOT NULL CHECK (json_valid(dependents)),
  state TEXT NOT NULL CHECK (
    state = 'blocked' OR state = 'due' OR state = 'running' OR state = 'succeeded' OR state = 'skipped' OR
    state = 'failed' OR state = 'cancelled' OR state = 'backsOff'),
  blocked_by INTEGER NOT NULL DEFAULT 0 CHECK (
    blocked_by = 0 OR (blocked_by > 0 AND state <> 'due' AND state <> 'running' AND state <> 'backsOff')),
  failed_needs INTEGER NOT NULL DEFAULT 0 CHECK (failed_needs >= 0),
  dead_needs INTEGER NOT NULL DEFAULT 0 CHECK (dead_needs >= 0),
  tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0),
  retry_at INTEGER CHECK ((state = 'backsOff') = (retry_at IS NOT NULL)),
  current_id TEXT REFERENCES executions (id) CHECK (current_id IS NOT NULL OR state <> 'running'),
  program_end TEXT,
  result TEXT,
  outputs TEXT NOT NULL CHECK (json_valid(outputs)),
  reason TEXT CHECK (reason IS NOT NULL OR (state <> 'failed' AND state <> 'skipped')),
  reused_id TEXT REFERENCES executions (id) CHECK (reused_id IS NULL OR state = 'succeeded'),
  moves INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX graph_steps_place ON graph_steps (graph_id, place);
CREATE UNIQUE INDEX graph_steps_name ON graph_steps (graph_id, plan ->> 'name');
CREATE UNIQUE INDEX graph_steps_attempt ON graph_steps (current_id) WHERE current_id IS NOT NULL;
CREATE INDEX graph_steps_back_off ON graph_steps (graph_id, place) WHERE state = 'backsOff';
CREATE TRIGGER graph_steps_ended BEFORE UPDATE OF state ON graph_steps
WHEN NEW.state <> OLD.state AND
  (OLD.state = 'succeeded' OR OLD.state = 'failed' OR OLD.state = 'skipped' OR OLD.state = 'cancelled')
BEGIN
  SELECT RAISE(ABORT, 'an end is an end');
END;
`;
