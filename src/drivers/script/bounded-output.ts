import { closeSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs';

/**
 * A file's content as text that anything can store: at most `limitBytes` of it, else its beginning and its end with a
 * mark between them that says how much is missing. Invalid UTF-8 and NUL become U+FFFD. A missing file is empty.
 * Synchronous; one mebibyte takes about a millisecond.
 */
export function readBounded(path: string, limitBytes: number): string {
  return withFile(path, (fd, size) => {
    if (size <= limitBytes) return toText(readRange(fd, 0, size));
    const half = Math.floor(limitBytes / 2);
    const head = withoutCutEnd(readRange(fd, 0, half));
    const tail = withoutCutStart(readRange(fd, size - half, half));
    const missing = size - head.length - tail.length;
    return `${toText(head)}\n[… ${missing} bytes left out …]\n${toText(tail)}`;
  });
}

/** The last lines of a file, at most `limitBytes` of them, without the newline at the end. */
export function readLastLines(path: string, limitBytes: number): string {
  return withFile(path, (fd, size) => {
    const start = Math.max(0, size - limitBytes);
    const text = toText(withoutCutStart(readRange(fd, start, size - start)));
    // A line that is cut at its beginning says less than nothing, unless it is the only one.
    const isCut = start > 0 && text.trimEnd().includes('\n');
    return (isCut ? text.slice(text.indexOf('\n') + 1) : text).trimEnd();
  });
}

/** How large a file is, in bytes; a missing one is empty. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Cuts a file off behind so many bytes, if it is longer. */
export function truncate(path: string, bytes: number): void {
  if (sizeOf(path) > bytes) truncateSync(path, bytes);
}

function withFile(path: string, read: (fd: number, size: number) => string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    return read(fd, fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

function readRange(fd: number, start: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, bytes, filled, length - filled, start + filled);
    if (count === 0) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}

// PostgreSQL stores no NUL in text.
function toText(bytes: Buffer): string {
  return bytes.toString('utf8').replaceAll('\0', '\uFFFD');
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

function withoutCutStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && isContinuation(bytes[start])) start++;
  return bytes.subarray(start);
}

function withoutCutEnd(bytes: Buffer): Buffer {
  let start = bytes.length - 1;
  while (start > bytes.length - 4 && isContinuation(bytes[start])) start--;
  const lead = bytes[start] ?? 0;
  const expected = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return bytes.length - start < expected ? bytes.subarray(0, start) : bytes;
}
