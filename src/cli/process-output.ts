import type { Output } from './ports.ts';

/**
 * A stream of this process as an `Output`. A reader that went away (`stemma ls | head -1`) is no error: what is written
 * after that is dropped, so that a command whose exit code is an outcome still finds the outcome. A full disk is one, told
 * at the end by `failure`: a server goes on, whatever becomes of its first line.
 */
export function outputOf(stream: NodeJS.WriteStream): Output {
  let isBroken = false;
  let failure: Error | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failure ??= error;
    isBroken = true;
  });
  return {
    write(text) {
      if (!isBroken) stream.write(text);
    },
    isTty: stream.isTTY === true,
    // An error is told some moments after the write; a callback of a later write comes behind it.
    failure: () =>
      new Promise((resolve) => {
        if (isBroken) resolve(failure);
        else stream.write('', () => setImmediate(() => resolve(failure)));
      }),
    size() {
      return stream.isTTY ? { columns: stream.columns || 80, rows: stream.rows || 24 } : undefined;
    },
  };
}
