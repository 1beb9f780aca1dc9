import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { minimalEnvironment } from '../processes/command.ts';
import { cloudEventOf } from './cloud-event.ts';
import { cut, plainLine } from './plain.ts';
import type { Attempt, Message, Target } from './port.ts';
import type { SendingParts } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { wordsOfMessage } from './words.ts';

/** How long a command may take if nobody says. Milliseconds. */
const commandTimeoutMs = 30_000;
/** How much of its standard error is kept, in bytes from the end, and how much is told, in UTF-16 units. */
const keptBytes = 4_096;
const toldText = 300;

/** Runs a command in a process group of its own: the CloudEvent is on its stdin, what a shell wants is in its environment. */
export function commandTarget(
  settings: TargetSettings & { readonly command: string | readonly string[] },
  parts: SendingParts,
): Target {
  const { command, timeout = commandTimeoutMs } = settings;
  const [program = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  return {
    send(message, signal) {
      const child = started(program, args, { cwd: parts.directory, env: environmentOf(message, parts) });
      if (child instanceof Error) return Promise.resolve(notRun(child));
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(`${JSON.stringify(cloudEventOf(message, parts.places()))}\n`);
      return endOf(child, timeout, parts, signal);
    },
  };
}

// Some of what is wrong with a program is told by an event, the rest (ENOTDIR, E2BIG) is thrown.
function started(
  program: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: Record<string, string> },
): ChildProcess | Error {
  try {
    return spawn(program, args, { ...options, detached: true, stdio: ['pipe', 'ignore', 'pipe'] });
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

function notRun({ code, message }: NodeJS.ErrnoException): Attempt {
  return { ok: false, kind: 'down', message: `the command cannot be run (${code ?? message})` };
}

function environmentOf(message: Message, parts: SendingParts): Record<string, string> {
  const { title, body, url } = wordsOfMessage(message, parts.places());
  const [first] = message.notifications;
  return minimalEnvironment(
    {
      STEMMA_MESSAGE_ID: message.id,
      STEMMA_TARGET: message.target,
      STEMMA_COUNT: String(message.notifications.length),
      STEMMA_TRANSITION: message.notifications.length === 1 ? (first?.transition ?? '') : 'group',
      STEMMA_TITLE: title,
      STEMMA_TEXT: cut(body, 8_000),
      STEMMA_NAME: plainLine(first?.name ?? '', 200),
      STEMMA_PROJECT: plainLine(first?.project ?? '', 200),
      STEMMA_PAGE: url,
    },
    parts.env as NodeJS.ProcessEnv,
  );
}

function endOf(
  child: ChildProcess,
  timeoutMs: number,
  { clock }: SendingParts,
  signal: AbortSignal,
): Promise<Attempt> {
  return new Promise((resolve) => {
    let said: Buffer = Buffer.alloc(0);
    const end = (attempt: Attempt): void => {
      cancelTimer();
      signal.removeEventListener('abort', abort);
      // What it left behind in its group belongs to nobody.
      killGroup(child.pid);
      child.stderr?.destroy();
      resolve(attempt);
    };
    const abort = (): void => end({ ok: false, kind: 'down', message: 'the server is stopping' });
    const cancelTimer = clock.after(timeoutMs, () =>
      end({ ok: false, kind: 'down', message: `the command did not end within ${timeoutMs / 1000} s` }),
    );
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    child.stderr?.on('data', (chunk: Buffer) => {
      said = Buffer.concat([said, chunk]).subarray(-keptBytes);
    });
    child.on('error', (error) => end(notRun(error)));
    // Not `close`: what it started may hold its standard error open for ever.
    child.on('exit', (code, killedBy) => {
      if (code === 0) return end({ ok: true });
      const how = code === null ? `was ended by ${killedBy}` : `ended with exit code ${code}`;
      // What it said last may still be in the pipe.
      setImmediate(() => {
        const tail = plainLine(said.toString(), 10_000).slice(-toldText);
        end({ ok: false, kind: 'refused', message: `the command ${how}${tail === '' ? '' : `: ${tail}`}` });
      });
    });
  });
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined && pid > 1) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
