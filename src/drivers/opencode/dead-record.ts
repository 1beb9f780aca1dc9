import { execFile } from 'node:child_process';
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';
import { within } from '../../base/pause.ts';
import { resolveProgram } from '../../processes/command.ts';
import type { OpenRequest } from '../port.ts';
import { placeOf } from './environment.ts';
import { messageList, type Recorded } from './wire.ts';

const readMs = 30_000;
const largestBytes = 256 * 1024 * 1024;
const exported = z.object({ messages: messageList });

/**
 * The messages of a conversation whose process is dead, oldest first, as opencode itself reads them from its disk.
 * Undefined when that does not work within half a minute.
 */
export async function readDeadRecord(
  { profile, cwd }: Pick<OpenRequest, 'profile' | 'cwd'>,
  sessionId: string,
  clock: Clock,
): Promise<readonly Recorded[] | undefined> {
  const { command, env } = placeOf(profile);
  const [program = '', ...args] = command;
  const resolved = await resolveProgram(program, env, cwd);
  if (!resolved.ok) return undefined;
  const options = { cwd, env: { ...env }, maxBuffer: largestBytes, encoding: 'utf8' as const };
  let answer: (text: string) => void = () => undefined;
  const exporting = new Promise<string>((resolve) => {
    answer = resolve;
  });
  const child = execFile(resolved.path, [...args, 'export', sessionId], options, (error, stdout) =>
    answer(error ? '' : stdout),
  );
  const text = await within(clock, readMs, exporting, undefined);
  if (text === undefined) {
    // It may ignore SIGTERM, or have left its pipe to somebody: neither holds up the answer.
    child.kill('SIGKILL');
    child.stdout?.destroy();
    child.stderr?.destroy();
    return undefined;
  }
  return exported.safeParse(parseJson(text)).data?.messages;
}

/** Whether a text is in these messages, and whether a request of the agent carried it. */
export function fateIn(messages: readonly Recorded[], messageId: string): 'answered' | 'left' | 'none' {
  const index = messages.findIndex(({ info }) => info.id === messageId);
  if (index < 0) return 'none';
  const users = new Set(messages.slice(index).flatMap(({ info }) => (info.role === 'user' ? [info.id] : [])));
  const isAnswered = messages.some(({ info }) => info.role === 'assistant' && users.has(info.parentID));
  return isAnswered ? 'answered' : 'left';
}
