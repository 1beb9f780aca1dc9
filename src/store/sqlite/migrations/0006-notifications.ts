/**
 * What people are told, and whom. An id is made of what it is about, so that the primary key is what makes each be told once.
 * A dispatch is sent as part of the group of its leader; few are on their way of many that were, so the indexes are partial.
 */
export const notificationsSchema = `
CREATE TABLE notifications (
  id TEXT PRIMARY KEY,
  transition TEXT NOT NULL,
  subject TEXT NOT NULL,
  project TEXT,
  name TEXT,
  code TEXT,
  text TEXT,
  root_id TEXT REFERENCES executions (id),
  session_id TEXT REFERENCES sessions (id),
  run_id TEXT REFERENCES runs (id),
  schedule_id TEXT REFERENCES schedules (id),
  targets TEXT,
  state TEXT NOT NULL CHECK (state IN ('owed', 'addressed')),
  at INTEGER NOT NULL,
  CHECK (id = transition || ':' || subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX notifications_transition ON notifications (transition, at, id);
CREATE INDEX notifications_verdicts ON notifications (schedule_id, at, id)
  WHERE transition = 'failed' OR transition = 'recovered';
CREATE INDEX notifications_at ON notifications (at, id);

CREATE TABLE dispatches (
  id TEXT PRIMARY KEY,
  notification_id TEXT NOT NULL REFERENCES notifications (id),
  target TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'owed' OR state = 'sending' OR state = 'sent' OR state = 'givenUp'),
  lead_id TEXT REFERENCES dispatches (id),
  attempt INTEGER NOT NULL CHECK (attempt >= 0),
  not_before INTEGER NOT NULL,
  error TEXT,
  owed_at INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK (id = target || ':' || notification_id),
  CHECK (state <> 'owed' OR lead_id IS NULL),
  CHECK ((state <> 'sending' AND state <> 'sent') OR lead_id IS NOT NULL),
  CHECK (state <> 'givenUp' OR error IS NOT NULL),
  CHECK ((state = 'sent' OR state = 'givenUp') = (ended_at IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX dispatches_owed ON dispatches (target, owed_at, id) WHERE state = 'owed';
CREATE INDEX dispatches_open ON dispatches (target, owed_at, id) WHERE state = 'sending' AND lead_id = id;
CREATE INDEX dispatches_lead ON dispatches (lead_id, owed_at, id) WHERE lead_id IS NOT NULL;
CREATE INDEX dispatches_notification ON dispatches (notification_id);
`;
