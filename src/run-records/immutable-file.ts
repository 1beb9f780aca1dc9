import { constants, createReadStream, createWriteStream } from 'node:fs';
import { access, link, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** What can be written: a text, or texts one after the other, as they are made. */
export type Content = string | AsyncIterable<string>;

/**
 * Writes a file once: whole or not at all, readable only. One that is there stays as it is, whoever wrote it. Rejects when the disk
 * fails; nothing is left of it then. `unique` makes the name of what is not yet complete.
 */
export async function writeOnce(path: string, content: Content, unique: string): Promise<void> {
  if (await exists(path)) return;
  const chunks = typeof content === 'string' ? [content] : content;
  await complete(path, unique, (partial) =>
    pipeline(Readable.from(chunks), createWriteStream(partial, { mode: 0o444, flags: 'wx', flush: true })),
  );
}

/** Copies a file once, as `writeOnce` does. */
export async function copyOnce(from: string, path: string, unique: string): Promise<void> {
  if (await exists(path)) return;
  const source = (): Readable =>
    createReadStream(from, { flags: constants.O_RDONLY | constants.O_NOFOLLOW } as unknown as {
      flags: string;
    });
  await complete(path, unique, (partial) =>
    pipeline(source(), createWriteStream(partial, { mode: 0o444, flags: 'wx', flush: true })),
  );
}

async function complete(
  path: string,
  unique: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const directory = dirname(path);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const partial = join(directory, `.${basename(path)}.${unique}`);
  try {
    // What a server that died left of it is nobody's.
    await rm(partial, { force: true });
    await write(partial);
    await link(partial, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(partial, { force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
