import { connect } from 'node:net';

/** What a raw exchange brought back. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/**
 * Sends bytes as they are and reads until the server ends the connection or `complete` says that it is enough: for what
 * no HTTP client would send. Rejects after five seconds.
 */
export function sendRaw(port: number, parts: readonly (string | Uint8Array)[]): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port });
    const chunks: Buffer[] = [];
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no whole answer: ${Buffer.concat(chunks).toString().slice(0, 200)}`));
    }, 5_000);
    const finish = (): void => {
      const answer = parseAnswer(Buffer.concat(chunks).toString());
      if (answer === undefined) return;
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      finish();
    });
    socket.on('end', finish);
    // The server may hang up while we are still sending too much; what it said before counts.
    socket.on('error', finish);
    for (const part of parts) socket.write(part);
  });
}

function parseAnswer(text: string): RawAnswer | undefined {
  const [head, ...rest] = text.split('\r\n\r\n');
  const body = rest.join('\r\n\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head ?? '')?.[1]);
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(head ?? '')?.[1] ?? Number.NaN);
  const isChunkedWhole = /transfer-encoding: chunked/i.test(head ?? '') && body.endsWith('0\r\n\r\n');
  const isWhole = isChunkedWhole || Buffer.byteLength(body) >= length;
  return status && isWhole ? { status, head: head ?? '', body } : undefined;
}
