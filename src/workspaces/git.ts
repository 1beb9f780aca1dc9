import { spawn } from 'node:child_process';
import type { Clock } from '../base/clock.ts';
import { minimalEnvironment } from '../processes/command.ts';

/** What git printed, or why there is none: a sentence for a person. */
export type GitAnswer =
  | { readonly ok: true; readonly text: string }
  | {
      readonly ok: false;
      readonly why: 'missing' | 'failed' | 'timeout' | 'stopped';
      readonly message: string;
    };

/** How one git is run. */
export interface GitOptions {
  readonly clock: Clock;
  /** How long it may take, in milliseconds. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** How long a look at a repository may take, in milliseconds. */
const lookMs = 60_000;
/** Most that is kept of what git prints, in bytes. */
const largestOutput = 1024 * 1024;

/**
 * Settings that go before those of the repository: nothing that it configures may run a program of its own, wait for an
 * answer, or go on behind our back.
 */
const settings = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.askPass=',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'status.showUntrackedFiles=all',
  'status.relativePaths=false',
].flatMap((setting) => ['-c', setting]);

const environment = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_OPTIONAL_LOCKS: '0',
  LC_ALL: 'C',
};

/**
 * Runs git in a directory, in a process group of its own, which is ended when the time is up. The variables by which git
 * can be told of another repository are not passed on. Never rejects.
 */
export function git(directory: string, args: readonly string[], options: GitOptions): Promise<GitAnswer> {
  const { clock, signal, timeoutMs = lookMs } = options;
  if (signal?.aborted) return Promise.resolve(no('stopped', 'the server is stopping'));
  return new Promise((settle) => {
    const child = spawn('git', [...settings, '-C', directory, ...args], {
      env: minimalEnvironment(environment),
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const told = { out: '', error: '' };
    const end = (answer: GitAnswer): void => {
      cancelTimer();
      signal?.removeEventListener('abort', stop);
      killGroup(child.pid);
      settle(answer);
    };
    const stop = (): void => end(no('stopped', 'the server is stopping'));
    const command = `git ${args.slice(0, 2).join(' ')}`;
    const cancelTimer = clock.after(timeoutMs, () =>
      end(no('timeout', `${command} did not come to an end within ${timeoutMs / 1000} seconds`)),
    );
    signal?.addEventListener('abort', stop, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      if (told.out.length < largestOutput) told.out += chunk.toString();
    });
    child.stderr.on('data', (chunk: Buffer) => {
      told.error = `${told.error}${chunk.toString()}`.slice(-4_096);
    });
    child.on('error', (error: NodeJS.ErrnoException) => {
      const missing = 'git is not installed, or not in PATH';
      end(error.code === 'ENOENT' ? no('missing', missing) : no('failed', `${command}: ${error.message}`));
    });
    child.on('close', (code, killed) => {
      if (code === 0) return end({ ok: true, text: told.out });
      const how = code === null ? `was ended by ${killed}` : lastLines(told.error) || `exit code ${code}`;
      end(no('failed', `${command}: ${how}`));
    });
  });
}

function no(why: Extract<GitAnswer, { ok: false }>['why'], message: string): GitAnswer {
  return { ok: false, why, message };
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-3).join('; ');
}

// A filter of the repository may have left something behind: nobody waits for it any more.
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined && pid > 1) process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}
