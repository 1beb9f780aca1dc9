import type { DriverReport } from '../port.ts';
import { type Call, History } from './history.ts';
import type { Route } from './routes.ts';
import type { ServerLink } from './server-link.ts';
import type { ThreadStream } from './thread-stream.ts';
import { started } from './wire.ts';

/** What of a thread is needed to read what is around it. */
interface ReadThread {
  readonly id: string;
  readonly link: ServerLink;
  readonly stream: ThreadStream;
  readonly history: History;
  readonly route: Route;
  readonly call: Call;
  emit(event: DriverReport): void;
}

const lookMs = 5_000;

/** Which commands run in the background of these threads; undefined when that cannot be learned soon. */
export async function livingCommands(
  link: ServerLink,
  threadIds: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  const history = new History((method, params) => link.call(method, params, lookMs));
  try {
    const lists = await Promise.all(threadIds.map((threadId) => history.terminals(threadId)));
    return new Set(lists.flat().map((terminal) => terminal.itemId));
  } catch {
    return undefined;
  }
}

/** Empties Codex's own queue, which would start turns that nobody here knows of. Throws `Unreadable`. */
export async function clearQueue(thread: ReadThread): Promise<void> {
  for (const { id } of await thread.history.queued(thread.id)) {
    await thread.call('thread/queue/delete', { threadId: thread.id, queuedSubmissionId: id });
    thread.emit({ type: 'noise', what: `a text waited in Codex's own queue (${id}); it was removed` });
  }
}

/** Hears the thread of a sub-agent from now on, if it is in the server's memory; says whether it is. */
export async function hearAgent(thread: ReadThread, threadId: string): Promise<boolean> {
  thread.link.routes.claim(threadId, thread.route);
  const isLoaded = (await thread.history.loadedThreads()).includes(threadId);
  if (isLoaded) await thread.call('thread/resume', { threadId, excludeTurns: true });
  return isLoaded;
}

/** Hears a sub-agent that was spoken to, and finds the turn that it is in already. */
export async function watchAgent(thread: ReadThread, threadId: string): Promise<void> {
  try {
    await hearAgent(thread, threadId);
    const turn = await thread.history.newestTurn(threadId);
    if (turn?.status === 'inProgress') thread.stream.push(started(threadId, turn), { isReplay: true });
  } catch {
    // Not to be heard, then: its end will be found in the record.
  }
}
