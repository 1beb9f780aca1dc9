/** The order in which a conversation was answered. What is there already is put in the order in which it ended. */
export const answersSchema = `
ALTER TABLE sessions ADD COLUMN ended_turns BIGINT NOT NULL DEFAULT 0 CHECK (ended_turns >= 0);
ALTER TABLE executions ADD COLUMN answer_place BIGINT CHECK (answer_place > 0);
UPDATE executions SET answer_place = ranked.place
FROM (
  SELECT id, row_number() OVER (PARTITION BY runs_in ORDER BY ended_at, id) AS place FROM executions
  WHERE runs_in IS NOT NULL AND kind IN ('message', 'continuation') AND result IS NOT NULL
) AS ranked WHERE ranked.id = executions.id;
UPDATE sessions SET ended_turns =
  (SELECT count(*) FROM executions e WHERE e.runs_in = sessions.id AND e.answer_place IS NOT NULL);
CREATE INDEX executions_answers ON executions (runs_in, answer_place, id) WHERE answer_place IS NOT NULL;
`;
