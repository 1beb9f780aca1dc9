import type { Connection, Param } from './connection.ts';
import { listOf } from './connection.ts';

type Ids = readonly string[];

/** Lists of ids, in the order in which the question wants the rows. One indexed statement each. */
export interface IdStatements {
  owners(turn: string): Ids;
  refusedTurns(execution: string, but: string): number;
  activeTurnOf(execution: string): Ids;
  held(holder: string): Ids;
  openChildren(parent: string, limit: number): Ids;
  countedChildren(parent: string, limit: number): Ids;
  keyed(parent: string, key: string, attempt: number): Ids;
  latestKeyed(root: string, key: string): Ids;
  liveTasks(session: string): Ids;
  taskNamed(session: string, nativeId: string): Ids;
  openOwnedBy(session: string): Ids;
  closedWorkflowsOf(session: string, limit: number): Ids;
  nextInput(session: string): Ids;
  inputs(session: string): Ids;
  headPosition(session: string): number;
  tailPosition(session: string): number;
  owed(session: string, now: number, limit: number): Ids;
  batchesFor(session: string): Ids;
  pendingOn(execution: string): Ids;
  pendingFor(session: string): Ids;
  noticesOfSteer(steer: string): Ids;
  noticesOfContinuation(continuation: string): Ids;
  noticeOf(execution: string): Ids;
  openSteers(session: string): Ids;
  runsOf(session: string): Ids;
  runOwnedBy(execution: string): Ids;
  latestOfRun(run: string, index: number): Ids;
  messagesOfRun(run: string, limit: number): Ids;
  lastAnswerBelow(session: string, root: string): Ids;
  lastAnswerOf(session: string): Ids;
  limited(agent: string): Ids;
  limitedNotices(root: string): Ids;
  waitingIn(root: string): Ids;
  sentTurn(message: string): Ids;
  sentSteer(message: string): Ids;
  scheduleNamed(project: string, name: string): Ids;
  schedulesOf(project: string): Ids;
  dependents(fullName: string): Ids;
  occurrenceAt(schedule: string, instant: number): Ids;
  openOccurrences(schedule: string, inTurn: boolean, limit: number): Ids;
  liveRunsOf(schedule: string): Ids;
  lastRunOf(schedule: string): Ids;
  sessionTotals(session: string): { readonly turns: number; readonly tokens: number };
  latestNotification(transition: string): Ids;
  owedDispatches(target: string, limit: number): Ids;
  openGroups(target: string): Ids;
  dispatchesOf(lead: string): Ids;
  lastVerdictOf(schedule: string): Ids;
  lanesHeld(of: 'all' | 'agent' | 'project', name: string): number;
  laneHolders(limit: number): Ids;
  turnsIn(root: string): Ids;
  firstInLine(): Ids;
  lastInLine(): number;
  lineHeads(): Ids;
  nextInLine(agent: string, project: string, place: number): Ids;
  heldBackNotices(root: string): Ids;
  lockHolder(lock: string): Ids;
  lockNext(lock: string, place: number): Ids;
  lockLast(lock: string): number;
  lockWaiters(session: string): Ids;
  graphStepNamed(graph: string, name: string): Ids;
  graphSteps(graph: string): Ids;
  graphOfStep(attempt: string): Ids;
  backingOff(graph: string, limit: number): Ids;
  openEvaluationsOf(of: string): Ids;
}

/** The statements, each a subquery whose first column is the id. */
const lists = {
  owners: 'SELECT execution_id AS id FROM turn_owners WHERE turn_id = ? ORDER BY position, execution_id',
  activeTurnOf: `
    SELECT t.id AS id FROM turn_owners o JOIN turns t ON t.id = o.turn_id
    WHERE o.execution_id = ? AND t.state <> 'ended' ORDER BY o.turn_id LIMIT 1`,
  held: `
    SELECT e.id AS id FROM holds h JOIN executions e ON e.id = h.execution_id
    WHERE h.holder_id = ? AND e.closed = 0 ORDER BY h.execution_id`,
  openChildren: 'SELECT id FROM executions WHERE parent_id = ? AND closed = 0 ORDER BY id LIMIT ?',
  countedChildren: `
    SELECT id FROM executions WHERE parent_id = ? AND closed = 0 AND detached_at IS NULL ORDER BY id LIMIT ?`,
  keyed: 'SELECT id FROM executions WHERE parent_id = ? AND key = ? AND attempt = ? AND key IS NOT NULL',
  latestKeyed: `
    SELECT id FROM executions WHERE root_id = ? AND key = ? AND key IS NOT NULL ORDER BY id DESC LIMIT 1`,
  liveTasks: `
    SELECT id FROM executions INDEXED BY executions_live_task
    WHERE runs_in = ? AND kind = 'task' AND state IN ('queued', 'running') ORDER BY id`,
  taskNamed: `
    SELECT id FROM executions WHERE runs_in = ? AND native_id = ? AND kind = 'task' ORDER BY id DESC LIMIT 1`,
  nextInput: `
    SELECT execution_id AS id FROM inputs WHERE session_id = ? AND steer_id IS NULL
    ORDER BY position, execution_id LIMIT 1`,
  inputs: 'SELECT execution_id AS id FROM inputs WHERE session_id = ? ORDER BY position, execution_id',
  owed: `
    SELECT id FROM notices
    WHERE session_id = ?1 AND state IN ('owed', 'claimed') AND state = 'owed' AND mode = 'each' AND not_before <= ?2
    ORDER BY owed_at, id LIMIT ?3`,
  batchesFor: `
    SELECT DISTINCT counted_on AS id FROM notices INDEXED BY notices_batch
    WHERE session_id = ? AND state = 'owed' AND mode = 'batch' ORDER BY counted_on`,
  pendingOn: "SELECT id FROM notices WHERE counted_on = ? AND state IN ('owed', 'claimed') ORDER BY id",
  pendingFor: `
    SELECT id FROM notices WHERE session_id = ? AND state IN ('owed', 'claimed') ORDER BY owed_at, id`,
  noticesOfSteer: 'SELECT id FROM notices WHERE steer_id = ? ORDER BY id',
  noticesOfContinuation: 'SELECT id FROM notices WHERE continuation_id = ? ORDER BY id',
  noticeOf: 'SELECT id FROM notices WHERE execution_id = ?',
  openSteers: "SELECT id FROM steers WHERE session_id = ? AND state IN ('claimed', 'written') ORDER BY id",
  runsOf: "SELECT id FROM runs WHERE session_id = ? AND state = 'running' ORDER BY id",
  runOwnedBy: 'SELECT id FROM runs WHERE owner_id = ?',
  latestOfRun: `
    SELECT id FROM executions WHERE run_id = ? AND run_index = ? AND run_id IS NOT NULL
    ORDER BY attempt DESC LIMIT 1`,
  messagesOfRun: `
    SELECT id FROM executions WHERE run_id = ? AND run_id IS NOT NULL
    ORDER BY run_index, attempt LIMIT ?`,
  // By the place of the answer, from the last on: of a conversation, never of a tree, which has as many of these as steps.
  lastAnswerOf: `
    SELECT id FROM executions INDEXED BY executions_answers
    WHERE runs_in = ? AND answer_place IS NOT NULL AND closed = 1 ORDER BY answer_place DESC, id DESC LIMIT 1`,
  lastAnswerBelow: `
    SELECT id FROM executions INDEXED BY executions_answers
    WHERE runs_in = ? AND answer_place IS NOT NULL AND root_id = ? ORDER BY answer_place DESC, id DESC LIMIT 1`,
  limited: 'SELECT id FROM sessions WHERE agent = ? AND usage_limit IS NOT NULL ORDER BY id LIMIT 500',
  // From the few sessions with a limit: a tree may be large.
  limitedNotices: `
    SELECT n.id AS id FROM sessions s INDEXED BY sessions_limited
    JOIN notices n INDEXED BY notices_pending_for ON n.session_id = s.id AND n.state IN ('owed', 'claimed')
    WHERE s.usage_limit IS NOT NULL AND n.state = 'owed' AND n.root_id = ? ORDER BY n.id`,
  waitingIn: 'SELECT id FROM executions WHERE root_id = ? AND waiting IS NOT NULL ORDER BY id',
  sentTurn: `
    SELECT t.id AS id FROM turn_owners o JOIN turns t ON t.id = o.turn_id
    WHERE o.execution_id = ? AND o.position = 0 AND t.cause = 'message' AND t.text <> '' ORDER BY o.turn_id DESC LIMIT 1`,
  sentSteer: 'SELECT id FROM steers WHERE message_id = ? ORDER BY id DESC LIMIT 1',
  scheduleNamed: 'SELECT id FROM schedules WHERE project = ? AND name = ? AND removed_at IS NULL',
  schedulesOf: 'SELECT id FROM schedules WHERE project = ? AND removed_at IS NULL ORDER BY name',
  dependents: 'SELECT id FROM schedules WHERE depends_on = ? AND removed_at IS NULL ORDER BY id',
  occurrenceAt: 'SELECT id FROM occurrences WHERE schedule_id = ? AND instant = ?',
  openOccurrences: `
    SELECT id FROM occurrences
    WHERE schedule_id = ? AND in_turn = ? AND decided_at IS NULL ORDER BY instant LIMIT ?`,
  liveRunsOf: 'SELECT id FROM runs WHERE schedule_id = ? AND ended_at IS NULL ORDER BY id',
  lastRunOf: `
    SELECT id FROM runs WHERE schedule_id = ? AND ended_at IS NOT NULL ORDER BY ended_at DESC, id DESC LIMIT 1`,
  latestNotification: 'SELECT id FROM notifications WHERE transition = ? ORDER BY at DESC, id DESC LIMIT 1',
  owedDispatches: `
    SELECT id FROM dispatches WHERE target = ? AND state = 'owed' ORDER BY owed_at, id LIMIT ?`,
  openGroups: `
    SELECT id FROM dispatches WHERE target = ? AND state = 'sending' AND lead_id = id ORDER BY owed_at, id`,
  lastVerdictOf: `
    SELECT id FROM notifications WHERE schedule_id = ? AND (transition = 'failed' OR transition = 'recovered')
    ORDER BY at DESC, id DESC LIMIT 1`,
  dispatchesOf: 'SELECT id FROM dispatches WHERE lead_id = ? ORDER BY owed_at, id',
  laneHolders: `
    SELECT id FROM sessions INDEXED BY sessions_lane WHERE lane_turn IS NOT NULL ORDER BY lane_turn LIMIT ?`,
  // From the few sessions with a turn: a tree may be large.
  turnsIn: `
    SELECT DISTINCT o.turn_id AS id FROM sessions s INDEXED BY sessions_lane
    JOIN turn_owners o ON o.turn_id IN (s.lane_turn, s.wake_turn)
    JOIN executions e ON e.id = o.execution_id
    JOIN turns t ON t.id = o.turn_id
    WHERE s.lane_turn IS NOT NULL AND e.root_id = ? AND t.state <> 'ended' ORDER BY o.turn_id`,
  firstInLine: 'SELECT session_id AS id FROM admissions ORDER BY place LIMIT 1',
  // One look into the index for each agent in each project, whatever the length of the line.
  lineHeads: `
    WITH RECURSIVE heads (agent, project) AS (
      SELECT * FROM (SELECT agent, project FROM admissions ORDER BY agent, project LIMIT 1) AS head
      UNION ALL
      SELECT next.agent, next.project FROM heads JOIN admissions next ON next.session_id = (
        SELECT a.session_id FROM admissions a WHERE (a.agent, a.project) > (heads.agent, heads.project)
        ORDER BY a.agent, a.project LIMIT 1))
    SELECT (SELECT a.session_id FROM admissions a WHERE a.agent = heads.agent AND a.project = heads.project
      ORDER BY a.place LIMIT 1) AS id FROM heads`,
  nextInLine: `
    SELECT session_id AS id FROM admissions WHERE agent = ? AND project = ? AND place > ? ORDER BY place LIMIT 1`,
  heldBackNotices: `
    SELECT n.id AS id FROM admissions a
    CROSS JOIN notices n INDEXED BY notices_pending_for ON n.session_id = a.session_id AND n.state IN ('owed', 'claimed')
    WHERE n.state = 'owed' AND n.root_id = ? ORDER BY n.id`,
  closedWorkflowsOf: `
    SELECT id FROM executions INDEXED BY executions_closed_workflows
    WHERE reports_to = ? AND closed = 1 AND kind = 'workflow' AND reports_to IS NOT NULL
    ORDER BY closed_at DESC, id DESC LIMIT ?`,
  graphSteps: 'SELECT ref AS id FROM graph_steps WHERE graph_id = ? ORDER BY place',
  graphOfStep: 'SELECT ref AS id FROM graph_steps WHERE current_id = ?',
  backingOff: `
    SELECT ref AS id FROM graph_steps WHERE graph_id = ? AND state = 'backsOff' ORDER BY place LIMIT ?`,
  openEvaluationsOf: "SELECT id FROM graphs WHERE of_id = ? AND state = 'running' ORDER BY id",
  lockHolder: 'SELECT run_id AS id FROM workspaces WHERE lock_path = ? AND is_held = 1',
  lockNext: `
    SELECT run_id AS id FROM workspaces WHERE lock_path = ? AND place > ? AND is_held = 0 ORDER BY place LIMIT 1`,
  lockWaiters: `
    SELECT w.run_id AS id FROM runs r INDEXED BY runs_running JOIN workspaces w ON w.run_id = r.id
    WHERE r.session_id = ? AND r.state = 'running' AND w.place IS NOT NULL AND w.is_held = 0 ORDER BY w.run_id`,
};

/**
 * Everything unclosed that the session runs or owns and whose parent it neither runs nor owns, or which was detached. What runs in it comes
 * from one index; what it owns but does not run from another.
 */
const openOwnedBySql = `
SELECT e.id AS id FROM (
  SELECT id FROM executions WHERE runs_in = ?1 AND closed = 0
  UNION ALL
  SELECT id FROM executions
  WHERE cancelled_by = ?1 AND closed = 0 AND cancelled_by IS NOT NULL AND cancelled_by IS DISTINCT FROM runs_in
) AS own
JOIN executions e ON e.id = own.id
LEFT JOIN executions p ON p.id = e.parent_id
WHERE p.id IS NULL OR e.detached_at IS NOT NULL OR (p.runs_in IS DISTINCT FROM ?1 AND p.cancelled_by IS DISTINCT FROM ?1)
ORDER BY e.id`;

/** Prepares them. */
export function idStatements(db: Connection): IdStatements {
  const list = (sql: string): ((...params: Param[]) => Ids) => listOf(db, sql);
  const number = (sql: string): ((...params: Param[]) => number) => {
    const statement = db.prepare(sql);
    return (...params) => Number(statement.row(params)?.[0] ?? 0);
  };
  const made = Object.fromEntries(Object.entries(lists).map(([name, sql]) => [name, list(sql)])) as {
    readonly [Name in keyof typeof lists]: (...params: Param[]) => Ids;
  };
  const totals = db.prepare(`
    SELECT count(*), coalesce(sum(${db.dialect.fields.tokens}), 0)
    FROM executions WHERE runs_in = ? AND kind IN ('message', 'continuation', 'late')`);
  const lanes = 'SELECT count(*) FROM sessions INDEXED BY sessions_lane WHERE lane_turn IS NOT NULL';
  const held = {
    all: number(`${lanes} AND ? = ''`),
    agent: number(`${lanes} AND agent = ?`),
    project: number(`${lanes} AND project = ?`),
  };
  return {
    ...made,
    sessionTotals: (session) => {
      const [turns, tokens] = totals.row([session]) ?? [];
      return { turns: Number(turns), tokens: Number(tokens) };
    },
    lanesHeld: (of, name) => held[of](of === 'all' ? '' : name),
    lastInLine: number('SELECT max(place) FROM admissions'),
    lockLast: number('SELECT max(place) FROM workspaces WHERE lock_path = ? AND place IS NOT NULL'),
    openOwnedBy: list(openOwnedBySql),
    graphStepNamed: list(
      `SELECT ref AS id FROM graph_steps WHERE graph_id = ? AND ${db.dialect.fields.stepName} = ?`,
    ),
    headPosition: number('SELECT min(position) FROM inputs WHERE session_id = ?'),
    tailPosition: number('SELECT max(position) FROM inputs WHERE session_id = ?'),
    refusedTurns: number(`
      SELECT count(*) FROM turn_owners o JOIN turns t ON t.id = o.turn_id
      WHERE o.execution_id = ? AND o.turn_id <> ? AND t.status = 'refused'`),
  };
}
