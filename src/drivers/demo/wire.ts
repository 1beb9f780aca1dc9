import type { Stream } from '@agentclientprotocol/sdk';
import { ndJsonStream } from '@agentclientprotocol/sdk';

/** The process's own stdin and stdout as ACP's stream, with the two things that the protocol does not allow. */
export interface Wire {
  readonly stream: Stream;
  /** Writes a line past the protocol; resolves when it has been written. */
  raw(line: string): Promise<void>;
  /** Takes nothing more from stdin, for ever: what the client writes piles up in the pipe. */
  stopReading(): void;
}

/** Opens the wire. Call it once: stdin has one reader. */
export function openWire(): Wire {
  let reading = true;
  const chunks = process.stdin[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  const input = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await chunks.next();
        // A read was under way when reading stopped: what it brings is dropped.
        if (!reading) return new Promise<void>(() => undefined);
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
  const output = new WritableStream<Uint8Array>({ write: (bytes) => writeOut(bytes) });
  return {
    stream: ndJsonStream(output, input),
    raw: (line) => writeOut(`${line}\n`),
    stopReading: () => {
      reading = false;
    },
  };
}

function writeOut(bytes: Uint8Array | string): Promise<void> {
  return new Promise((resolve) => {
    process.stdout.write(bytes, () => resolve());
  });
}
