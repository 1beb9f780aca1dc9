import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Clock } from '../base/clock.ts';

/** What a secret may be made of, in bytes. */
const largestBytes = 64 * 1024;
/** How long a command may take to tell one. Milliseconds. */
const commandMs = 10_000;

/** Where references are meant from. */
export interface SecretPlace {
  /** Relative paths, and the working directory of commands. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** A value, or why there is none: a sentence that never holds any of it. */
export type SecretValue =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly reason: string };

/**
 * The value that a reference stands for now: `env:NAME`, `file:PATH` or `cmd:COMMAND` (for `/bin/sh`, bounded by ten
 * seconds). At most 64 KiB; one newline at the end is cut, since files and commands end so. Never throws.
 */
export async function readSecret(reference: string, place: SecretPlace): Promise<SecretValue> {
  const colon = reference.indexOf(':');
  const [kind, rest] = [reference.slice(0, colon), reference.slice(colon + 1)];
  switch (kind) {
    case 'env':
      return fromEnvironment(rest, place);
    case 'file':
      return fromFile(rest, place);
    case 'cmd':
      return fromCommand(rest, place);
    default:
      return no('is no reference; write env:NAME, file:PATH or cmd:COMMAND');
  }
}

function fromEnvironment(name: string, { env }: SecretPlace): SecretValue {
  const value = env[name];
  if (value === undefined) return no(`the environment of the server has no variable ${name}`);
  return checked(value, `the variable ${name} of the server's environment`);
}

async function fromFile(path: string, { directory }: SecretPlace): Promise<SecretValue> {
  const full = path.startsWith('~/') ? resolve(homedir(), path.slice(2)) : resolve(directory, path);
  try {
    const file = await open(full, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(largestBytes + 1), 0, largestBytes + 1, 0);
      return checked(buffer.subarray(0, bytesRead).toString(), full);
    } finally {
      await file.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return no(
      code === 'ENOENT' ? `there is no file ${full}` : `${full} cannot be read (${code ?? 'unknown'})`,
    );
  }
}

function fromCommand(command: string, { directory, env, clock }: SecretPlace): Promise<SecretValue> {
  return new Promise((settle) => {
    const child = spawn('/bin/sh', ['-c', command], {
      cwd: directory,
      env: { ...env },
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (outcome: SecretValue): void => {
      cancelTimer();
      killGroup(child.pid);
      settle(outcome);
    };
    const cancelTimer = clock.after(commandMs, () =>
      end(no(`the command told nothing within ${commandMs / 1000} seconds`)),
    );
    child.stdout.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > largestBytes) end(no(`the command printed more than ${largestBytes} bytes`));
    });
    child.on('error', (error) => end(no(`the command cannot be run (${error.message})`)));
    child.on('close', (code, signal) => {
      // What it said on standard error may hold the value: whoever wants to see it runs the command.
      const how = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      if (code !== 0) end(no(`the command ${how}; run it by hand to see why`));
      else end(checked(Buffer.concat(chunks).toString(), 'what the command printed'));
    });
  });
}

// Whatever the command left behind: nobody hears of it any more.
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined && pid > 1) process.kill(-pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

function checked(text: string, what: string): SecretValue {
  const value = text.replace(/\r?\n$/, '');
  if (Buffer.byteLength(value) > largestBytes) return no(`${what} has more than ${largestBytes} bytes`);
  if (value === '') return no(`${what} is empty`);
  if (value.includes('\0')) return no(`${what} contains a NUL character`);
  return { ok: true, value };
}

function no(reason: string): SecretValue {
  return { ok: false, reason };
}
