import type { Located, ToolCall } from '../port.ts';
import { type ClaudeState, liveTasks } from './state.ts';
import type { ClaudeStream } from './stream.ts';

/** How long a call waits for the stream to tell of it. The stream is ahead of the call; this is for a machine under load. */
const barrierMs = 10_000;

/**
 * In which turn a tool call was made. Claude names its own call in each request, and has told of it before: of a sub-agent's
 * too: one that works in the background belongs to the turn that called it as long as that runs, and then to the background
 * work. The output must have been read up to now.
 */
export async function locateCall(stream: ClaudeStream, call: ToolCall): Promise<Located> {
  const toolUseId = call.meta['claudecode/toolUseId'];
  if (typeof toolUseId !== 'string') return locateNameless(stream.state);
  const turnId = await stream.until(({ calls }) => calls.get(toolUseId), barrierMs);
  if (turnId === undefined) return { state: 'unknown' };
  const { state } = stream;
  if (runningTurn(state) === turnId) return { state: 'running', nativeTurnId: turnId };
  // What outlived its turn belongs to no turn that could be named, and is no call of an ended one either.
  return state.agentCalls.has(toolUseId) && liveTasks(state).length > 0
    ? { state: 'unknown' }
    : { state: 'ended' };
}

/**
 * Every call of Claude's own is named, so this one comes from a program that it has started: in the turn that runs, or in
 * one that is over and left the program behind. Which turn is not proven, also where only one runs.
 */
function locateNameless(state: ClaudeState): Located {
  const isQuiet = runningTurn(state) === undefined && liveTasks(state).length === 0;
  return { state: isQuiet ? 'ended' : 'unknown' };
}

function runningTurn({ turn }: ClaudeState): string | undefined {
  return turn?.isAnnounced && !turn.verdict ? turn.id : undefined;
}
