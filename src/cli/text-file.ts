import { isUtf8 } from 'node:buffer';
import { open } from 'node:fs/promises';

/** Larger files are no configuration: somebody named the wrong one. Bytes. */
const mostBytes = 8 * 1024 * 1024;

/** Why a file could not be read, for a person. */
export function readProblem(thrown: unknown): string {
  const { code, message } = thrown as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  return code === 'EACCES' ? 'it may not be read' : message;
}

/**
 * The text of a small file. Throws what the operating system said, that the file is too large to be meant, or that it is
 * not UTF-8: read all the same, its texts would go out with gaps in them.
 */
export async function readTextFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    // By what arrives: devices and pipes have no size.
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > mostBytes) throw new Error(`it is larger than ${mostBytes} bytes`);
    }
    const bytes = Buffer.concat(chunks);
    if (!isUtf8(bytes)) throw new Error('it is not in UTF-8; save it as UTF-8');
    return bytes.toString('utf8');
  } finally {
    await file.close();
  }
}
