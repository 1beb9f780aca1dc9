import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, resolve, sep } from 'node:path';
import type { FoundFile } from '../runs/step-ports.ts';

/** A file below a working directory, or why it cannot be had, in words that follow its name. */
export type Below<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: string };

/** Finds a file below `cwd`. Neither its path nor a link may lead out of it. Never rejects. */
export function findBelow(cwd: string, path: string): Promise<Below<FoundFile>> {
  return opened(cwd, path, async (_, found) => ({ ok: true, value: found }));
}

/** Reads a text file below `cwd` of at most `limit` bytes. Never rejects. */
export function readBelow(cwd: string, path: string, limit: number): Promise<Below<string>> {
  return opened(cwd, path, async (file, { bytes }) => {
    if (bytes > limit) return no(`has ${bytes} bytes, and at most ${limit} are read`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await file.readFile());
    return text.includes('\0') ? no('is no text') : { ok: true, value: text };
  });
}

async function opened<T>(
  cwd: string,
  path: string,
  use: (file: FileHandle, found: FoundFile) => Promise<Below<T>>,
): Promise<Below<T>> {
  try {
    if (isAbsolute(path)) return no('is an absolute path; write one below the working directory');
    const top = await realpath(cwd);
    const found = await realpath(resolve(top, path));
    if (!found.startsWith(top.endsWith(sep) ? top : `${top}${sep}`))
      return no('is outside the working directory');
    // What is no file may never end: a pipe is opened without waiting for whoever writes to it. And no link was put there meanwhile.
    const file = await open(found, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return no('is no file');
      return await use(file, { path: found, bytes: stat.size });
    } finally {
      await file.close();
    }
  } catch (thrown) {
    return no(reasonOf(thrown as NodeJS.ErrnoException));
  }
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES') return 'may not be read';
  if (code === 'ELOOP') return 'is a link in a circle';
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is no text (UTF-8)' : `cannot be read: ${message}`;
}

function no(why: string): { ok: false; why: string } {
  return { ok: false, why };
}
