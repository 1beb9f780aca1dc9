import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

/** One conversation that came to a mail. */
export interface TakenMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers and text, as they came over the wire, without the stuffing of dots. */
  readonly data: string;
  readonly user: string | undefined;
}

/** An SMTP server on loopback that speaks just enough of RFC 5321 and of AUTH PLAIN; without encryption. */
export class SmtpServer {
  readonly mails: TakenMail[] = [];
  /** Every line that a client has said. */
  readonly lines: string[] = [];
  /** What is answered to RCPT instead of 250, if anything; or nothing at all to anything. */
  refusal: string | undefined;
  isSilent = false;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer((socket) => this.#talk(socket));
  }

  static async listen(): Promise<SmtpServer> {
    const server = new SmtpServer();
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #talk(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    if (this.isSilent) return;
    const mail = { from: '', to: [] as string[], user: undefined as string | undefined };
    let data: string[] | undefined;
    let rest = '';
    socket.write('220 localhost ready\r\n');
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = `${rest}${chunk}`.split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (data === undefined) {
          this.lines.push(line);
          const answer = this.#answer(line, mail);
          if (answer.startsWith('354')) data = [];
          socket.write(`${answer}\r\n`);
          if (answer.startsWith('221')) socket.end();
        } else if (line === '.') {
          this.mails.push({ ...mail, to: [...mail.to], data: data.join('\r\n') });
          data = undefined;
          socket.write('250 taken\r\n');
        } else data.push(line.startsWith('.') ? line.slice(1) : line);
      }
    });
  }

  #answer(line: string, mail: { from: string; to: string[]; user: string | undefined }): string {
    const [verb = ''] = line.toUpperCase().split(' ');
    if (verb === 'EHLO') return '250-localhost\r\n250 AUTH PLAIN';
    if (verb === 'AUTH') {
      const [, user, password] = Buffer.from(line.split(' ')[2] ?? '', 'base64')
        .toString()
        .split('\0');
      mail.user = user;
      return password === 'correct horse' ? '235 welcome' : '535 wrong password';
    }
    if (verb === 'MAIL') mail.from = /<([^>]*)>/.exec(line)?.[1] ?? '';
    if (verb === 'RCPT') {
      if (this.refusal !== undefined) return this.refusal;
      mail.to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
    }
    if (verb === 'STARTTLS') return '502 not here';
    if (verb === 'DATA') return '354 go on';
    return verb === 'QUIT' ? '221 bye' : '250 ok';
  }
}
