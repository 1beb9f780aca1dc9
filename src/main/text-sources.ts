import { constants } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import type { AgentDirectory } from '../application/context.ts';
import type { TextSources } from '../runs/ports.ts';
import type { FileRead } from '../schedules/templates.ts';

/** The largest file that is read into a message, in bytes. */
const largestFile = 1_000_000;

/** What templates of messages may read on this machine. */
export function textSources(
  agents: Pick<AgentDirectory, 'find'>,
  environment: Readonly<Record<string, string | undefined>>,
  recordOf: TextSources['recordOf'],
): TextSources {
  return {
    recordOf,
    variable(name, agent, isFromFile) {
      const own = agents.find(agent)?.profile.env?.[name];
      return own ?? (isFromFile ? environment[name] : undefined);
    },
    readFile: (cwd, path) =>
      readBelow(cwd, path).catch(
        (thrown: NodeJS.ErrnoException): FileRead => ({ ok: false, why: reasonOf(thrown) }),
      ),
  };
}

async function readBelow(cwd: string, path: string): Promise<FileRead> {
  const top = await realpath(cwd);
  const found = await realpath(resolve(top, path));
  // A link may lead out of the directory.
  if (!found.startsWith(top.endsWith(sep) ? top : `${top}${sep}`))
    return no('it is outside the working directory');
  // What is no file may never end: a pipe is opened without waiting for whoever writes to it.
  const file = await open(found, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, ...kind } = await file.stat().then((stat) => ({ size: stat.size, isFile: stat.isFile() }));
    if (!kind.isFile) return no('it is no file');
    if (size > largestFile) return no(`it has ${size} bytes, and at most ${largestFile} are read`);
    const bytes = await file.readFile();
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? no('it is no text') : { ok: true, text };
  } finally {
    await file.close();
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EACCES') return 'it may not be read';
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is no text' : message;
}

function no(why: string): FileRead {
  return { ok: false, why };
}
