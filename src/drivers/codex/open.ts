import type { Clock } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import type { Opened, OpenRequest } from '../port.ts';
import { CodexConversation } from './conversation.ts';
import { type ServerPlace, serverPlaceOf } from './environment.ts';
import { Unreadable } from './history.ts';
import { leaveUnused } from './ending.ts';
import type { Links } from './links.ts';
import type { Answer } from './rpc-client.ts';
import type { ServerLink } from './server-link.ts';
import { freeToolsName, loadMs, threadSettings } from './settings.ts';
import { CodexThread } from './thread.ts';
import { readThreadRecord, type ThreadRecord, toolsFingerprint, withRecordedTasks } from './thread-record.ts';
import { newThreadState } from './thread-state.ts';
import { threadAnswer } from './wire.ts';

type NotOpened = Extract<Opened, { ok: false }>;

const callMs = 20_000;
const drainWithinMs = 60_000;

/** Opens the conversation of a session: the thread that a living server has in memory, else the one on disk, else a new one. */
export async function openConversation(request: OpenRequest, links: Links, clock: Clock): Promise<Opened> {
  try {
    return await open(request, links, clock, clock.monotonic() + drainWithinMs);
  } catch (error) {
    return failed(error instanceof Unreadable ? error.message : String(error));
  }
}

async function open(request: OpenRequest, links: Links, clock: Clock, deadline: number): Promise<Opened> {
  const known = readThreadRecord(request.directory);
  const record =
    known && (request.nativeId === undefined || known.threadId === request.nativeId) ? known : undefined;
  const threadId = request.nativeId ?? record?.threadId;
  if (request.adoptOnly && threadId === undefined) return notRunning();
  const linked = await link(request, record, links);
  if (!linked.ok) return linked;
  let opened: Opened | 'draining';
  try {
    opened =
      threadId === undefined
        ? await begin(request, linked.link, clock)
        : await goOn(request, linked.link, clock, threadId, record);
    if (opened !== 'draining' && !opened.ok && !request.adoptOnly) await leaveUnused(linked.link);
  } finally {
    linked.link.release();
  }
  if (opened !== 'draining') return opened;
  // It takes nothing new and lives until its turns are over. Until then nobody else may have the thread.
  if (clock.monotonic() >= deadline)
    return failed('the Codex app-server is shutting down, and is not done yet');
  await pause(clock, 200);
  return open(request, links, clock, deadline);
}

/** The server that holds the thread if it lives, even if the profile means another one by now. */
async function link(
  request: OpenRequest,
  record: ThreadRecord | undefined,
  links: Links,
): Promise<{ ok: true; link: ServerLink } | NotOpened> {
  const { profile, prepareLaunch } = request;
  const place: ServerPlace = { ...serverPlaceOf(profile), prepareLaunch };
  if (record && record.server !== place.directory) {
    const former: ServerPlace = { ...place, directory: record.server };
    const found = await links.get(former, false);
    if (found.ok || found.code === 'AGENT_FAILED') return found;
  }
  return links.get(place, !request.adoptOnly);
}

async function goOn(
  request: OpenRequest,
  link: ServerLink,
  clock: Clock,
  threadId: string,
  known: ThreadRecord | undefined,
): Promise<Opened | 'draining'> {
  const record: ThreadRecord = known
    ? { ...known, server: link.directory }
    : await newRecord(request, link, threadId, false);
  const fresh = newThreadState(threadId, request.position, request.unresolved);
  const thread = new CodexThread(request, link, clock, fresh, record);
  const isLoaded = (await thread.history.loadedThreads()).includes(threadId);
  if (request.adoptOnly && !isLoaded) return notRunning();
  // Work in the background died with the server that ran it.
  if (isLoaded) thread.stream.update((state) => withRecordedTasks(state, record.tasks));
  thread.save(isLoaded ? {} : { tasks: [] });
  thread.stream.hold();
  link.routes.add(thread.route);
  const answer = await thread.resume(isLoaded);
  if (answer.outcome !== 'ok') {
    thread.close();
    return cannotResume(answer, request, link, clock, record);
  }
  const openTasks = new Set(isLoaded ? record.tasks.map((task) => task.taskId) : []);
  const unresolved = new Set(request.unresolved);
  await thread.readMissed({ position: request.position, unresolved, openTasks }, !isLoaded);
  await thread.stream.flushed(callMs);
  if (isLoaded) await thread.refreshTools();
  return { ok: true, how: isLoaded ? 'adopted' : 'resumed', conversation: new CodexConversation(thread) };
}

async function cannotResume(
  answer: Exclude<Answer, { outcome: 'ok' }>,
  request: OpenRequest,
  link: ServerLink,
  clock: Clock,
  record: ThreadRecord,
): Promise<Opened | 'draining'> {
  if (answer.outcome !== 'refused') return failed(answer.message);
  if (answer.reason === 'serverShuttingDown') return 'draining';
  if (!/no rollout found/i.test(answer.message))
    return failed(`Codex cannot resume ${record.threadId}: ${answer.message}`);
  // A thread of ours in which nothing was ever said leaves no trace; another one is as good.
  const isUntouched = record.isOwn && request.position === 0;
  if (isUntouched && !request.adoptOnly) return begin(request, link, clock);
  return {
    ok: false,
    code: 'SESSION_GONE',
    message: `Codex has no conversation ${record.threadId} any more: ${answer.message}`,
  };
}

async function begin(request: OpenRequest, link: ServerLink, clock: Clock): Promise<Opened | 'draining'> {
  const draft = await newRecord(request, link, '', true);
  const settings = threadSettings(request, draft.toolsName);
  const answer = await link.call('thread/start', settings, loadMs);
  const read = threadAnswer.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  if (!read.success) {
    if (answer.outcome === 'refused' && answer.reason === 'serverShuttingDown') return 'draining';
    return failed(answer.outcome === 'ok' ? 'thread/start was answered in an unknown shape' : answer.message);
  }
  const { id, path } = read.data.thread;
  const record = { ...draft, threadId: id };
  const state = newThreadState(id, request.position, request.unresolved);
  const thread = new CodexThread(request, link, clock, state, record);
  thread.path = path ?? undefined;
  thread.save();
  link.routes.add(thread.route);
  // A thread without a turn is not on disk and cannot be resumed by anybody; with a name it is.
  const named = await thread.call('thread/name/set', { threadId: id, name: `Stemma ${request.sessionId}` });
  if (named.outcome !== 'ok')
    thread.emit({ type: 'noise', what: `the thread could not be named: ${named.message}` });
  return { ok: true, how: 'started', conversation: new CodexConversation(thread) };
}

async function newRecord(
  request: OpenRequest,
  link: ServerLink,
  threadId: string,
  isOwn: boolean,
): Promise<ThreadRecord> {
  const toolsName = await freeToolsName((method, params) => link.call(method, params, callMs), request.cwd);
  const tools = isOwn ? toolsFingerprint(request.tools) : 'unknown';
  return { threadId, server: link.directory, isOwn, tools, toolsName, tasks: [] };
}

function notRunning(): NotOpened {
  return { ok: false, code: 'NOT_RUNNING', message: 'no Codex app-server has this conversation in memory' };
}

function failed(message: string): NotOpened {
  return { ok: false, code: 'AGENT_FAILED', message };
}
