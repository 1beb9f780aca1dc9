import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import type { Located, ToolCall } from '../port.ts';
import type { CodexThread } from './thread.ts';
import { opinionOn, type ThreadState } from './thread-state.ts';

const barrierMs = 10_000;

const turnMetadata = z.object({ turn_id: z.string() });
const callMeta = z.object({
  threadId: z.string(),
  sessionId: z.string().nullish(),
  'x-codex-turn-metadata': z.union([turnMetadata, z.string().transform(parseJson).pipe(turnMetadata)]),
});

/**
 * In which turn a tool call was made. Calls and events travel on two channels and a call may come first, so this waits
 * until the stream has told of the turn that the call itself names. A call of a sub-agent belongs to the turn that the
 * sub-agent works for; once that is over, so is the turn of the call, whatever runs meanwhile.
 */
export async function locateCall(thread: CodexThread, call: ToolCall): Promise<Located> {
  const read = callMeta.safeParse(call.meta);
  if (!read.success) return { state: 'unknown' };
  const { threadId, sessionId, 'x-codex-turn-metadata': metadata } = read.data;
  const isOwn = threadId === thread.id;
  if (!isOwn && sessionId !== thread.id) return { state: 'unknown' };
  const opinion = (state: ThreadState): Located | undefined =>
    isOwn ? ofOwnTurn(state, metadata.turn_id) : ofAgentTurn(state, metadata.turn_id);
  const known = opinion(thread.state);
  if (known) return known;
  const asked = askRecord(thread, threadId, metadata.turn_id);
  const heard = thread.stream.until(opinion, barrierMs);
  return (await Promise.race([heard, asked])) ?? (await heard) ?? { state: 'unknown' };
}

function ofOwnTurn(state: ThreadState, turnId: string): Located | undefined {
  const opinion = opinionOn(state, turnId);
  return opinion === 'running' ? { state: 'running', nativeTurnId: turnId } : opinion && { state: 'ended' };
}

function ofAgentTurn(state: ThreadState, turnId: string): Located | undefined {
  const turn = state.agentTurns.get(turnId);
  if (!turn) return state.endedAgentTurns.includes(turnId) ? { state: 'ended' } : undefined;
  const isForRunning = state.turn?.isAnnounced && state.turn.id === turn.rootTurnId;
  return isForRunning ? { state: 'running', nativeTurnId: state.turn.id } : { state: 'ended' };
}

/** Only the record remembers turns that ended long ago. Undefined: the turn runs, or is not there yet. */
async function askRecord(
  thread: CodexThread,
  threadId: string,
  turnId: string,
): Promise<Located | undefined> {
  try {
    const turns = await thread.history.turns(threadId, () => true);
    const found = turns.find(({ id }) => id === turnId);
    return found && found.status !== 'inProgress' ? { state: 'ended' } : undefined;
  } catch {
    return undefined;
  }
}
