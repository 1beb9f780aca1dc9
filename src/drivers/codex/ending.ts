import { pause, waitUntil } from '../../base/pause.ts';
import type { ServerLink } from './server-link.ts';
import type { CodexThread } from './thread.ts';
import { loadedList, threadAnswer } from './wire.ts';

const turnEndMs = 5_000;
const terminalsEndMs = 5_000;
const betweenLooksMs = 50;
const lookMs = 20_000;

/** Ends what the agent runs in the background: its commands, and the turns of its sub-agents. True when nothing is left. */
export async function stopBackground(thread: CodexThread): Promise<boolean> {
  const { agentTurns } = thread.state;
  for (const [turnId, { threadId }] of agentTurns) await thread.call('turn/interrupt', { threadId, turnId });
  await waitUntil(thread.clock, () => thread.state.agentTurns.size === 0, turnEndMs);
  const threadIds = [
    thread.id,
    ...new Set([...agentTurns.values(), ...thread.state.commands.values()].map((t) => t.threadId)),
  ];
  for (const threadId of threadIds) await thread.call('thread/backgroundTerminals/clean', { threadId });
  const deadline = thread.clock.monotonic() + terminalsEndMs;
  while (thread.clock.monotonic() < deadline) {
    try {
      const lists = await Promise.all(threadIds.map((threadId) => thread.history.terminals(threadId)));
      if (lists.flat().length === 0) return thread.state.agentTurns.size === 0;
    } catch {
      return false;
    }
    await pause(thread.clock, betweenLooksMs);
  }
  return false;
}

/**
 * Ends the conversation. The server goes with it when nothing else is at work there; else the thread is brought to rest
 * and left alone. A thread that does not come to rest is `unkillable` as long as its server serves others.
 */
export async function endThread(thread: CodexThread): Promise<'dead' | 'unkillable'> {
  if (thread.hasExited) return 'dead';
  const isQuiet = await bringToRest(thread);
  // One after the other: of several that end at once, each would take the server for one that still serves others.
  return thread.link.leaving.run(() => leave(thread, isQuiet));
}

/**
 * Ends the server of an opening that failed, if nobody else uses it and nothing is at work there: a conversation that ended
 * meanwhile left it to this one. The caller has the last pin.
 */
export async function leaveUnused(link: ServerLink): Promise<void> {
  await link.leaving.run(async () => {
    if (!link.isUnused || link.hasLeftWork() || (await isAnyActive(link)) || !link.isUnused) return;
    await link.endServer('its last opening failed');
  });
}

async function isAnyActive(link: ServerLink): Promise<boolean> {
  const loaded = await link.call('thread/loaded/list', {}, lookMs);
  const list = loadedList.safeParse(loaded.outcome === 'ok' ? loaded.result : undefined);
  if (!list.success) return true;
  for (const threadId of list.data.data) {
    const answer = await link.call('thread/read', { threadId }, lookMs);
    const read = threadAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
    if (read.data?.thread.status.type === 'active') return true;
  }
  return false;
}

async function leave(thread: CodexThread, isQuiet: boolean): Promise<'dead' | 'unkillable'> {
  if (thread.hasExited) return 'dead';
  const isServerIdle = thread.link.isLast && !(await othersWork(thread));
  // Once more, in the moment in which it is ended: another conversation may have been opened meanwhile.
  if (isServerIdle && thread.link.isLast) {
    // Nothing is emitted any more, not even that the server has exited: that is what was asked for.
    const ended = thread.link.endServer('the conversation was ended');
    thread.stream.close();
    const outcome = await ended;
    thread.close();
    return outcome;
  }
  if (!isQuiet) return 'unkillable';
  await thread.call('thread/unsubscribe', { threadId: thread.id });
  thread.close();
  return 'dead';
}

async function bringToRest(thread: CodexThread): Promise<boolean> {
  const turnId = thread.state.turn?.id ?? thread.state.starting?.turnId;
  if (turnId !== undefined) {
    await thread.call('turn/interrupt', { threadId: thread.id, turnId });
    await waitUntil(thread.clock, () => thread.state.turn === undefined, turnEndMs);
  }
  return (await stopBackground(thread)) && thread.state.turn === undefined;
}

/** Whether a thread that is not ours is active, which may belong to another server of ours or to a person. */
async function othersWork(thread: CodexThread): Promise<boolean> {
  try {
    for (const threadId of await thread.history.loadedThreads()) {
      if (threadId === thread.id || thread.state.agents.has(threadId)) continue;
      const answer = await thread.call('thread/read', { threadId });
      const read = threadAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
      if (read.data?.thread.status.type === 'active') return true;
    }
    return false;
  } catch {
    return false;
  }
}
