/**
 * Results that are handed over together: which sessions give out work so, what their agents may give out, and which results wait
 * for others. None of these is ever put into a running turn, and each has an execution above it that waits.
 */
export const batchesSchema = `
ALTER TABLE sessions ADD COLUMN delivery TEXT NOT NULL DEFAULT 'auto'
  CHECK (delivery = 'auto' OR delivery = 'controller');
ALTER TABLE runs ADD COLUMN todo TEXT CHECK (todo IS NULL OR owner_id IS NOT NULL);
CREATE INDEX notices_batch ON notices (session_id, counted_on) WHERE state = 'owed' AND mode = 'batch';
CREATE TRIGGER notices_batch_steered BEFORE UPDATE OF steer_id ON notices
WHEN NEW.mode = 'batch' AND NEW.steer_id IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a result that comes with others is never put into a running turn');
END;
CREATE TRIGGER notices_batch_inserted BEFORE INSERT ON notices
WHEN NEW.mode = 'batch' AND (NEW.steer_id IS NOT NULL OR NEW.counted_on = NEW.execution_id)
BEGIN
  SELECT RAISE(ABORT, 'a result that comes with others waits below something, and is never put into a running turn');
END;
`;
