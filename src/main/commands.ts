import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
  readonly directory: (id: CommandSubject) => string;
  /** Where the server is, and the token that names the execution. What is no execution yet has none. */
  readonly tools: (id: ExecutionId) => { readonly url: string; readonly token: string };
}

/** Runs commands as turns of the `script` driver: one process each, adopted after a restart, never run twice. */
export function createCommands(options: CommandOptions): CommandRunner {
  const running = new Map<CommandSubject, Conversation>();
  const request = (
    id: CommandSubject,
    command: string | readonly string[],
    cwd: string,
    emit: OpenRequest['emit'],
    env: Readonly<Record<string, string>> = {},
  ): OpenRequest => ({
    // A command has no session; its directory is named for what it is run for.
    sessionId: idAs('session', id),
    profile: { name: 'command', driver: 'script', command: argumentsOf(command), env },
    cwd,
    directory: options.directory(id),
    ...(isId('execution', id) ? { tools: options.tools(id) } : {}),
    position: 0,
    unresolved: [id],
    emit,
  });
  const end = async (id: CommandSubject): Promise<'dead' | 'unkillable'> => {
    const known = running.get(id);
    if (known) return known.end();
    // Opened, it would be made.
    if (!(await exists(options.directory(id)))) return 'dead';
    // An earlier server may have started it, and nobody has looked for it yet.
    const left = { ...request(id, '', '/', () => undefined), adoptOnly: true };
    const opened = await options.driver.open(left);
    if (!opened.ok) return opened.code === 'NOT_RUNNING' ? 'dead' : 'unkillable';
    return opened.conversation.end();
  };
  // What cannot be removed takes room, and nothing else.
  const forget = (id: CommandSubject): Promise<void> =>
    rm(options.directory(id), { recursive: true, force: true }).catch(() => undefined);
  return {
    end,
    forget,
    async clear(id) {
      // A look at all processes of the machine, for each of many commands, would cost more than they do.
      const turns = await loadTurns(join(options.directory(id), 'turns')).catch(() => []);
      const isSomethingLeft = turns.some(({ identity }) => hasGroup(identity.pid));
      if (!isSomethingLeft || (await end(id)) === 'dead') await forget(id);
    },
    async run({ id }, command, cwd, signal, env) {
      let tell: (end: CommandEnd) => void = () => undefined;
      const ended = new Promise<CommandEnd>((resolve) => {
        tell = resolve;
      });
      const emit = (event: DriverEvent): void => {
        if (event.type === 'turnEnded') tell(endOf(event));
        else if (event.type === 'exited') tell({ exitCode: null, output: event.reason });
      };
      const opened = await options.driver.open(request(id, command, cwd, emit, env));
      if (!opened.ok) return { exitCode: null, isUnstarted: true, output: opened.message };
      const { conversation } = opened;
      running.set(id, conversation);
      try {
        if ((await conversation.evidence(id)).state === 'absent') {
          const sent = await conversation.start({ id, text: '' });
          if (sent.outcome === 'refused') return { exitCode: null, isUnstarted: true, output: sent.reason };
        }
        return await (signal ? untilStopped(ended, signal) : ended);
      } finally {
        running.delete(id);
        await conversation.detach();
      }
    },
  };
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
async function untilStopped(ended: Promise<CommandEnd>, signal: AbortSignal): Promise<CommandEnd> {
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
