import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { pause, waitUntil } from '../../base/pause.ts';
import { isAlive, type ProcessIdentity } from '../../processes/process-identity.ts';
import type { TerminalOrder } from '../../terminal/terminal-order.ts';
import { TmuxTerminals } from '../../terminal/tmux-terminals.ts';
import type { Opened, OpenRequest } from '../port.ts';
import { ScreenConversation } from './conversation.ts';
import { ConversationLog } from './conversations.ts';
import { Feed } from './feed.ts';
import { beginAnew, followDead, readHistory } from './history.ts';
import { conversationIdOf, environmentOf, hooksFileIn, projectsOf, writeLaunch } from './launch.ts';
import { Live } from './live.ts';
import { AgentScreen } from './screen.ts';
import { SentLog } from './sent-log.ts';
import { newScreenState } from './state.ts';

type NotOpened = Extract<Opened, { ok: false }>;

const readyWithinMs = 60_000;
const askedForMs = 10_000;
const listedWithinMs = 15_000;
const betweenLooksMs = 100;

/** Opens the conversation of a session: the agent whose terminal lives, else one that resumes the conversation or begins it. */
export async function openScreen(request: OpenRequest, clock: Clock, order: TerminalOrder): Promise<Opened> {
  try {
    return await open(request, clock, order);
  } catch (error) {
    return failed('AGENT_FAILED', error instanceof Error ? error.message : String(error));
  }
}

async function open(request: OpenRequest, clock: Clock, order: TerminalOrder): Promise<Opened> {
  const { sessionId, directory } = request;
  const noises: string[] = [];
  const report = (what: string, data: Readonly<Record<string, unknown>>): void =>
    void noises.push(`${what} ${JSON.stringify(data)}`);
  // A session's directory lies in `sessions` of its data directory, whose terminals are in one tmux.
  const terminals = new TmuxTerminals({ clock, dataDir: dirname(dirname(directory)), order, report });
  const living = await terminals.processIn(sessionId);
  if (!living && request.adoptOnly)
    return { ok: false, code: 'NOT_RUNNING', message: 'no terminal of this session has a living agent' };
  const conversations = new ConversationLog(directory, request.nativeId ?? conversationIdOf(sessionId));
  const find = transcripts(request);
  const hooksFile = hooksFileIn(directory);
  const { hasStrayed } = living ? { hasStrayed: false } : followDead(conversations, hooksFile, find);
  const sentLog = new SentLog(directory);
  const live = new Live(request, clock, newScreenState(sentLog.texts));
  const read = readHistory(conversations, find, (signal, position) => live.hear(signal, position));
  if (request.nativeId !== undefined && !living && !read.hasContent && isTold(request, conversations))
    return failed('SESSION_GONE', `Claude Code has no conversation ${conversations.last.id} any more`);
  const isEmpty = !living && !read.hasContent && find(conversations.last.id) !== undefined;
  const newId = conversationIdOf(`${sessionId} ${conversations.all.length}`);
  const history = isEmpty ? beginAnew(conversations, read, newId) : read;
  const { id: nativeId } = conversations.last;
  const isResumed = history.hasContent;
  if (living) live.forgetEnded();
  else live.forgetDead();
  if (hasStrayed) live.loseUntaken(sentLog);
  const permit = living ? undefined : await request.prepareLaunch?.();
  if (permit?.ok === false) return failed('AGENT_UNAVAILABLE', permit.message);
  const listingsBefore = request.tools?.listings?.() ?? 0;
  const launch = living ? undefined : writeLaunch(request, nativeId, isResumed, permit?.env);
  const failure = launch && (await terminals.run(sessionId, launch));
  if (failure !== undefined) return failed('AGENT_UNAVAILABLE', failure);
  const process = living ?? (await terminals.processIn(sessionId));
  if (!process) return failed('AGENT_UNAVAILABLE', 'the agent ended before its screen could be seen');
  let isUp = false;
  const oldHooksEnd = living ? sizeOf(hooksFile) : 0;
  const feed = new Feed({
    clock,
    hooksFile,
    ...history,
    onHook: (hook, endOffset) => {
      isUp ||= hook.hook_event_name === 'SessionStart';
      if (endOffset <= oldHooksEnd) live.hearOldHook(hook);
      else live.hearHook(hook);
    },
    onSignal: (signal, position) => live.hear(signal, position),
    onLeave: () => live.leave(),
    onNext: (next) => conversations.add(next),
    onNoise: (what) => live.emit({ type: 'noise', what }),
  });
  feed.start();
  const screen = new AgentScreen(terminals, sessionId, clock);
  // Who lives is adopted as it is: a dialog on its screen belongs to its turn, and is no reason to end it.
  const notUp = living ? undefined : await whyNotUp(request, clock, screen, process, () => isUp);
  if (notUp !== undefined) {
    feed.close();
    live.close();
    screen.close();
    await terminals.close(sessionId);
    return failed('AGENT_FAILED', notUp);
  }
  if (!living) await hasTools(request, clock, listingsBefore);
  await feed.drain();
  if (living) await askAgain(live, screen);
  const how = living ? 'adopted' : isResumed ? 'resumed' : 'started';
  const parts = { request, clock, terminals, process, screen, live, feed, sentLog, conversations };
  return { ok: true, how, conversation: new ScreenConversation(parts) };
}

/** Whether anything was ever told of the last conversation. */
function isTold({ position }: OpenRequest, { last }: ConversationLog): boolean {
  return position > last.base;
}

/**
 * Waits until the agent has the list of our tools: at its screen it takes texts before, and the first turn would have none. An agent
 * that never asks for them is used all the same.
 */
async function hasTools({ tools, signal }: OpenRequest, clock: Clock, before: number): Promise<void> {
  const listings = tools?.listings;
  if (listings) await waitUntil(clock, () => listings() > before, listedWithinMs, signal);
}

/** A question that an earlier process of ours told is told again while it stands on the screen. */
async function askAgain(live: Live, screen: AgentScreen): Promise<void> {
  const seen = await screen.look();
  live.askAgain(seen?.composer.state === 'absent');
}

/** Waits until the agent says that it is there and shows a composer. A dialog at its start needs a person. */
async function whyNotUp(
  { signal = new AbortController().signal }: OpenRequest,
  clock: Clock,
  screen: AgentScreen,
  process: ProcessIdentity,
  isUp: () => boolean,
): Promise<string | undefined> {
  const deadline = clock.monotonic() + readyWithinMs;
  let excerpt = '';
  let since = clock.monotonic();
  while (clock.monotonic() < deadline && !signal.aborted) {
    const seen = await screen.look();
    if (!seen || !isAlive(process)) return `the agent ended while it started: ${excerpt}`;
    if (seen.excerpt !== excerpt) since = clock.monotonic();
    excerpt = seen.excerpt;
    // What stands still without a composer asks something.
    if (excerpt !== '' && seen.composer.state === 'absent' && clock.monotonic() - since > askedForMs) break;
    if (isUp() && seen.composer.state !== 'absent') return undefined;
    await pause(clock, betweenLooksMs, signal);
  }
  return `the agent did not get ready; run it once in this directory and answer what it asks. Its screen shows: ${excerpt}`;
}

/** Finds the agent's own file of a conversation, if there is one: its directory has a name made of the working directory's. */
function transcripts({ profile }: OpenRequest): (id: string) => string | undefined {
  const projects = projectsOf(environmentOf(profile));
  return (id) => {
    const file = `${id}.jsonl`;
    const place = namesIn(projects).find((name) => namesIn(join(projects, name)).includes(file));
    return place === undefined ? undefined : join(projects, place, file);
  };
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function failed(code: NotOpened['code'], message: string): NotOpened {
  return { ok: false, code, message };
}
