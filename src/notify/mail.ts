import { createHash } from 'node:crypto';
import { Socket } from 'node:net';
import type { SendMailOptions } from 'nodemailer';
import { plainLine } from './plain.ts';
import type { Attempt, Message, Target } from './port.ts';
import type { SendingParts } from './sending.ts';
import { defaultTimeoutMs, readSecrets } from './sending.ts';
import type { MailSettings, TargetSettings } from './settings.ts';
import { wordsOfMessage } from './words.ts';

/** Hands a mail to an SMTP server. Without encryption nothing is sent, unless the settings say `none`. */
export function mailTarget(
  settings: TargetSettings & { readonly mail: MailSettings },
  parts: SendingParts,
): Target {
  const { mail, timeout = defaultTimeoutMs } = settings;
  return {
    async send(message, signal) {
      const secrets = await readSecrets({ password: mail.password }, message.target, parts);
      if (!secrets.ok) return secrets;
      const socket = new Socket();
      return new Promise((resolve) => {
        const end = (attempt: Attempt): void => {
          cancelTimer();
          signal.removeEventListener('abort', abort);
          socket.destroy();
          resolve(attempt);
        };
        const abort = (): void => end({ ok: false, kind: 'down', message: 'the server is stopping' });
        const cancelTimer = parts.clock.after(timeout, () =>
          end({
            ok: false,
            kind: 'down',
            message: `${mail.host} did not take the mail within ${timeout / 1000} s`,
          }),
        );
        signal.addEventListener('abort', abort, { once: true });
        if (signal.aborted) return abort();
        deliver(mail, secrets.values.password, mailOf(message, mail, parts), socket).then(
          () => end({ ok: true }),
          (error: unknown) => end(failureOf(error, mail)),
        );
      });
    },
  };
}

async function deliver(
  mail: MailSettings,
  password: string | undefined,
  content: SendMailOptions,
  socket: Socket,
): Promise<void> {
  const { host, security = 'starttls', user } = mail;
  // Most servers send no mail: loading it would make each start slower.
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host,
    port: mail.port ?? (security === 'tls' ? 465 : 587),
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    // Ours, so that a time limit can end the conversation wherever it is.
    socket,
    ...(user === undefined || password === undefined ? {} : { auth: { user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  await transport.sendMail(content);
}

function mailOf(message: Message, { to, from }: MailSettings, parts: SendingParts): SendMailOptions {
  const { title, body, url } = wordsOfMessage(message, parts.places());
  // The same for each attempt: a mailbox that has it may drop the second.
  const name = createHash('sha256').update(message.id).digest('hex').slice(0, 32);
  return {
    from: { name: 'Stemma', address: from },
    to: to.map((address) => ({ name: '', address })),
    subject: `[stemma] ${title}`,
    text: `${body === '' ? title : body}\n\n${url}\n`,
    messageId: `<${name}@stemma.invalid>`,
    // RFC 3834: nobody's holiday answers this.
    headers: { 'Auto-Submitted': 'auto-generated', 'X-Stemma-Message': message.id },
  };
}

function failureOf(error: unknown, { host }: MailSettings): Attempt {
  const { code, responseCode, message } = error as {
    readonly code?: string;
    readonly responseCode?: number;
    readonly message?: string;
  };
  const text = `${host}: ${plainLine(message ?? code ?? 'unknown', 300)}`;
  const isAboutThisMail = code === 'EENVELOPE' || code === 'EMESSAGE';
  const isRefused = isAboutThisMail && responseCode !== undefined && responseCode >= 500;
  return { ok: false, kind: isRefused ? 'refused' : 'down', message: text };
}
