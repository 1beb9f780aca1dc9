import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../base/clock.ts';
import { endGroup } from '../../processes/group.ts';
import { removeRecord } from '../../processes/recorded-launch.ts';
import type { Opened, OpenRequest } from '../port.ts';
import { OpencodeApi } from './api.ts';
import { capabilitiesOf } from './capabilities.ts';
import { OpencodeConversation } from './conversation.ts';
import { placeOf, sandboxWarnings, sessionRules, toolServer, toolsName } from './environment.ts';
import { removeLeft } from './evidence.ts';
import { Journal, sessionInJournal } from './journal.ts';
import { adoptServer, launchServer, type OpencodeServer } from './server.ts';
import { OpencodeSession } from './session.ts';
import { configuredTools, sessionInfo, toolStatus } from './wire.ts';

type NotOpened = Extract<Opened, { ok: false }>;

const readyMs = 40_000;
const toolsMs = 30_000;
const graceMs = 2_000;

/** Opens the conversation of a session: on the server that lives, else on a new one with the old record, else a new one. */
export async function openConversation(request: OpenRequest, clock: Clock): Promise<Opened> {
  try {
    const nativeId = request.nativeId ?? sessionInJournal(request.directory);
    const adopted = await adoptServer(request.directory, clock);
    if (adopted.ok) return await goOn(request, adopted.server, clock, nativeId);
    if (adopted.code !== 'NOT_RUNNING' || request.adoptOnly) return adopted;
    const launched = await launchServer(request, placeOf(request.profile), clock);
    if (!launched.ok) return launched;
    return await begin(request, launched.server, clock, nativeId);
  } catch (error) {
    return failed(`the conversation cannot be kept in ${request.directory}: ${String(error)}`);
  }
}

/** Takes over a server that lives. One that was never given a conversation is of no use. */
async function goOn(
  request: OpenRequest,
  server: OpencodeServer,
  clock: Clock,
  nativeId: string | undefined,
): Promise<Opened> {
  if (nativeId === undefined) {
    await giveUp(request, server, clock);
    return request.adoptOnly
      ? { ok: false, code: 'NOT_RUNNING', message: 'the server that lived had no conversation' }
      : openConversation(request, clock);
  }
  const api = new OpencodeApi(server);
  const session = await join(request, server, clock, { sessionId: nativeId, isNewProcess: false });
  if (!(await session.ready(readyMs))) {
    const hasExited = session.hasExited;
    await session.close();
    if (hasExited && !request.adoptOnly) return openConversation(request, clock);
    return failed(`the opencode server at ${server.url} lives but does not answer`);
  }
  await offerTools(request, api, session);
  const conversation = new OpencodeConversation(session, await capabilitiesOf(api));
  return { ok: true, how: 'adopted', conversation };
}

async function begin(
  request: OpenRequest,
  server: OpencodeServer,
  clock: Clock,
  nativeId: string | undefined,
): Promise<Opened> {
  const api = new OpencodeApi(server);
  // Both make it load what its first turn needs.
  const [toolless, provable] = await Promise.all([whyToolless(request, api), capabilitiesOf(api)]);
  if (toolless !== undefined) {
    await giveUp(request, server, clock);
    return failed(`the agent's tools cannot be reached: ${toolless}`);
  }
  const found = nativeId === undefined ? await create(request, api) : await find(request, api, nativeId);
  if (!found.ok) {
    await giveUp(request, server, clock);
    return found;
  }
  const session = await join(request, server, clock, { sessionId: found.id, isNewProcess: true });
  if (!(await session.ready(readyMs))) {
    await session.close();
    await giveUp(request, server, clock);
    return failed('the opencode server does not answer');
  }
  if (!(await removeLeft(session))) {
    await session.close();
    await giveUp(request, server, clock);
    return failed('a text that the dead process had left could not be removed from the record');
  }
  for (const what of sandboxWarnings(request.profile)) session.take({ type: 'noise', what });
  const conversation = new OpencodeConversation(session, provable);
  const how = nativeId !== undefined && found.id === nativeId ? 'resumed' : 'started';
  return { ok: true, how, conversation };
}

/** Opens the journal, tells what may not have been processed, and begins to listen. */
async function join(
  request: OpenRequest,
  server: OpencodeServer,
  clock: Clock,
  { sessionId, isNewProcess }: { readonly sessionId: string; readonly isNewProcess: boolean },
): Promise<OpencodeSession> {
  const { journal, state, unheard, isNew } = Journal.open(request.directory, sessionId, request);
  // The death of an earlier process is no news about one that lives.
  for (const event of unheard) if (isNewProcess || event.type !== 'exited') request.emit(event);
  const session = new OpencodeSession({ request, server, clock, journal, state, isNew, isNewProcess });
  session.start();
  return session;
}

type Found = { readonly ok: true; readonly id: string } | NotOpened;

/** A title of ours keeps opencode from asking a model for one. */
async function create(request: OpenRequest, api: OpencodeApi): Promise<Found> {
  const permission = sessionRules(request.profile);
  const body = { title: `Stemma ${request.sessionId}`, ...(permission.length > 0 ? { permission } : {}) };
  const answer = await api.call('POST', '/session', body);
  const read = sessionInfo.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  if (read.success) return { ok: true, id: read.data.id };
  return failed(answer.outcome === 'ok' ? 'POST /session was answered in an unknown shape' : answer.message);
}

async function find(request: OpenRequest, api: OpencodeApi, nativeId: string): Promise<Found> {
  const permission = sessionRules(request.profile);
  const answer = await api.call('GET', `/session/${nativeId}`);
  if (answer.outcome === 'ok') {
    if (permission.length > 0) await api.call('PATCH', `/session/${nativeId}`, { permission });
    return { ok: true, id: nativeId };
  }
  if (answer.outcome !== 'refused' || answer.status !== 404) return failed(answer.message);
  return { ok: false, code: 'SESSION_GONE', message: `opencode has no conversation ${nativeId} any more` };
}

/** Why the tools cannot be had. opencode would go on without them. */
async function whyToolless(request: OpenRequest, api: OpencodeApi): Promise<string | undefined> {
  const { tools } = request;
  if (!tools) return undefined;
  // Beside a server of the user's own with our name, opencode reads both as one: its address ours, its headers both.
  if (!(await isConfigured(toolServer(tools), api))) await putTools(tools, api);
  const status = await toolState(api);
  if (status === 'connected') return undefined;
  await api.call('POST', `/mcp/${toolsName}/connect`, undefined, toolsMs);
  const again = await toolState(api);
  return again === 'connected' ? undefined : again;
}

/** Whether opencode has read our tool server as it was given, and no more. */
async function isConfigured(ours: Record<string, unknown>, api: OpencodeApi): Promise<boolean> {
  const answer = await api.call('GET', '/config');
  const read = configuredTools.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  return isDeepStrictEqual(read.data?.mcp?.[toolsName], ours);
}

/** Gives our tool server to opencode in the place of whatever it has under that name. */
async function putTools(tools: NonNullable<OpenRequest['tools']>, api: OpencodeApi): Promise<void> {
  await api.call('POST', '/mcp', { name: toolsName, config: toolServer(tools) }, toolsMs);
}

async function toolState(api: OpencodeApi): Promise<string> {
  const answer = await api.call('GET', '/mcp', undefined, toolsMs);
  const read = toolStatus.safeParse(answer.outcome === 'ok' ? answer.result : undefined);
  if (!read.success) return answer.outcome === 'ok' ? 'unknown' : answer.message;
  const ours = read.data[toolsName];
  return ours ? (ours.error ?? ours.status) : 'not configured';
}

/** The address of our tools may be another one by now, or the connection to them lost. A running turn is left alone. */
async function offerTools(request: OpenRequest, api: OpencodeApi, session: OpencodeSession): Promise<void> {
  if (!request.tools || session.state.turn || session.state.isBusy) return;
  await putTools(request.tools, api);
  const state = await toolState(api);
  if (state !== 'connected')
    session.take({ type: 'noise', what: `the agent's tools cannot be reached: ${state}` });
}

async function giveUp(request: OpenRequest, server: OpencodeServer, clock: Clock): Promise<void> {
  const ended = await endGroup(server.identity, { graceMs, clock });
  if (ended === 'dead') await removeRecord(request.directory);
}

function failed(message: string): NotOpened {
  return { ok: false, code: 'AGENT_FAILED', message };
}
