import type { ExecutionId, NoticeId, SessionId } from '../base/ids.ts';
import type { Execution } from './execution.ts';
import { isAttempt, isCounted, isSettled } from './execution.ts';
import type { Notice } from './notice.ts';
import { isPending } from './notice.ts';
import type { Limit } from './session.ts';
import type { Steer, Turn } from './turn.ts';

/** One thing that keeps a root open, by name. Instants are UTC milliseconds. */
export interface Holding {
  readonly executionId?: ExecutionId;
  readonly noticeId?: NoticeId;
  readonly why:
    | 'running'
    | 'queued'
    | 'waiting'
    | 'starting'
    | 'notice_owed'
    | 'notice_backing_off'
    | 'steer_unresolved'
    | 'shared_turn'
    | 'check_pending'
    | 'cancelling';
  readonly since: number;
  readonly evidence: string;
  readonly until?: number;
}

/** A session that waits for a turn slot. `since`: UTC milliseconds. */
export interface HeldBack {
  readonly since: number;
  /** Which limit holds it back, and who has the slots. */
  readonly text: string;
}

/** A step of a workflow that failed and is tried again. Instants are UTC milliseconds. */
export interface BackOff {
  readonly step: string;
  readonly attempt: number;
  /** The code with which it failed. */
  readonly code: string;
  readonly since: number;
  readonly until: number;
}

/**
 * What of a tree is needed to say why it is open. `held` are executions of other trees that it holds: unclosed, or with a
 * notice that is owed or claimed.
 */
export interface OpenTree {
  readonly executions: readonly Execution[];
  readonly notices: readonly Notice[];
  readonly held: readonly Execution[];
  /** Unended turns by owner, and steers that are claimed or written. */
  readonly turns: ReadonlyMap<ExecutionId, Turn>;
  readonly steers: readonly Steer[];
  /** Usage limits and expired sign-ins of the sessions that results of the tree are owed to. */
  readonly limits: ReadonlyMap<SessionId, Limit>;
  /** Which of these sessions wait for a turn slot, since when, and who has the slots. */
  readonly heldBack: ReadonlyMap<SessionId, HeldBack>;
  /** The executions of it that are workflows, each with its steps between two attempts. */
  readonly workflows: ReadonlyMap<ExecutionId, readonly BackOff[]>;
  readonly now: number;
}

/** The answer to "why is it waiting?": the leaves of what is open, each with its evidence. */
export function holding(tree: OpenTree): Holding[] {
  const found: Holding[] = [];
  const withOpenChildren = new Set(tree.executions.filter(isCounted).map((row) => row.parentId));
  for (const row of tree.executions) {
    if (isSettled(row.state) || row.closed || !(isCounted(row) || row.parentId === null)) continue;
    const backOffs = tree.workflows.get(row.id) ?? [];
    for (const each of backOffs) found.push(ofBackOff(row, each));
    // What waits for its parts is explained by them, which say more.
    if (waitsForParts(row, tree) && (withOpenChildren.has(row.id) || backOffs.length > 0)) continue;
    found.push(ofExecution(row, tree));
  }
  const batches = new Map<ExecutionId, Notice[]>();
  for (const notice of tree.notices) {
    if (!isPending(notice.state)) continue;
    if (notice.mode === 'each') found.push(ofNotice(notice, tree));
    else batches.set(notice.countedOn, [...(batches.get(notice.countedOn) ?? []), notice]);
  }
  for (const [id, notices] of batches) found.push(...ofBatch(id, notices, tree));
  for (const row of tree.held) {
    if (row.detachedAt !== null) continue;
    const how = row.closed ? 'its result was not handed over yet' : `it is ${row.state}`;
    const evidence = `${row.name} was started in a turn that this shares, and ${how}`;
    found.push({ executionId: row.id, why: 'shared_turn', since: row.createdAt, evidence });
  }
  return found.sort((a, b) => a.since - b.since);
}

/** Whether it does nothing itself while something below it is open. */
function waitsForParts(row: Execution, { workflows }: OpenTree): boolean {
  if (row.kind === 'agent' || row.kind === 'review' || workflows.has(row.id)) return true;
  return isAttempt(row) && (row.runsIn !== null || row.drain === 0);
}

function ofBackOff({ id }: Execution, { step, attempt, code, since, until }: BackOff): Holding {
  const evidence = `step "${step}" failed (${code}) in attempt ${attempt}, and is tried again`;
  return { executionId: id, why: 'waiting', since, evidence, until };
}

function ofExecution(row: Execution, tree: OpenTree): Holding {
  const about = { executionId: row.id, ...(row.deadlineAt === null ? {} : { until: row.deadlineAt }) };
  const turn = tree.turns.get(row.id);
  if (row.waiting) {
    const until = row.waiting.until === undefined ? {} : { until: row.waiting.until };
    const evidence = `waits for ${row.waiting.for}${row.waiting.text ? `: ${row.waiting.text}` : ''}`;
    return { executionId: row.id, why: 'waiting', since: row.waiting.since, evidence, ...until };
  }
  if (row.cancelRequested) {
    return {
      ...about,
      why: 'cancelling',
      since: row.cancelRequested.at,
      evidence: 'asked to stop, has not ended yet',
    };
  }
  if (row.kind === 'step' && row.state === 'queued') {
    return {
      ...about,
      why: 'check_pending',
      since: row.createdAt,
      evidence: 'runs when all else below is closed',
    };
  }
  if (row.state === 'queued') {
    return { ...about, why: 'queued', since: row.createdAt, evidence: 'waits for the lane of its session' };
  }
  const since = row.startedAt ?? row.createdAt;
  if (turn?.state === 'starting') {
    const evidence =
      turn.writtenAt === null ? 'has the lane, its text is not sent yet' : 'sent, not seen to begin yet';
    return { ...about, why: 'starting', since, evidence };
  }
  const evidence = turn ? `turn ${turn.id} runs in session ${turn.sessionId}` : `its ${row.kind} runs`;
  return { ...about, why: 'running', since, evidence };
}

/** How many names of what is waited for are told. */
const mostNamed = 5;

/** Results that are handed over together: which of them are still to come, or what their session waits for. */
function ofBatch(id: ExecutionId, notices: readonly Notice[], tree: OpenTree): Holding[] {
  const since = Math.min(...notices.map((notice) => notice.owedAt));
  const parent = tree.executions.find((row) => row.id === id);
  const open = tree.executions.filter((row) => row.parentId === id && isCounted(row));
  if (parent && !isSettled(parent.state)) return [];
  if (open.length === 0) return notices.map((notice) => ofNotice(notice, tree));
  const given = open.filter((row) => row.mode === 'batch');
  const all = new Set([...given.map((row) => row.id), ...notices.map((notice) => notice.executionId)]);
  const waitsFor = given.length > 0 ? given : open;
  const names = waitsFor.slice(0, mostNamed).map((row) => row.name);
  const more = waitsFor.length > mostNamed ? ', …' : '';
  const how = given.length > 0 ? `${given.length} of ${all.size} sub-agents` : 'what goes on beside them';
  const evidence = `waits for ${how}: ${names.join(', ')}${more}`;
  return [{ executionId: id, why: 'waiting', since, evidence }];
}

function ofNotice(notice: Notice, tree: OpenTree): Holding {
  const about = { noticeId: notice.id, executionId: notice.executionId };
  const steer = notice.steerId === null ? undefined : tree.steers.find((open) => open.id === notice.steerId);
  if (steer?.state === 'written') {
    const evidence = `steered into turn ${steer.turnId}; not seen taken, and not yet proved that it never will be`;
    return { ...about, why: 'steer_unresolved', since: steer.createdAt, evidence };
  }
  const limit = tree.limits.get(notice.sessionId);
  if (limit) {
    const evidence = `waits for ${limit.for}: ${limit.text}`;
    const until = limit.until === null ? {} : { until: limit.until };
    return { ...about, why: 'waiting', since: Math.max(limit.since, notice.owedAt), evidence, ...until };
  }
  if (notice.notBefore > tree.now) {
    // What its agent is to tell by itself has no instant.
    const isOpen = notice.notBefore >= Number.MAX_SAFE_INTEGER;
    const evidence = isOpen ? 'its agent will wake for it' : `delivery ${notice.attempt + 1} waits`;
    const until = isOpen ? {} : { until: notice.notBefore };
    return { ...about, why: 'notice_backing_off', since: notice.owedAt, evidence, ...until };
  }
  const held = tree.heldBack.get(notice.sessionId);
  if (held) {
    const since = Math.max(held.since, notice.owedAt);
    return { ...about, why: 'waiting', since, evidence: `waits for slot: ${held.text}` };
  }
  return {
    ...about,
    why: 'notice_owed',
    since: notice.owedAt,
    evidence: `waits for the lane of ${notice.sessionId}`,
  };
}
