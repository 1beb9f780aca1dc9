import { adoptStdio, launchStdio } from '../../processes/durable-stdio.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import type { Clock } from '../../base/clock.ts';
import type { Opened, OpenRequest } from '../port.ts';
import { argumentsOf, configDirectoryOf, environmentOf, isConfined } from './command-line.ts';
import { ClaudeConversation, type ConversationParts } from './conversation.ts';
import { conversationIdOf } from './ids.ts';
import { findRecord } from './record.ts';
import { SentLog } from './sent-log.ts';

/** What the driver was made with. */
export interface OpenOptions {
  readonly clock: Clock;
  /** How long the program may take from its launch to its first answer. Milliseconds. */
  readonly openingMs: number;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

type Opening = Omit<ConversationParts, 'process' | 'id' | 'floor'>;

const graceMs = 2000;

/** `Driver.open` of Claude Code. Never throws; `request.emit` is called before this resolves for what an old process left. */
export async function openConversation(request: OpenRequest, options: OpenOptions): Promise<Opened> {
  try {
    const log = new SentLog(request.directory);
    const env = environmentOf(request.profile);
    const opening = { log, request, clock: options.clock, configDirectory: configDirectoryOf(env) };
    const found = await adoptStdio(request.directory, options.clock);
    if (found.state === 'alive' && log.open) return await adopt(found.process, log.open.id, opening);
    if (found.state === 'alive') {
      // It was never told a text: its opening was interrupted, and nothing of it is worth keeping.
      const ended = await found.process.end({ graceMs });
      if (ended === 'unkillable')
        return unavailable(`process ${found.process.identity.pid} of an earlier start cannot be ended`);
    }
    if (found.state === 'dead') await hearOut(found.process, opening);
    if (request.adoptOnly)
      return { ok: false, code: 'NOT_RUNNING', message: `nothing lives in ${request.directory}` };
    return await begin(opening, env, options);
  } catch (error) {
    return unavailable(`the conversation cannot be kept in ${request.directory}: ${String(error)}`);
  }
}

async function adopt(process: StdioProcess, id: string, opening: Opening): Promise<Opened> {
  const { nativeId, directory } = opening.request;
  if (nativeId !== undefined && nativeId !== id) {
    process.close();
    const message = `the process in ${directory} serves conversation ${id}, not ${nativeId}`;
    return { ok: false, code: 'AGENT_FAILED', message };
  }
  const conversation = readAgain({ ...opening, process, id, floor: opening.request.position });
  await process.drain();
  conversation.goLive();
  return { ok: true, how: 'adopted', conversation };
}

/** Reads the output of a process from where nothing is missed. */
function readAgain(parts: ConversationParts, onExit = (): void => undefined): ClaudeConversation {
  const { process, log } = parts;
  const conversation = new ClaudeConversation(parts);
  process.listen({
    from: conversation.position - log.base,
    onLine: (line, end) => conversation.take(line, log.base + end),
    onNoise: (what, bytes) => conversation.hearNoise(what, bytes),
    onExit: (reason) => {
      conversation.exit(reason);
      onExit();
    },
  });
  return conversation;
}

/** What a dead process left unread is told, up to its exit; what it took up and did not record is noted. */
async function hearOut(process: StdioProcess, opening: Opening): Promise<void> {
  const { log, request } = opening;
  if (!log.open) return leaveNothing(process);
  let onExit = (): void => undefined;
  const exited = new Promise<void>((resolve) => {
    onExit = resolve;
  });
  const parts = { ...opening, process, id: log.open.id, floor: request.position };
  const conversation = readAgain(parts, () => onExit());
  await exited;
  for (const id of log.texts.keys())
    if (!log.past.has(id) && (await conversation.evidence(id)).state === 'consumed')
      log.append({ t: 'fate', id, fate: 'consumed' });
  await leaveNothing(process);
  // Behind the exit, which has a position of its own.
  log.append({ t: 'process', base: conversation.position + 1 });
}

/** What a dead process had started must not live on beside the next one. */
async function leaveNothing(process: StdioProcess): Promise<void> {
  await process.end({ graceMs });
  process.close();
}

async function begin(
  opening: Opening,
  env: Readonly<Record<string, string>>,
  options: OpenOptions,
): Promise<Opened> {
  const { log, request, configDirectory } = opening;
  const { nativeId, sessionId, position, profile } = request;
  const id = nativeId ?? conversationIdOf(sessionId);
  const hasRecord = findRecord(configDirectory, id) !== undefined;
  // Of a process that died within moments of its first text there is no record, and nothing to go on from.
  const mayBegin = nativeId === undefined || (log.lastId === nativeId && !log.hasHistory);
  if (!hasRecord && !mayBegin) {
    const message = `agent ${profile.name}: there is no conversation ${id} in ${configDirectory}`;
    return { ok: false, code: 'SESSION_GONE', message };
  }
  const permit = await request.prepareLaunch?.();
  if (permit?.ok === false) return { ok: false, code: 'AGENT_UNAVAILABLE', message: permit.message };
  // Noted before the launch: a process that we do not live to see open must not be taken for the one before it.
  log.append({ t: 'process', base: Math.max(log.base, position) });
  const launched = await launchStdio({
    argv: argumentsOf(request, id, hasRecord),
    env: { ...env, ...permit?.env },
    cwd: request.cwd,
    directory: request.directory,
    clock: options.clock,
  });
  if (!launched.ok) return launched;
  return openIn(launched.process, id, opening, options);
}

async function openIn(
  process: StdioProcess,
  id: string,
  opening: Opening,
  { openingMs, stopping }: OpenOptions,
): Promise<Opened> {
  const { log, request } = opening;
  let isOpen = false;
  const gated: OpenRequest = { ...request, emit: (event) => (isOpen ? request.emit(event) : undefined) };
  const conversation = readAgain({ ...opening, request: gated, process, id, floor: log.base });
  const stop = AbortSignal.any([stopping, ...(request.signal ? [request.signal] : [])]);
  const giveUp = (): void => void process.end({ graceMs });
  stop.addEventListener('abort', giveUp, { once: true });
  if (stop.aborted) giveUp();
  try {
    // That we can stop single tasks keeps an interruption from ending all of them.
    const answer = await conversation.control(
      { subtype: 'initialize', perTaskStopAffordance: true },
      openingMs,
    );
    // An exit that was read together with the answer was told to nobody.
    if (!answer?.ok || stop.aborted || conversation.isDead)
      return await failed(process, request, stop.aborted, answer?.ok === false ? answer.error : undefined);
    log.append({ t: 'open', id, at: conversation.position });
    isOpen = true;
    if (isConfined(request.profile) && answer.response['sandbox_enabled'] === false)
      conversation.noise(
        `sandbox: ${request.profile.sandbox} is not enforced by a sandbox here: commands are asked for, and refused where nobody says yes`,
      );
    conversation.goLive();
    return { ok: true, how: request.nativeId === undefined ? 'started' : 'resumed', conversation };
  } catch (error) {
    // It was never told a text, and nobody would know of it.
    await process.end({ graceMs });
    throw error;
  } finally {
    stop.removeEventListener('abort', giveUp);
  }
}

async function failed(
  process: StdioProcess,
  { profile }: OpenRequest,
  isStopped: boolean,
  error: string | undefined,
): Promise<Opened> {
  const wasAlive = process.isAlive();
  const words = (await process.stderrTail()).trim().split('\n').slice(-5).join('\n');
  await process.end({ graceMs });
  const name = `agent ${profile.name}`;
  if (isStopped)
    return { ok: false, code: 'AGENT_FAILED', message: `${name} was not opened: nobody needs it any more` };
  const said = words === '' ? '' : `: ${words}`;
  if (/No conversation found/.test(words))
    return { ok: false, code: 'SESSION_GONE', message: `${name} has lost the conversation${said}` };
  const what = error ?? (wasAlive ? 'it did not answer in time' : 'it ended at its start');
  return unavailable(`${name} did not open a conversation: ${what}${said}`);
}

function unavailable(message: string): Opened {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
