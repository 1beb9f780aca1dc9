/** What a run may use, and the attempts of its messages. Runs of before have moved once a message. */
export const attemptsSchema = `
ALTER TABLE runs ADD COLUMN budget TEXT;
ALTER TABLE runs ADD COLUMN tries INTEGER NOT NULL DEFAULT 0 CHECK (tries >= 0);
ALTER TABLE runs ADD COLUMN retry_at INTEGER CHECK (retry_at IS NULL OR (state = 'running' AND current_id IS NOT NULL));
ALTER TABLE runs ADD COLUMN moves INTEGER NOT NULL DEFAULT 0 CHECK (moves >= 0);
UPDATE runs SET moves = cursor, tries = min(cursor, 1);
`;
