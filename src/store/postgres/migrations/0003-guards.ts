/** What names what: the column of a table, and the table whose row must exist when the writes of a decision are done. */
const references: readonly (readonly [table: string, column: string, to: string])[] = [
  ['sessions', 'hosted_by', 'executions'],
  ['sessions', 'lane_turn', 'turns'],
  ['sessions', 'wake_turn', 'turns'],
  ['sessions', 'last_turn', 'turns'],
  ['runs', 'session_id', 'sessions'],
  ['runs', 'owner_id', 'executions'],
  ['runs', 'current_id', 'executions'],
  ['runs', 'schedule_id', 'schedules'],
  ['runs', 'occurrence_id', 'occurrences'],
  ['run_rows', 'run_id', 'runs'],
  ['executions', 'root_id', 'executions'],
  ['executions', 'parent_id', 'executions'],
  ['executions', 'runs_in', 'sessions'],
  ['executions', 'reports_to', 'sessions'],
  ['executions', 'cancelled_by', 'sessions'],
  ['executions', 'run_id', 'runs'],
  ['holds', 'execution_id', 'executions'],
  ['holds', 'holder_id', 'executions'],
  ['turns', 'session_id', 'sessions'],
  ['turn_owners', 'turn_id', 'turns'],
  ['turn_owners', 'execution_id', 'executions'],
  ['steers', 'session_id', 'sessions'],
  ['steers', 'turn_id', 'turns'],
  ['steers', 'message_id', 'executions'],
  ['inputs', 'execution_id', 'executions'],
  ['inputs', 'session_id', 'sessions'],
  ['inputs', 'steer_id', 'steers'],
  ['notices', 'execution_id', 'executions'],
  ['notices', 'root_id', 'executions'],
  ['notices', 'counted_on', 'executions'],
  ['notices', 'session_id', 'sessions'],
  ['notices', 'steer_id', 'steers'],
  ['notices', 'continuation_id', 'executions'],
  ['admissions', 'session_id', 'sessions'],
  ['workspaces', 'run_id', 'runs'],
  ['schedules', 'session_id', 'sessions'],
  ['occurrences', 'schedule_id', 'schedules'],
  ['occurrences', 'run_id', 'runs'],
  ['notifications', 'root_id', 'executions'],
  ['notifications', 'session_id', 'sessions'],
  ['notifications', 'run_id', 'runs'],
  ['notifications', 'schedule_id', 'schedules'],
  ['dispatches', 'notification_id', 'notifications'],
  ['dispatches', 'lead_id', 'dispatches'],
  ['graphs', 'id', 'executions'],
  ['graphs', 'of_id', 'executions'],
  ['graphs', 'resumes_id', 'executions'],
  ['graph_steps', 'graph_id', 'graphs'],
  ['graph_steps', 'current_id', 'executions'],
  ['graph_steps', 'reused_id', 'executions'],
  ['transcript', 'session_id', 'sessions'],
];

const keys: Readonly<Record<string, string>> = { graph_steps: 'ref' };

const constraints = references.map(
  ([table, column, to]) =>
    `ALTER TABLE ${table} ADD CONSTRAINT ${table}_${column}_exists FOREIGN KEY (${column})
     REFERENCES ${to} (${keys[to] ?? 'id'}) DEFERRABLE INITIALLY DEFERRED;`,
);

/** A change that is refused whatever wrote it. */
const never = (name: string, table: string, when: string, why: string): string => `
CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '${why}' USING ERRCODE = 'check_violation';
END $$;
CREATE TRIGGER ${name} BEFORE UPDATE ON ${table} FOR EACH ROW WHEN (${when}) EXECUTE FUNCTION ${name}();
`;

/**
 * References, what never changes once it is so, and the end of a transaction.
 *
 * Readers of events ask for what comes after a place, so places must become visible in their order. A sequence alone gives a
 * place to a transaction that may commit later than the next one; so whoever writes events takes a lock first, as the last thing before the
 * commit, which ends it. Commits that tell something therefore wait for each other, for as long as one takes to be durable.
 */
export const guardsSchema = `
${constraints.join('\n')}
${never(
  'occurrences_ran',
  'occurrences',
  `(OLD.state = 'ran' AND (NEW.state, NEW.run_id) IS DISTINCT FROM (OLD.state, OLD.run_id)) OR NEW.instant <> OLD.instant`,
  'what has run does not change, and no occurrence changes its instant',
)}
${never(
  'graphs_ended',
  'graphs',
  `OLD.state = 'ended' AND (NEW.state, NEW.outcome) IS DISTINCT FROM (OLD.state, OLD.outcome)`,
  'what has ended does not change',
)}
${never(
  'graph_steps_ended',
  'graph_steps',
  `NEW.state <> OLD.state AND OLD.state IN ('succeeded', 'failed', 'skipped', 'cancelled')`,
  'an end is an end',
)}
${never(
  'executions_settled',
  'executions',
  `OLD.closed = 1 AND (NEW.closed = 0 OR NEW.state <> OLD.state OR NEW.outcome IS DISTINCT FROM OLD.outcome)`,
  'what is closed stays as it is',
)}
CREATE SEQUENCE event_places;

CREATE FUNCTION append_events(counts BIGINT[], texts TEXT[]) RETURNS BIGINT LANGUAGE plpgsql AS $$
DECLARE
  place BIGINT;
BEGIN
  IF cardinality(counts) = 0 THEN RETURN 0; END IF;
  PERFORM pg_advisory_xact_lock(7305805, 1);
  FOR i IN 1 .. cardinality(counts) LOOP
    place := setval('event_places', nextval('event_places') + counts[i] - 1);
    INSERT INTO events (sequence, count, written) VALUES (place, counts[i], texts[i]);
  END LOOP;
  RETURN place;
END $$;
`;
