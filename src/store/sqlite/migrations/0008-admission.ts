/**
 * Who waits for a turn slot, and where runs work: who holds a directory alone, and who waits for it. In lists of few values
 * comparisons are chained, as in the ledger's own tables.
 */
export const admissionSchema = `
CREATE TABLE admissions (
  session_id TEXT PRIMARY KEY REFERENCES sessions (id),
  agent TEXT NOT NULL,
  project TEXT NOT NULL,
  place INTEGER NOT NULL CHECK (place >= 1),
  since INTEGER NOT NULL,
  called_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX admissions_place ON admissions (place);
CREATE INDEX admissions_of ON admissions (agent, project, place);

CREATE TABLE workspaces (
  run_id TEXT PRIMARY KEY REFERENCES runs (id),
  how TEXT NOT NULL CHECK (how = 'exclusive' OR how = 'worktree' OR how = 'scratch' OR how = 'shared'),
  from_path TEXT NOT NULL,
  path TEXT NOT NULL,
  lock_path TEXT CHECK (lock_path IS NULL OR how = 'exclusive'),
  checkout TEXT CHECK ((how = 'worktree') = (checkout IS NOT NULL)),
  place INTEGER CHECK (place IS NULL OR (place >= 1 AND lock_path IS NOT NULL)),
  is_held INTEGER NOT NULL CHECK (is_held = 0 OR (is_held = 1 AND place IS NOT NULL)),
  left_behind TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX workspaces_held ON workspaces (lock_path) WHERE is_held = 1;
CREATE UNIQUE INDEX workspaces_line ON workspaces (lock_path, place) WHERE place IS NOT NULL;
`;
