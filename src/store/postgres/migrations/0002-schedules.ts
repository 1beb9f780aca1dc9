const text = 'TEXT COLLATE "C"';
const oneOf = (column: string, ...values: readonly string[]): string =>
  `CHECK (${column} IN (${values.map((value) => `'${value}'`).join(', ')}))`;

/** Schedules and what became of each instant, what people are told, workflows with their steps, and what the edges keep. */
export const schedulesSchema = `
CREATE TABLE schedules (
  id ${text} PRIMARY KEY,
  project ${text} NOT NULL,
  name ${text} NOT NULL,
  origin ${text} NOT NULL ${oneOf('origin', 'file', 'api', 'agent')},
  definition ${text} NOT NULL CHECK (definition::json IS NOT NULL),
  labels ${text} NOT NULL,
  revision BIGINT NOT NULL CHECK (revision >= 1),
  depends_on ${text},
  paused_at BIGINT,
  pause_reason ${text} CHECK (pause_reason IS NULL OR paused_at IS NOT NULL),
  cursor BIGINT NOT NULL,
  session_id ${text},
  removed_at BIGINT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX schedules_name ON schedules (project, name) WHERE removed_at IS NULL;
CREATE INDEX schedules_removed ON schedules (project, name, id) WHERE removed_at IS NOT NULL;
CREATE INDEX schedules_dependents ON schedules (depends_on, id) WHERE removed_at IS NULL;

CREATE TABLE occurrences (
  id ${text} PRIMARY KEY,
  schedule_id ${text} NOT NULL,
  instant BIGINT NOT NULL,
  cause ${text} NOT NULL ${oneOf('cause', 'time', 'after', 'manual', 'backfill')},
  state ${text} NOT NULL ${oneOf('state', 'due', 'waiting', 'claimed', 'ran', 'skipped', 'missed', 'expired', 'superseded')},
  reason ${text} CHECK (reason IS NOT NULL OR state IN ('due', 'claimed', 'ran')),
  run_id ${text},
  revision BIGINT NOT NULL CHECK (revision >= 1),
  in_turn SMALLINT NOT NULL CHECK (in_turn IN (0, 1)),
  deadline_at BIGINT,
  created_at BIGINT NOT NULL,
  decided_at BIGINT,
  CHECK ((state = 'ran') = (run_id IS NOT NULL)),
  CHECK ((state IN ('due', 'waiting', 'claimed')) = (decided_at IS NULL))
);
CREATE UNIQUE INDEX occurrences_instant ON occurrences (schedule_id, instant);
CREATE INDEX occurrences_open ON occurrences (schedule_id, in_turn, instant) WHERE decided_at IS NULL;
CREATE UNIQUE INDEX occurrences_run ON occurrences (run_id) WHERE run_id IS NOT NULL;

CREATE TABLE notifications (
  id ${text} PRIMARY KEY,
  transition ${text} NOT NULL,
  subject ${text} NOT NULL,
  project ${text},
  name ${text},
  code ${text},
  text ${text},
  root_id ${text},
  session_id ${text},
  run_id ${text},
  schedule_id ${text},
  targets ${text},
  state ${text} NOT NULL ${oneOf('state', 'owed', 'addressed')},
  at BIGINT NOT NULL,
  CHECK (id = transition || ':' || subject)
);
CREATE INDEX notifications_transition ON notifications (transition, at, id);
CREATE INDEX notifications_verdicts ON notifications (schedule_id, at, id)
  WHERE transition = 'failed' OR transition = 'recovered';
CREATE INDEX notifications_at ON notifications (at, id);

CREATE TABLE dispatches (
  id ${text} PRIMARY KEY,
  notification_id ${text} NOT NULL,
  target ${text} NOT NULL,
  state ${text} NOT NULL ${oneOf('state', 'owed', 'sending', 'sent', 'givenUp')},
  lead_id ${text},
  attempt BIGINT NOT NULL CHECK (attempt >= 0),
  not_before BIGINT NOT NULL,
  error ${text},
  owed_at BIGINT NOT NULL,
  ended_at BIGINT,
  CHECK (id = target || ':' || notification_id),
  CHECK (state <> 'owed' OR lead_id IS NULL),
  CHECK (state NOT IN ('sending', 'sent') OR lead_id IS NOT NULL),
  CHECK (state <> 'givenUp' OR error IS NOT NULL),
  CHECK ((state IN ('sent', 'givenUp')) = (ended_at IS NOT NULL))
);
CREATE INDEX dispatches_owed ON dispatches (target, owed_at, id) WHERE state = 'owed';
CREATE INDEX dispatches_open ON dispatches (target, owed_at, id) WHERE state = 'sending' AND lead_id = id;
CREATE INDEX dispatches_lead ON dispatches (lead_id, owed_at, id) WHERE lead_id IS NOT NULL;
CREATE INDEX dispatches_notification ON dispatches (notification_id, id);

CREATE TABLE graphs (
  id ${text} PRIMARY KEY,
  project ${text} NOT NULL,
  workflow ${text} NOT NULL,
  variables_of ${text},
  inputs ${text} NOT NULL CHECK (inputs::json IS NOT NULL),
  settings ${text} NOT NULL CHECK (settings::json IS NOT NULL),
  of_id ${text},
  resumes_id ${text},
  left_count BIGINT NOT NULL CHECK (left_count >= 0),
  failed_count BIGINT NOT NULL CHECK (failed_count >= 0),
  state ${text} NOT NULL ${oneOf('state', 'running', 'ended')},
  outcome ${text} ${oneOf('outcome', 'succeeded', 'failed', 'cancelled')},
  outcome_code ${text},
  error ${text},
  is_stopping SMALLINT NOT NULL CHECK (is_stopping IN (0, 1)),
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
);
CREATE INDEX graphs_evaluating ON graphs (of_id, id) WHERE state = 'running' AND of_id IS NOT NULL;

CREATE TABLE graph_steps (
  ref ${text} PRIMARY KEY CHECK (ref = graph_id || '/' || place),
  graph_id ${text} NOT NULL,
  place BIGINT NOT NULL CHECK (place >= 0),
  plan ${text} NOT NULL CHECK (plan::json IS NOT NULL),
  step_name ${text} NOT NULL,
  step_does ${text} NOT NULL,
  dependents ${text} NOT NULL CHECK (dependents::json IS NOT NULL),
  state ${text} NOT NULL ${oneOf('state', 'blocked', 'due', 'running', 'succeeded', 'skipped', 'failed', 'cancelled', 'backsOff')},
  blocked_by BIGINT NOT NULL CHECK (
    blocked_by = 0 OR (blocked_by > 0 AND state NOT IN ('due', 'running', 'backsOff'))),
  failed_needs BIGINT NOT NULL CHECK (failed_needs >= 0),
  dead_needs BIGINT NOT NULL CHECK (dead_needs >= 0),
  tries BIGINT NOT NULL CHECK (tries >= 0),
  retry_at BIGINT CHECK ((state = 'backsOff') = (retry_at IS NOT NULL)),
  current_id ${text} CHECK (current_id IS NOT NULL OR state <> 'running'),
  program_end ${text},
  result ${text},
  outputs ${text} NOT NULL CHECK (outputs::json IS NOT NULL),
  reason ${text} CHECK (reason IS NOT NULL OR state NOT IN ('failed', 'skipped')),
  reused_id ${text} CHECK (reused_id IS NULL OR state = 'succeeded'),
  moves BIGINT NOT NULL CHECK (moves >= 0)
);
CREATE UNIQUE INDEX graph_steps_place ON graph_steps (graph_id, place);
CREATE UNIQUE INDEX graph_steps_name ON graph_steps (graph_id, step_name);
CREATE UNIQUE INDEX graph_steps_attempt ON graph_steps (current_id) WHERE current_id IS NOT NULL;
CREATE INDEX graph_steps_back_off ON graph_steps (graph_id, place) WHERE state = 'backsOff';
CREATE INDEX graph_steps_scripts ON graph_steps (ref)
  WHERE (state = 'due' OR state = 'running') AND step_does = 'script';

CREATE TABLE idempotency (
  token ${text} NOT NULL,
  route ${text} NOT NULL,
  key ${text} NOT NULL,
  body_hash ${text} NOT NULL,
  answer ${text},
  root_id ${text},
  at BIGINT NOT NULL,
  PRIMARY KEY (token, route, key)
);

CREATE TABLE tokens (
  hash ${text} PRIMARY KEY,
  name ${text} NOT NULL,
  scope ${text} NOT NULL ${oneOf('scope', 'read', 'operate', 'admin')},
  created_at BIGINT NOT NULL,
  revoked_at BIGINT
);
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE transcript (
  session_id ${text} NOT NULL,
  sequence BIGINT NOT NULL,
  turn_id ${text},
  kind ${text} NOT NULL,
  text ${text} NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (session_id, sequence)
);
`;
