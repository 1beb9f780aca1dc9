import type { ExecutionId } from '../../../src/base/ids.ts';
import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import { holding } from '../../../src/ledger/holding.ts';
import type { Notice } from '../../../src/ledger/notice.ts';
import type { Input, Session } from '../../../src/ledger/session.ts';
import type { Turn } from '../../../src/ledger/turn.ts';
import { batchDueAt } from '../batches.ts';
import { short } from '../calls.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, firstOf } from '../moment.ts';
import type { State } from '../state.ts';
import { heldBackIn, limitsIn, listed, workflowsIn } from '../state.ts';

/** When the session can go on by itself; undefined when it waits for its agent, a person, or nothing. */
function dueAt(state: State, session: Session): number | undefined {
  const soonest = dueWithoutLimit(state, session);
  if (soonest === undefined || session.limit === null) return soonest;
  return session.limit.until === null ? undefined : Math.max(soonest, session.limit.until);
}

/** Nothing goes on in it, and nobody calls it. */
function isFree(session: Session): boolean {
  return session.state !== 'stopped' && session.laneTurn === null && session.wakeTurn === null;
}

function dueWithoutLimit(state: State, session: Session): number | undefined {
  if (!isFree(session)) return undefined;
  // Whoever is in line is called (`admission.ts`).
  if (state.admissions.has(session.id)) return undefined;
  for (const input of state.inputs.values())
    if (input.sessionId === session.id && input.steerId === null && !waitsForWorkspace(state, input))
      return 0;
  let soonest: number | undefined;
  for (const notice of state.notices.values()) {
    if (notice.state !== 'owed' || notice.sessionId !== session.id || notice.mode !== 'each') continue;
    if (notice.notBefore < Number.MAX_SAFE_INTEGER) soonest = Math.min(soonest ?? Infinity, notice.notBefore);
  }
  return soonest;
}

/** Its run is in line for its workspace: it is woken when that is free (`admission.ts`). */
function waitsForWorkspace(state: State, input: Input): boolean {
  const runId = state.executions.get(input.executionId)?.runId ?? null;
  const workspace = runId === null ? undefined : state.workspaces.get(runId);
  return workspace !== undefined && workspace.place !== null && !workspace.isHeld;
}

function isWoken(state: State, kind: string, target: string, latest: number): boolean {
  const wake = state.wakes.get(`${kind}:${target}`);
  return wake !== undefined && wake.at <= latest;
}

function checkSessions({ after, now }: Moment): string | undefined {
  return firstOf(after.sessions.values(), (session) => {
    const at = dueAt(after, session);
    if (at === undefined || isWoken(after, 'session', session.id, Math.max(at, now))) return undefined;
    return `${short(session.id)} could go on, and nothing wakes it`;
  });
}

function checkBatches({ after, now }: Moment): string | undefined {
  return firstOf(after.sessions.values(), (session) => {
    const batch = isFree(session) ? batchDueAt(after, session) : undefined;
    if (!batch || after.admissions.has(session.id) || session.limit?.until === null) return undefined;
    const latest = Math.max(batch.at, now, session.limit?.until ?? 0);
    const isSeen =
      isWoken(after, 'session', session.id, latest) || isWoken(after, 'drained', batch.on, latest);
    return isSeen ? undefined : `${short(session.id)} could be given a batch, and nothing wakes it`;
  });
}

/** Whether it begins only when another execution is closed. */
function isDependent(state: State, id: ExecutionId | null): boolean {
  return id !== null && state.executions.get(id)?.waiting?.for === 'dependency';
}

/** What waits for the end of another one is owed a wake-up as soon as that is closed, and before then its closing owes it. */
function checkDependents({ after, now }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (row.waiting?.on === undefined || row.cancelRequested) return undefined;
    const target = after.executions.get(row.waiting.on);
    const isOwed = target?.closed
      ? isWoken(after, 'graph', row.id, now)
      : target?.wakeOnClose?.split(' ').includes(`graph:${row.id}`);
    return isOwed
      ? undefined
      : `${short(row.id)} waits for ${short(row.waiting.on)}, and nothing will wake it`;
  });
}

function checkRuns({ after, now }: Moment): string | undefined {
  return firstOf(after.runs.values(), (run) => {
    const current = run.currentId === null ? undefined : after.executions.get(run.currentId);
    const latest = Math.max(now, run.retryAt ?? 0);
    if (isDependent(after, run.ownerId)) return undefined;
    if (run.state === 'running' && (current?.closed ?? true) && !isWoken(after, 'run', run.id, latest))
      return `${short(run.id)} could go on, and nothing wakes it`;
    const owner = run.ownerId === null ? undefined : after.executions.get(run.ownerId);
    const isDrained = run.state === 'ended' && owner && !isSettled(owner.state) && owner.open === 0;
    return isDrained && !isWoken(after, 'drained', owner.id, now)
      ? `${short(owner.id)} could settle, and nothing wakes it`
      : undefined;
  });
}

function checkChecks({ after, now }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (row.name !== 'check' || row.state !== 'queued' || row.parentId === null) return undefined;
    // Whoever cancelled it ends it.
    if (row.cancelRequested) return undefined;
    const message = after.executions.get(row.parentId);
    return message?.open === 1 && !isWoken(after, 'drained', message.id, now)
      ? `the check of ${short(message.id)} is due, and nothing wakes it`
      : undefined;
  });
}

/** Everything above which something waits for a usage limit or a sign-in, up to what was detached. */
function limitedAbove(state: State, isMeant: (row: Execution) => boolean): Set<string> {
  const isLimited = ({ waiting }: Execution): boolean =>
    waiting?.for === 'capacity' || waiting?.for === 'login';
  return above(
    state,
    (row) => isLimited(row) && isMeant(row),
    ({ sessionId }) => (state.sessions.get(sessionId)?.limit ?? null) !== null,
  );
}

function above(
  state: State,
  waits: (row: Execution) => boolean,
  isDelayed: (notice: Notice) => boolean,
): Set<string> {
  const found = new Set<string>();
  const climb = (id: Execution['id'] | null): void => {
    for (let row = id === null ? undefined : state.executions.get(id); row; ) {
      found.add(row.id);
      row = row.parentId === null || row.detachedAt !== null ? undefined : state.executions.get(row.parentId);
    }
  };
  for (const row of state.executions.values()) if (row.detachedAt === null && waits(row)) climb(row.parentId);
  for (const notice of state.notices.values())
    if (notice.state === 'owed' && isDelayed(notice)) climb(notice.countedOn);
  return found;
}

/** Everything above which something waits for a turn slot. */
function heldBackAbove(state: State): Set<string> {
  return above(
    state,
    (row) => row.waiting?.for === 'slot' || row.waiting?.for === 'workspace',
    ({ sessionId }) => state.admissions.has(sessionId),
  );
}

/** Whether a turn of this tree goes on. */
function isAtWork(state: State, rootId: Execution['id']): boolean {
  return [...state.turns.values()].some(
    (turn) => turn.state !== 'ended' && listed(state.owners, turn.id).some((row) => row.rootId === rootId),
  );
}

function checkDeadlines({ after, now }: Moment): string | undefined {
  const standing = limitedAbove(after, (row) => row.state === 'queued');
  const heldBack = heldBackAbove(after);
  const isStanding = (row: Execution): boolean =>
    row.kind === 'message' &&
    isSettled(row.state) &&
    (standing.has(row.id) || (heldBack.has(row.id) && !isAtWork(after, row.rootId)));
  const slow = new Set([...limitedAbove(after, () => true), ...heldBack]);
  return firstOf(after.executions.values(), (row) => {
    if (row.deadlineAt === null || row.cancelRequested || isStanding(row)) return undefined;
    const isWaiting = row.waiting !== null && row.waiting.for !== 'input' && row.waiting.for !== 'dependency';
    if (isWaiting && row.state === 'queued') return undefined;
    // What an agent says of itself is not believed for ever: the look is only later.
    const latest = isWaiting || slow.has(row.id) ? Infinity : Math.max(row.deadlineAt, now);
    if (row.kind === 'message' && !row.closed && !isWoken(after, 'deadline', row.id, latest))
      return `nothing looks whether the deadline of ${short(row.id)} has passed`;
    return row.kind === 'outside' && !isSettled(row.state) && !isWoken(after, 'heartbeat', row.id, latest)
      ? `nothing looks whether ${short(row.id)} still beats`
      : undefined;
  });
}

/** Whoever asked for a cancellation may die before all below has ended. */
function checkCancellations({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (row.closed || row.detachedAt !== null || !row.cancelRequested) return undefined;
    if (row.cancelRequested.actor.kind === 'parent') return undefined;
    return isWoken(after, 'deadline', row.id, Infinity)
      ? undefined
      : `${short(row.id)} is cancelled, and nothing sees to its end`;
  });
}

/** "Why is it waiting?" always has an answer. */
function checkHolding({ before, after, now }: Moment): string | undefined {
  const open = new Map<string, Execution[]>();
  for (const row of after.executions.values()) {
    const tree = open.get(row.rootId);
    if (tree) tree.push(row);
    else open.set(row.rootId, [row]);
  }
  const touched = new Set(changed(before.executions, after.executions).map(({ row }) => row.rootId));
  return firstOf(open, ([rootId, executions]) => {
    const root = executions.find((row) => row.id === rootId);
    if (!root || root.closed || root.detachedAt !== null || !touched.has(root.id)) return undefined;
    const names = holding({
      executions,
      notices: [...after.notices.values()].filter((notice) => notice.rootId === rootId),
      held: heldBy(after, new Set(executions.map((row) => row.id))),
      turns: turnsOf(after, executions),
      steers: [...after.steers.values()].filter((steer) => steer.endedAt === null),
      limits: limitsIn(after),
      heldBack: heldBackIn(after),
      workflows: workflowsIn(after),
      now,
    });
    return names.length === 0 ? `nobody can say what holds ${root.kind} ${short(root.id)}` : undefined;
  });
}

function heldBy(state: State, tree: ReadonlySet<string>): Execution[] {
  return state.snapshot.holds.flatMap((edge) => {
    const row = tree.has(edge.holderId) ? state.executions.get(edge.executionId) : undefined;
    const notice = state.noticeOf.get(edge.executionId);
    const isOpen = !row?.closed || notice?.state === 'owed' || notice?.state === 'claimed';
    return row && isOpen && !tree.has(row.id) ? [row] : [];
  });
}

function turnsOf(state: State, executions: readonly Execution[]): Map<Execution['id'], Turn> {
  const turns = new Map<Execution['id'], Turn>();
  for (const row of executions) {
    const turn = listed(state.turnsOf, row.id).find((each) => each.state !== 'ended');
    if (turn) turns.set(row.id, turn);
  }
  return turns;
}

/** What may change although nothing came of it: the newer name of a turn, and the fate of a text nobody waits for. */
const mayChange: Partial<Record<string, readonly string[]>> = {
  agentStarted: ['turns', 'steers', 'notices', 'executions'],
  agentTook: ['steers', 'notices', 'executions'],
  // A claim whose text is not wanted any more ends instead of being written, and with it a message that was cancelled.
  resolveSteer: ['steers', 'notices', 'inputs', 'executions'],
  // What has closed is not taken out of anything any more, but its result is dropped.
  detach: ['notices', 'executions'],
};

const tables = [
  'executions',
  'notices',
  'sessions',
  'turns',
  'inputs',
  'steers',
  'runs',
  'admissions',
  'workspaces',
] as const;
const refusedValues: readonly unknown[] = ['ignored', 'stale', 'notYet', 'needsText', 'already', false];

/** What is refused, ignored or stale changes nothing. */
function checkIgnored({ before, after, came, call }: Moment): string | undefined {
  if (came.as === 'thrown') return `threw: ${came.error.message}`;
  if (came.as === 'decided' && !refusedValues.includes(came.value)) return undefined;
  for (const table of tables) {
    const [was, is]: [ReadonlyMap<string, unknown>, ReadonlyMap<string, unknown>] = [
      before[table],
      after[table],
    ];
    if (mayChange[call.rule]?.includes(table)) continue;
    if (was.size !== is.size || changed(was, is).length > 0) return `came to nothing, and changed ${table}`;
  }
  return undefined;
}

/** Nobody is forgotten: whatever could go on is owed a wake-up, and whatever is open can be named. */
export const livenessProperties: readonly Property[] = [
  { name: 'no rule throws, and what is refused or ignored changes nothing', check: checkIgnored },
  { name: 'a session that could go on is owed a wake-up', check: checkSessions },
  { name: 'a controller for which all results are there is owed a wake-up', check: checkBatches },
  { name: 'what waits for the end of another one is woken by it', check: checkDependents },
  { name: 'a run or a composite that could go on is owed a wake-up', check: checkRuns },
  { name: 'a check that is due is owed a wake-up', check: checkChecks },
  { name: 'a deadline that runs is owed a wake-up', check: checkDeadlines },
  { name: 'what is cancelled is owed a wake-up until it is closed', check: checkCancellations },
  { name: 'what is open can be named', check: checkHolding },
];
