import type { Output } from './ports.ts';

/**
 * A stream of this process as an `Output`. A reader that went away (`stemma ls | head -1`) is no error: what is written
 * after that is dropped, so that a command whose exit code is an outcome still finds the outcome.
 */
export function outputOf(stream: NodeJS.WriteStream): Output {
  let isBroken = false;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    isBroken = true;
  });
  return {
    write(text) {
      if (!isBroken) stream.write(text);
    },
    isTty: stream.isTTY === true,
    size() {
      return stream.isTTY ? { columns: stream.columns || 80, rows: stream.rows || 24 } : undefined;
    },
  };
}
