/** What stands between a session and its agent, and who waits: few rows of many, so each has a partial index. */
export const limitsSchema = `
ALTER TABLE sessions ADD COLUMN usage_limit TEXT;
CREATE INDEX sessions_limited ON sessions (agent, id) WHERE usage_limit IS NOT NULL;
CREATE INDEX executions_waiting ON executions (root_id) WHERE waiting IS NOT NULL;
CREATE INDEX steers_message ON steers (message_id) WHERE message_id IS NOT NULL;
`;
