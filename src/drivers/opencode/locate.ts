import type { Located } from '../port.ts';
import type { OpencodeSession } from './session.ts';

const barrierMs = 8_000;

/**
 * In which turn a tool call was made. opencode's calls name nothing, and may arrive before the event that tells of them; but
 * a turn begins on the stream before the agent asks its model, and the model is what calls. So the stream is read up to this
 * moment, and then the turn that runs is the turn of the call. A sub-agent that works in the background belongs to no turn, and its
 * calls look like those of the turn: they are the turn's while one runs; without one, no turn made them, and whoever asked
 * looks at the tasks that live.
 */
export async function locateCall(session: OpencodeSession): Promise<Located> {
  if (!(await session.flushed(barrierMs))) return { state: session.hasExited ? 'ended' : 'unknown' };
  const { turn } = session.state;
  return turn ? { state: 'running', nativeTurnId: turn.id } : { state: 'ended' };
}
