import type { Clock } from '../../base/clock.ts';
import { adoptStdio, launchStdio } from '../../processes/durable-stdio.ts';
import type { StdioProcess } from '../../processes/stdio-process.ts';
import type { Opened, OpenRequest } from '../port.ts';
import { PiConversation } from './conversation.ts';
import { commandOf, environmentOf } from './environment.ts';
import { decideFates } from './fates.ts';
import { Opening } from './opening.ts';
import { SentLog } from './sent-log.ts';
import { readSessionFile } from './session-file.ts';
import { writeExtension, writeToolsFile } from './tools-files.ts';

/** What the driver was made with. */
export interface OpenOptions {
  readonly clock: Clock;
  /** How long pi may take from its launch to an open conversation. Milliseconds. */
  readonly openingMs: number;
  /** Aborted when the server stops. */
  readonly stopping: AbortSignal;
}

const graceMs = 2000;
/** A run's end repeats everything that was said in it. Bytes. */
const maxLineBytes = 256 * 1024 * 1024;

/** `Driver.open` of pi. Never throws; `request.emit` is called before this resolves for what an old process left. */
export async function openConversation(request: OpenRequest, options: OpenOptions): Promise<Opened> {
  try {
    const log = new SentLog(request.directory);
    const found = await adoptStdio(request.directory, options.clock);
    if (found.state === 'alive' && log.session !== undefined) {
      return await adopt(found.process, log.session, log, request, options.clock);
    }
    if (found.state === 'alive') {
      // It was never told a text: its opening was interrupted, and nothing of it is worth keeping.
      const ended = await found.process.end({ graceMs });
      if (ended === 'unkillable')
        return unavailable(`process ${found.process.identity.pid} of an earlier start cannot be ended`);
    }
    if (found.state === 'dead') await hearOut(found.process, log, request, options.clock);
    if (request.adoptOnly) return { ok: false, code: 'NOT_RUNNING', message: 'no process of pi lives' };
    return await begin(log, request, options);
  } catch (error) {
    return unavailable(`the conversation cannot be kept in ${request.directory}: ${String(error)}`);
  }
}

async function adopt(
  process: StdioProcess,
  file: string,
  log: SentLog,
  request: OpenRequest,
  clock: Clock,
): Promise<Opened> {
  if (request.nativeId !== undefined && request.nativeId !== file) {
    process.close();
    const message = `the process in ${request.directory} serves conversation ${file}, not ${request.nativeId}`;
    return { ok: false, code: 'AGENT_FAILED', message };
  }
  writeToolsFile(request);
  const conversation = await readAgain(process, file, log, { request, clock, onExit: () => undefined });
  conversation.goLive();
  return { ok: true, how: 'adopted', conversation };
}

/** Reads an old output again, to its present end. */
async function readAgain(
  process: StdioProcess,
  file: string,
  log: SentLog,
  about: { readonly request: OpenRequest; readonly clock: Clock; readonly onExit: () => void },
): Promise<PiConversation> {
  const { request, clock } = about;
  const floor = Math.max(request.position, log.from);
  const conversation = new PiConversation({ process, log, request, clock, file, from: log.from, floor });
  process.listen({
    from: log.from - log.base,
    onLine: (line, end) => conversation.take(line, end),
    onNoise: (what, bytes) => conversation.hearNoise(what, bytes),
    onExit: (reason) => {
      conversation.exit(reason);
      about.onExit();
    },
    maxLineBytes,
  });
  await process.drain();
  return conversation;
}

/** What a dead process left unread is told, up to its exit; what became of its texts is noted. */
async function hearOut(
  process: StdioProcess,
  log: SentLog,
  request: OpenRequest,
  clock: Clock,
): Promise<void> {
  if (log.session === undefined) return process.close();
  let onExit = (): void => undefined;
  const exited = new Promise<void>((resolve) => {
    onExit = resolve;
  });
  const about = { request, clock, onExit: () => onExit() };
  const conversation = await readAgain(process, log.session, log, about);
  await exited;
  const { decided, position } = conversation.summary();
  for (const { id, fate } of decided) log.append({ t: 'fate', id, fate });
  // What outlived the program must not go on beside the next one.
  await process.end({ graceMs });
  process.close();
  log.append({ t: 'process', base: position });
}

async function begin(log: SentLog, request: OpenRequest, options: OpenOptions): Promise<Opened> {
  const { profile, cwd, directory, nativeId } = request;
  const gone = nativeId === undefined ? undefined : whyGone(nativeId, log);
  if (gone !== undefined) {
    return { ok: false, code: 'SESSION_GONE', message: `agent ${profile.name}: ${gone}` };
  }
  const permit = await request.prepareLaunch?.();
  if (permit?.ok === false) return unavailable(permit.message);
  // Noted before the launch: a process that we do not live to see open must not be taken for the one before it.
  log.append({ t: 'process', base: Math.max(log.base, request.position) });
  const launched = await launchStdio({
    argv: [
      ...commandOf(profile),
      '--mode',
      'rpc',
      '--extension',
      writeExtension(request),
      ...(nativeId === undefined ? [] : ['--session', nativeId]),
    ],
    env: { ...environmentOf(profile), ...permit?.env },
    cwd,
    directory,
    clock: options.clock,
  });
  if (!launched.ok) return launched;
  const { process } = launched;
  const opening = new Opening(process, options.clock, options.openingMs);
  const signals = [options.stopping, ...(request.signal ? [request.signal] : [])];
  const interrupt = (): void => opening.interrupt('nobody needs it any more');
  for (const signal of signals) signal.addEventListener('abort', interrupt, { once: true });
  if (signals.some((signal) => signal.aborted)) interrupt();
  try {
    return await openIn(process, opening, log, { request, clock: options.clock });
  } catch (error) {
    // It was never told a text, and nobody would know of it.
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
  { request, clock }: { readonly request: OpenRequest; readonly clock: Clock },
): Promise<Opened> {
  let conversation: PiConversation | undefined;
  process.listen({
    from: 0,
    onLine: (line, end) => (conversation ? conversation.take(line, end) : opening.take(line, end)),
    onNoise: (what, bytes) => (conversation ?? opening).hearNoise(what, bytes),
    onExit: (reason) => (conversation ? conversation.exit(reason) : opening.exit(reason)),
    maxLineBytes,
  });
  const { profile, nativeId } = request;
  const answered = await opening.open(nativeId);
  const opened = opening.lateExit ?? answered;
  if (!opened.ok) {
    const said = (await process.stderrTail()).trim().split('\n').slice(-5).join('\n');
    process.passOver();
    await process.end({ graceMs });
    process.close();
    const message = `agent ${profile.name} did not open a conversation: ${opened.message}`;
    return { ok: false, code: opened.code, message: said === '' ? message : `${message}\nstderr: ${said}` };
  }
  decideFates(log, opened.file);
  log.append({ t: 'session', file: opened.file });
  const from = log.base + opened.end;
  conversation = new PiConversation({ process, log, request, clock, file: opened.file, from, floor: from });
  for (const what of [...opening.noise, ...shortcomings(request)]) conversation.noise(what);
  for (const { line, end } of opening.rest) conversation.takeRead(line, end);
  conversation.goLive();
  return { ok: true, how: nativeId === undefined ? 'started' : 'resumed', conversation };
}

/**
 * Why a conversation cannot be had again. pi writes its file with its first answer, so before that there is none, and
 * nothing is lost. A damaged one would be emptied by pi.
 */
function whyGone(file: string, log: SentLog): string | undefined {
  const found = readSessionFile(file);
  if (found.state === 'damaged') return `${file} is not a conversation of pi any more`;
  const wasNeverKept = !log.isKept && log.lastSession === file;
  return found.state === 'missing' && !wasNeverKept ? `there is no ${file} any more` : undefined;
}

/** What the profile wants and pi does not give: sentences for a person. */
function shortcomings({ profile }: OpenRequest): string[] {
  if (profile.sandbox !== 'workspace') return [];
  return ['The profile says sandbox: workspace; pi has no sandbox, so nothing enforces it.'];
}

function unavailable(message: string): Opened {
  return { ok: false, code: 'AGENT_UNAVAILABLE', message };
}
