/** What the edges keep beside the ledger: answers to idempotent requests, named tokens, transcripts. */
export const recordsSchema = `
CREATE TABLE idempotency (
  token TEXT NOT NULL,
  route TEXT NOT NULL,
  key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  answer TEXT,
  root_id TEXT,
  at INTEGER NOT NULL,
  PRIMARY KEY (token, route, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE tokens (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('read', 'operate', 'admin')),
  created_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX tokens_name ON tokens (name) WHERE revoked_at IS NULL;

CREATE TABLE transcript (
  session_id TEXT NOT NULL REFERENCES sessions (id),
  sequence INTEGER NOT NULL,
  turn_id TEXT,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  at INTEGER NOT NULL,
  UNIQUE (session_id, sequence)
) STRICT;
`;
