import { AGENT_METHODS, type McpServer } from '@agentclientprotocol/sdk';
import type { Clock } from '../../base/clock.ts';
import { minimalEnvironment } from '../../processes/command.ts';
import { adoptStdio, launchStdio } from '../../processes/durable-stdio.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import type { AgentProfile, Opened, OpenRequest } from '../port.ts';
import { readAgentError } from './agent-error.ts';
import { AcpConversation } from './conversation.ts';
import { decideFates } from './fates.ts';
import type { AgentDeclaration } from './declaration.ts';
import { type OpenedSession, Opening, type OpeningFailure } from './opening.ts';
import { waitBeforeLoadMs } from './known-agents.ts';
import { SentLog } from './sent-log.ts';

/** What the driver was made with. */
export interface OpenOptions {
  readonly clock: Clock;
  /** How long an agent may take from its launch to an open conversation. Milliseconds. */
  readonly openingMs: number;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

const graceMs = 2000;

/** `Driver.open` of ACP. Never throws; `request.emit` is called before this resolves for what an old process left. */
export async function openConversation(request: OpenRequest, options: OpenOptions): Promise<Opened> {
  try {
    const log = new SentLog(request.directory);
    const found = await adoptStdio(request.directory, options.clock);
    if (found.state === 'alive' && log.session) return await adopt(found.process, log, request);
    if (found.state === 'alive') {
      // It was never told a prompt: its opening was interrupted, and nothing of it is worth keeping.
      const ended = await found.process.end({ graceMs });
      if (ended === 'unkillable')
        return unavailable(`process ${found.process.identity.pid} of an earlier start cannot be ended`);
    }
    if (request.adoptOnly) {
      // What a dead one left unread is told to whoever opens the conversation again.
      if (found.state === 'dead') found.process.close();
      return {
        ok: false,
        code: 'NOT_RUNNING',
        message: `no open conversation lives in ${request.directory}`,
      };
    }
    if (found.state === 'dead') await hearOut(found.process, log, request);
    return await begin(log, request, options);
  } catch (error) {
    return unavailable(`the conversation cannot be kept in ${request.directory}: ${String(error)}`);
  }
}

/** The environment of an agent: minimal, and the profile's own. `home` is its HOME, where such agents keep their state. */
export function environmentOf(profile: AgentProfile): Record<string, string> {
  return minimalEnvironment({
    ...(profile.home === undefined ? {} : { HOME: profile.home }),
    ...profile.env,
  });
}

async function adopt(process: StdioProcess, log: SentLog, request: OpenRequest): Promise<Opened> {
  const session = log.session;
  if (!session) throw new Error('nothing to adopt');
  if (request.nativeId !== undefined && request.nativeId !== session.id) {
    process.close();
    const message = `the process in ${request.directory} serves conversation ${session.id}, not ${request.nativeId}`;
    return { ok: false, code: 'AGENT_FAILED', message };
  }
  const conversation = await readAgain(process, log, request, () => undefined);
  conversation.goLive();
  return { ok: true, how: 'adopted', conversation };
}

/** Reads an old output again, from where no open turn is missed, to its present end. */
async function readAgain(
  process: StdioProcess,
  log: SentLog,
  request: OpenRequest,
  onExit: () => void,
): Promise<AcpConversation> {
  const from = log.replayFrom(request.position);
  const conversation = new AcpConversation(process, log, request, {
    id: log.session?.id ?? '',
    from,
    floor: request.position,
  });
  process.listen({
    from: from - log.base,
    onLine: (line, end) => conversation.take(line, log.base + end),
    onNoise: (what, bytes) => conversation.hearNoise(what, bytes),
    onCaughtUp: () => conversation.caughtUp(),
    onExit: (reason) => {
      conversation.exit(reason);
      onExit();
    },
  });
  await process.drain();
  return conversation;
}

/** What a dead process left unread is told, up to its exit; what became of its prompts is noted. */
async function hearOut(process: StdioProcess, log: SentLog, request: OpenRequest): Promise<void> {
  if (!log.session) return process.close();
  let onExit = (): void => undefined;
  const exited = new Promise<void>((resolve) => {
    onExit = resolve;
  });
  const conversation = await readAgain(process, log, request, onExit);
  await exited;
  for (const id of conversation.takenUp()) log.append({ t: 'fate', id, fate: 'consumed' });
  // Some agents are a program and a child of it: what outlived the program must not go on beside the next one.
  await process.end({ graceMs });
  process.close();
  // Behind the exit, which has a position of its own.
  log.append({ t: 'process', base: conversation.position + 2 });
}

async function begin(log: SentLog, request: OpenRequest, options: OpenOptions): Promise<Opened> {
  const { profile, cwd, directory, prepareLaunch } = request;
  const { clock, openingMs, stopping } = options;
  const permit = await prepareLaunch?.();
  if (permit?.ok === false) return unavailable(permit.message);
  // Noted before the launch: a process that we do not live to see open must not be taken for the one before it.
  log.append({ t: 'process', base: Math.max(log.base, request.position) });
  const launched = await launchStdio({
    argv: profile.command,
    env: { ...environmentOf(profile), ...permit?.env },
    cwd,
    directory,
    clock,
  });
  if (!launched.ok) return launched;
  const { process } = launched;
  const opening = new Opening(process, clock, openingMs);
  const interrupt = (): void =>
    opening.interrupt(stopping.aborted ? 'the server stops' : 'nobody needs it any more');
  const signals = [stopping, ...(request.signal ? [request.signal] : [])];
  for (const signal of signals) signal.addEventListener('abort', interrupt, { once: true });
  if (signals.some((signal) => signal.aborted)) interrupt();
  try {
    return await openIn(process, opening, log, request, clock);
  } catch (error) {
    // It was never told a prompt, and nobody would know of it.
    await process.end({ graceMs });
    process.close();
    throw error;
  } finally {
    for (const signal of signals) signal.removeEventListener('abort', interrupt);
  }
}

async function openIn(
  process: StdioProcess,
  opening: Opening,
  log: SentLog,
  request: OpenRequest,
  clock: Clock,
): Promise<Opened> {
  let conversation: AcpConversation | undefined;
  process.listen({
    from: 0,
    onLine: (line, end) =>
      conversation ? conversation.take(line, log.base + end) : opening.take(line, log.base + end),
    onNoise: (what, bytes) => (conversation ?? opening).hearNoise(what, bytes),
    onCaughtUp: () => conversation?.caughtUp(),
    onExit: (reason) => (conversation ? conversation.exit(reason) : opening.exit(reason)),
  });
  const opened = await openSession(opening, request, (agent) =>
    waitBeforeLoadMs(agent.name, log.bornAt, clock.now()),
  );
  if (!opened.ok) return giveUp(opened, opening, process, request.profile);
  if (opening.over !== undefined) return giveUp(opening.over, opening, process, request.profile);
  decideFates(log, opening.past);
  const { session, agent } = opened;
  const { id, at } = session;
  const bornAt = request.nativeId === undefined ? clock.now() : log.bornAt;
  const isKept = agent.canLoad || agent.canResume;
  log.append({ t: 'session', id, at, isKept, ...(bornAt === undefined ? {} : { bornAt }) });
  conversation = new AcpConversation(process, log, request, { id, from: at, floor: at });
  for (const what of opening.noise) conversation.noise(what);
  for (const what of shortcomings(agent, request.profile)) conversation.noise(what);
  for (const { message, end } of opening.rest) conversation.takeMessage(message, end);
  conversation.caughtUp();
  conversation.goLive();
  return { ok: true, how: request.nativeId === undefined ? 'started' : 'resumed', conversation };
}

/** What the profile wants, or every session needs, and this agent does not give: sentences for a person. */
export function shortcomings(agent: AgentDeclaration, profile: AgentProfile): string[] {
  const isConfined = profile.sandbox !== undefined && profile.sandbox !== 'full';
  return [
    ...(agent.takesHttpTools ? [] : ['It takes no MCP servers over HTTP, so it gets no tools.']),
    ...(isConfined
      ? [`The profile says sandbox: ${profile.sandbox}; ACP cannot ask for that, so nothing enforces it.`]
      : []),
  ];
}

type SessionOpened = { readonly ok: true; readonly session: OpenedSession; readonly agent: AgentDeclaration };
type SessionRefused = OpeningFailure & { readonly wasResume?: boolean };
type Unsuitable = { readonly ok: false; readonly why: 'gone' | 'unsuitable'; readonly message: string };

async function openSession(
  opening: Opening,
  request: OpenRequest,
  waitMs: (agent: AgentDeclaration) => number,
): Promise<SessionOpened | SessionRefused | Unsuitable> {
  const initialized = await opening.initialize();
  if (!initialized.ok) return initialized;
  const { agent } = initialized;
  const { nativeId, cwd, profile } = request;
  const servers = request.tools && agent.takesHttpTools ? [toolServer(request.tools)] : [];
  if (nativeId !== undefined && !agent.canLoad && !agent.canResume) {
    return {
      ok: false,
      why: 'gone',
      message: 'the agent cannot load conversations, and the process of this one is dead',
    };
  }
  if (nativeId !== undefined) await opening.wait(waitMs(agent));
  const method = agent.canLoad ? AGENT_METHODS.session_load : AGENT_METHODS.session_resume;
  const opened = await (nativeId === undefined
    ? opening.begin(cwd, servers)
    : opening.resume(method, nativeId, cwd, servers));
  if (!opened.ok) return { ...opened, wasResume: nativeId !== undefined };
  const { session } = opened;
  if (profile.model !== undefined) {
    const choice = session.models;
    if (!choice?.values.includes(profile.model)) {
      const offer = choice
        ? `it offers ${choice.values.join(', ')}`
        : 'it offers no choice; put the model into the command';
      return { ok: false, why: 'unsuitable', message: `the agent has no model "${profile.model}": ${offer}` };
    }
    const chosen = await opening.chooseModel(session, choice, profile.model);
    if (!chosen.ok) return chosen;
  }
  return { ok: true, session, agent };
}

function toolServer(tools: { url: string; token: string }): McpServer {
  const headers = [{ name: 'Authorization', value: `Bearer ${tools.token}` }];
  return { type: 'http', name: 'stemma', url: tools.url, headers };
}

async function giveUp(
  failure: SessionRefused | Unsuitable,
  opening: Opening,
  process: StdioProcess,
  profile: AgentProfile,
): Promise<Opened> {
  const said = await lastWords(opening, process);
  process.passOver();
  await process.end({ graceMs });
  process.close();
  const name = `agent ${profile.name}`;
  if (failure.why === 'gone')
    return { ok: false, code: 'SESSION_GONE', message: `${name}: ${failure.message}` };
  // The only failure of these that passes by itself.
  if (failure.why === 'interrupted')
    return { ok: false, code: 'AGENT_FAILED', message: `${name} was not opened: ${failure.message}` };
  if (failure.why !== 'error')
    return unavailable(`${name} did not open a conversation: ${failure.message}${said}`);
  const { kind, message } = readAgentError(failure.error);
  // A refusal to load says that the conversation is gone, unless it is about the account.
  const code = failure.wasResume && kind === 'agent' ? 'SESSION_GONE' : 'AGENT_FAILED';
  const hint = kind === 'login' ? ' (sign in with the agent itself, then try again)' : '';
  return { ok: false, code, message: `${name} refused to open the conversation: ${message}${hint}${said}` };
}

/** What a person needs to see why an agent did not come up. */
export async function lastWords(opening: Opening, process: StdioProcess): Promise<string> {
  const stderr = (await process.stderrTail()).trim().split('\n').slice(-5).join('\n');
  const garbage = opening.noise.slice(0, 3).join('\n');
  return (garbage === '' ? '' : `\nstdout: ${garbage}`) + (stderr === '' ? '' : `\nstderr: ${stderr}`);
}

function unavailable(message: string): Opened {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
