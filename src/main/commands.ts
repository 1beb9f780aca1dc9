import { access, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { StemmaError } from '../base/errors.ts';
import type { ExecutionId } from '../base/ids.ts';
import { idAs, isId } from '../base/ids.ts';
import type { Conversation, Driver, DriverEvent, OpenRequest } from '../drivers/port.ts';
import { loadTurns } from '../drivers/script/turn-record.ts';
import type { CommandEnd, CommandRunner, CommandSubject } from '../runs/ports.ts';

/** What commands need. */
export interface CommandOptions {
  /** The driver whose turns are processes that outlive the server. */
  readonly driver: Driver;
  readonly clock: Clock;
  readonly directory: (id: CommandSubject) => string;
  /** Where the server is, and the token that names the execution. What is no execution yet has none. */
  readonly tools: (id: ExecutionId) => { readonly url: string; readonly token: string };
}

/** Runs commands as turns of the `script` driver: one process each, adopted after a restart, never run twice. */
export function createCommands(options: CommandOptions): CommandRunner {
  const running = new Map<CommandSubject, Map<number, Conversation>>();
  // The first command of a thing is in its own directory, every other in one below.
  const directoryOf = (id: CommandSubject, part: number): string =>
    part === 0 ? options.directory(id) : join(options.directory(id), partName(part));
  const request = (
    { id, part = 0 }: Named,
    command: string | readonly string[],
    cwd: string,
    emit: OpenRequest['emit'],
    env: Readonly<Record<string, string>> = {},
  ): OpenRequest => ({
    // A command has no session; its directory is named for what it is run for.
    sessionId: idAs('session', id),
    profile: { name: 'command', driver: 'script', command: argumentsOf(command), env },
    cwd,
    directory: directoryOf(id, part),
    ...(isId('execution', id) ? { tools: options.tools(id) } : {}),
    position: 0,
    unresolved: [id],
    emit,
  });
  const endLeft = async (id: CommandSubject, part: number): Promise<'dead' | 'unkillable'> => {
    // An earlier server may have started it, and nobody has looked for it yet.
    const left = { ...request({ id, part }, '', '/', () => undefined), adoptOnly: true };
    const opened = await options.driver.open(left);
    if (!opened.ok) return opened.code === 'NOT_RUNNING' ? 'dead' : 'unkillable';
    return opened.conversation.end();
  };
  const end = async (id: CommandSubject, only?: number): Promise<'dead' | 'unkillable'> => {
    const known = running.get(id);
    // Opened, it would be made.
    if (!known && !(await exists(options.directory(id)))) return 'dead';
    let all: 'dead' | 'unkillable' = 'dead';
    for (const part of only === undefined ? await partsIn(options.directory(id)) : [only]) {
      const ended = await (known?.get(part)?.end() ?? endLeft(id, part));
      if (ended === 'unkillable') all = ended;
    }
    return all;
  };
  // What cannot be removed takes room, and nothing else.
  const forget = (id: CommandSubject, part = 0): Promise<void> =>
    rm(directoryOf(id, part), { recursive: true, force: true }).catch(() => undefined);
  return {
    end: (id) => end(id),
    forget,
    async clear(id, only) {
      // A look at all processes of the machine, for each of many commands, would cost more than they do.
      const turns = [];
      for (const part of only === undefined ? await partsIn(options.directory(id)) : [only])
        turns.push(...(await loadTurns(join(directoryOf(id, part), 'turns')).catch(() => [])));
      const isSomethingLeft = running.has(id) || turns.some(({ identity }) => hasGroup(identity.pid));
      if (!isSomethingLeft || (await end(id, only)) === 'dead') await forget(id, only);
    },
    async run({ id, part = 0, limitMs, mayStart }, command, cwd, signal, env) {
      if (part > 0) await mkdir(directoryOf(id, part), { recursive: true, mode: 0o700 });
      let tell: (end: CommandEnd) => void = () => undefined;
      const ended = new Promise<CommandEnd>((resolve) => {
        tell = resolve;
      });
      let wasEnded = false;
      const emit = (event: DriverEvent): void => {
        if (event.type === 'turnEnded') {
          wasEnded = event.status === 'interrupted';
          tell(endOf(event));
        } else if (event.type === 'exited') tell({ exitCode: null, output: event.reason });
      };
      const opened = await options.driver.open(request({ id, part }, command, cwd, emit, env));
      if (!opened.ok) return { exitCode: null, isUnstarted: true, output: opened.message };
      const { conversation } = opened;
      const parts = running.get(id) ?? new Map<number, Conversation>();
      running.set(id, parts.set(part, conversation));
      try {
        if ((await conversation.evidence(id)).state === 'absent') {
          if (mayStart && !(await mayStart()))
            return { exitCode: null, isUnstarted: true, output: 'it was cancelled before it began' };
          const sent = await conversation.start({ id, text: '' });
          if (sent.outcome === 'refused') return { exitCode: null, isUnstarted: true, output: sent.reason };
        }
        if (limitMs === undefined) return await untilStopped(ended, signal);
        const begunAt = (await launchedAt(directoryOf(id, part))) ?? options.clock.now();
        const lateAt = begunAt + limitMs;
        const end = await untilLate(untilStopped(ended, signal), conversation, lateAt, options.clock);
        // An earlier server may have ended it, and not have come to tell.
        return wasEnded && options.clock.now() >= lateAt ? { ...end, isOverdue: true } : end;
      } finally {
        parts.delete(part);
        if (parts.size === 0) running.delete(id);
        await conversation.detach();
      }
    },
  };
}

/** One command of a thing. */
interface Named {
  readonly id: CommandSubject;
  readonly part?: number;
}

function partName(part: number): string {
  return `part-${part}`;
}

/** The commands of a thing that something is kept of; its first one always. */
async function partsIn(directory: string): Promise<number[]> {
  const names = await readdir(directory).catch(() => []);
  return [0, ...names.flatMap((name) => /^part-(\d+)$/.exec(name)?.slice(1).map(Number) ?? [])];
}

function argumentsOf(command: string | readonly string[]): readonly string[] {
  return typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
}

/** Whether anything is in a process group. It may be another one by now: that is for whoever would end it to find out. */
function hasGroup(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

// What cannot be looked at may be there.
function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
}

/** The end, or `STOPPING` when the server stops before it. */
async function untilStopped(ended: Promise<CommandEnd>, signal?: AbortSignal): Promise<CommandEnd> {
  if (!signal) return ended;
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new StemmaError('STOPPING', 'The server stops; the command runs on.'));
  });
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([ended, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/**
 * As `ended`; at the instant `lateAt` what runs still is ended. What cannot be ended is told as late all the same: nobody waits for a
 * process for ever.
 */
async function untilLate(
  ended: Promise<CommandEnd>,
  conversation: Conversation,
  lateAt: number,
  clock: Clock,
): Promise<CommandEnd> {
  let isLeft: (end: CommandEnd) => void = () => undefined;
  const left = new Promise<CommandEnd>((resolve) => {
    isLeft = resolve;
  });
  const cancel = clock.after(Math.max(0, lateAt - clock.now()), () => {
    void conversation.end().then((outcome) => {
      if (outcome === 'unkillable')
        isLeft({ exitCode: null, isOverdue: true, output: 'a process of it cannot be ended' });
    });
  });
  try {
    return await Promise.race([ended, left]);
  } finally {
    cancel();
  }
}

/** When the command in this directory was launched, by the file that says for what it was; UTC milliseconds. */
async function launchedAt(directory: string): Promise<number | undefined> {
  const [turn] = await loadTurns(join(directory, 'turns')).catch(() => []);
  const found = turn && (await stat(join(turn.directory, 'delivery')).catch(() => undefined));
  return found?.mtimeMs;
}

function endOf(event: Extract<DriverEvent, { type: 'turnEnded' }>): CommandEnd {
  if (event.status === 'succeeded') return { exitCode: 0, output: event.answer };
  const message = event.error?.message ?? '';
  const [told = '', code] = /^exit code (\d+)(?: \(\w+\))?(?:: |$)/.exec(message) ?? [];
  return {
    exitCode: code === undefined ? null : Number(code),
    // What it printed: its answer, then the end of what it said on standard error.
    output: [event.answer.trimEnd(), message.slice(told.length)].filter(Boolean).join('\n'),
  };
}
