/** The rows of a run that goes through its plan for each of them, and how many tries mended what a gate had refused. */
export const rowsSchema = `
ALTER TABLE runs ADD COLUMN row_count INTEGER CHECK (row_count IS NULL OR row_count >= 0);
ALTER TABLE runs ADD COLUMN repairs INTEGER NOT NULL DEFAULT 0 CHECK (repairs >= 0 AND repairs <= tries);

CREATE TABLE run_rows (
  run_id TEXT NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL CHECK (position >= 0),
  row TEXT NOT NULL CHECK (json_valid(row)),
  PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;
`;
