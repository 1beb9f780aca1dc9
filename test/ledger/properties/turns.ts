import type { Execution } from '../../../src/ledger/execution.ts';
import { isSettled } from '../../../src/ledger/execution.ts';
import type { Turn } from '../../../src/ledger/turn.ts';
import { short } from '../calls.ts';
import { isOfTurn } from '../choice.ts';
import type { Moment, Property } from '../moment.ts';
import { changed, commandIf, firstOf } from '../moment.ts';
import { existing, listed } from '../state.ts';

function checkLane({ after }: Moment): string | undefined {
  const held = new Set<string>();
  for (const session of after.sessions.values()) {
    for (const id of [session.laneTurn, session.wakeTurn]) {
      if (id === null) continue;
      held.add(id);
      const turn = existing(after.turns, id);
      if (turn.state === 'ended')
        return `the lane of ${short(session.id)} is held by ${short(id)}, which has ended`;
      if (turn.sessionId !== session.id) return `${short(id)} holds the lane of another session`;
    }
    if (session.wakeTurn !== null && session.laneTurn === null)
      return `${short(session.id)} has a wake and no lane`;
  }
  return firstOf(after.turns.values(), (turn) => {
    if (turn.state !== 'ended' && !held.has(turn.id))
      return `${short(turn.id)} is ${turn.state} without the lane`;
    return turn.state === 'starting' && after.sessions.get(turn.sessionId)?.laneTurn !== turn.id
      ? `${short(turn.id)} is starting as a wake`
      : undefined;
  });
}

function activeTurns({ turns, owners }: Moment['after'], id: Execution['id']): number {
  return [...turns.values()].filter(
    (turn) => turn.state !== 'ended' && listed(owners, turn.id).some((row) => row.id === id),
  ).length;
}

function checkOwners({ after }: Moment): string | undefined {
  return firstOf(after.turns.values(), (turn) => {
    const owners = listed(after.owners, turn.id);
    if (owners.length === 0) return `${short(turn.id)} has no owner`;
    const stray = owners.find((row) => row.runsIn !== turn.sessionId);
    if (stray)
      return `${short(stray.id)} runs in ${short(stray.runsIn)} and owns ${short(turn.id)} of another session`;
    if (turn.state !== 'ended' || turn.status === 'refused' || turn.status === 'joined') return undefined;
    // A message whose turn met a limit is queued again, or runs again; nothing else outlives its turn.
    const isDeferred = (row: Execution): boolean =>
      row.kind === 'message' &&
      turn.status === 'failed' &&
      (after.inputs.has(row.id) || activeTurns(after, row.id) > 0);
    const open = owners.find((row) => !isSettled(row.state) && !isDeferred(row));
    return open && `${short(turn.id)} ended, and its owner ${short(open.id)} did not settle`;
  });
}

/** Whoever is settled by a turn is in the queue or in exactly one turn, until it settles. */
function checkWhere({ after }: Moment): string | undefined {
  return firstOf(after.executions.values(), (row) => {
    if (!isOfTurn(row)) return undefined;
    const isQueued = after.inputs.has(row.id);
    if (isQueued !== (row.state === 'queued'))
      return `${short(row.id)} is ${row.state}, in the queue: ${isQueued}`;
    const turns = listed(after.turnsOf, row.id);
    if (row.kind !== 'message' && turns.length === 0)
      return `${row.kind} ${short(row.id)} exists without a turn`;
    const now = turns.filter((turn) => turn.state !== 'ended').length;
    const wanted = row.state === 'running' ? 1 : now;
    return now === wanted && now <= 1
      ? undefined
      : `${short(row.id)} is ${row.state} in ${now} turns that go on`;
  });
}

function checkSentOnce({ after }: Moment): string | undefined {
  return firstOf(after.turnsOf, ([id, turns]) => {
    const inOrder = [...turns].sort((a, b) => a.createdAt - b.createdAt);
    const sent = inOrder.filter((turn) => turn.status !== 'refused' && turn.status !== 'joined');
    // Sent again, it says so, and the turn before it had failed.
    const isMarked = (turn: Turn, index: number): boolean =>
      sent[index - 1]?.status === 'failed' && turn.text.startsWith(`[stemma ${id} again #`);
    // The agent had said that it never got a text, and took it up by itself after all: we sent nothing then.
    const isOfRefused = (turn: Turn): boolean =>
      turn.text === '' &&
      inOrder.some((other) => other.status === 'refused' && other.createdAt < turn.createdAt);
    const unmarked = sent.filter((turn, index) => index > 0 && !isMarked(turn, index) && !isOfRefused(turn));
    return unmarked.length > 0 ? `${short(id)} was given to ${sent.length} turns` : undefined;
  });
}

/** An end counts exactly for a turn whose own beginning was seen, and which it names. */
function checkEnd(moment: Moment): string | undefined {
  const command = commandIf(moment, 'agentEnded');
  if (!command || moment.came.as !== 'decided') return undefined;
  const session = moment.before.sessions.get(command.sessionId);
  const named = [session?.wakeTurn, session?.laneTurn].some((id) => {
    const turn = id ? moment.before.turns.get(id) : undefined;
    return turn && turn.state !== 'starting' && turn.nativeTurnId === command.nativeTurnId;
  });
  if ((moment.came.value === 'ended') !== named)
    return `named a turn: ${named}, came to ${String(moment.came.value)}`;
  const ended = changed(moment.before.turns, moment.after.turns).filter(({ row }) => row.state === 'ended');
  if (ended.length > 1) return `one end ended ${ended.length} turns`;
  return firstOf(named ? command.tasks : [], ({ taskId }) => {
    const tasks = [...moment.after.executions.values()].filter(
      (row) => row.kind === 'task' && row.runsIn === command.sessionId && row.nativeId === taskId,
    );
    return tasks.length > 0 ? undefined : `${taskId} lives on, and nothing counts it`;
  });
}

function checkTasks({ after }: Moment): string | undefined {
  const live = new Set<string>();
  return firstOf(after.executions.values(), (row) => {
    if (row.kind !== 'task' || isSettled(row.state)) return undefined;
    const name = `${row.runsIn} ${row.nativeId}`;
    if (live.has(name)) return `${short(name)} is counted twice while it lives`;
    live.add(name);
    return undefined;
  });
}

function checkSteers({ after }: Moment): string | undefined {
  const sessions = new Set<string>();
  const open = [...after.steers.values()].filter((steer) => steer.endedAt === null);
  const why = firstOf(open, (steer) => {
    if (sessions.has(steer.sessionId)) return `${short(steer.sessionId)} has two open steers`;
    sessions.add(steer.sessionId);
    const turn = after.turns.get(steer.turnId);
    return steer.state === 'claimed' && turn?.state === 'ended'
      ? `${short(steer.id)} outlives its turn unwritten`
      : undefined;
  });
  return (
    why ??
    firstOf(after.inputs.values(), (input) => {
      const steer = input.steerId === null ? undefined : after.steers.get(input.steerId);
      if (!steer) return undefined;
      return steer.endedAt === null && steer.messageId === input.executionId
        ? undefined
        : `${short(input.executionId)} waits for a steer that is ${steer.state}`;
    })
  );
}

/** Sessions and their turns (invariants 4 and 6). */
export const turnProperties: readonly Property[] = [
  { name: 'a session has one lane, and only what holds it goes on', check: checkLane },
  { name: 'owners run in the session of their turn and settle with it', check: checkOwners },
  {
    name: 'a message is queued or in one turn, and a continuation exists only with its turn',
    check: checkWhere,
  },
  {
    name: 'we give a text to one turn, unless it was refused, joined another, or met a limit and says so',
    check: checkSentOnce,
  },
  {
    name: 'an end counts exactly for a turn that was seen to begin, and carries what lives on',
    check: checkEnd,
  },
  { name: 'a background task is counted once while it lives', check: checkTasks },
  { name: 'a session has one steer on its way, and no claim outlives its turn', check: checkSteers },
];
