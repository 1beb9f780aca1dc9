import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendingParts } from '../../test/notify/outbox.ts';
import { SmtpServer } from '../../test/notify/smtp-server.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Notification } from '../ledger/notification.ts';
import { notification } from '../store/conformance/rows.ts';
import type { Attempt } from './port.ts';
import type { SendingParts } from './sending.ts';
import type { MailSettings } from './settings.ts';
import { createTarget } from './targets.ts';

describe('a mail', () => {
  let server: SmtpServer;
  let clock: VirtualClock;
  let parts: SendingParts;
  const send = (
    more: Partial<MailSettings> = {},
    row: Notification = notification(1),
    signal = new AbortController().signal,
  ): Promise<Attempt> => {
    const mail = { to: ['me@example.org', 'you@example.org'], from: 'stemma@example.org' };
    const where = { host: '127.0.0.1', port: server.port, security: 'none' } as const;
    const target = createTarget({ mail: { ...mail, ...where, ...more }, timeout: 5_000 }, parts);
    return target.send({ id: row.id, target: 'me', notifications: [row] }, signal);
  };

  beforeEach(async () => {
    server = await SmtpServer.listen();
    clock = new VirtualClock();
    parts = sendingParts(clock, { env: { PASSWORD: 'correct horse', WRONG: 'battery staple' } });
  });
  afterEach(() => server.close());

  it('is handed over: to whom, from whom, about what, and where to look', async () => {
    const row = notification(1, { name: 'nightly', text: 'window: 13 h late', project: 'shop' });
    expect(await send({ user: 'ops', password: 'env:PASSWORD' }, row)).toEqual({ ok: true });
    const [mail] = server.mails;
    expect(mail).toMatchObject({
      from: 'stemma@example.org',
      to: ['me@example.org', 'you@example.org'],
      user: 'ops',
    });
    expect(mail?.data).toMatch(/^Subject: \[stemma\] nightly missed its time\r$/m);
    expect(mail?.data).toMatch(/^Auto-Submitted: auto-generated\r$/m);
    expect(mail?.data).toContain('window: 13 h late');
    expect(mail?.data).toContain('http://127.0.0.1:4600/');
  });

  it('has the same id each time it is sent', async () => {
    for (let i = 0; i < 2; i++) await send();
    const ids = server.mails.map(({ data }) => /^Message-ID: (<\S+>)\r$/im.exec(data)?.[1]);
    expect(ids[0]).toMatch(/^<[0-9a-f]{32}@stemma\.invalid>$/);
    expect(ids[1]).toBe(ids[0]);
  });

  it('has no header and no recipient that an agent wrote', async () => {
    const evil = 'x\r\nBcc: evil@example.org\r\n\r\n.\r\nMAIL FROM:<evil@example.org>\r\n\u0000\u001b[31m';
    expect(await send({}, notification(1, { name: evil, text: evil }))).toEqual({ ok: true });
    const [mail, ...others] = server.mails;
    expect(others).toEqual([]);
    expect(mail?.to).toEqual(['me@example.org', 'you@example.org']);
    const head = mail?.data.split('\r\n\r\n')[0] ?? '';
    expect(head).not.toMatch(/^Bcc:/im);
    expect(head.match(/^Subject:/gim)).toHaveLength(1);
    expect(mail?.data.replace(/[\r\n\t]/g, '')).not.toMatch(/\p{Cc}/u);
  });

  it('is not sent in the clear unless that is meant', async () => {
    const attempt = await send({ security: 'starttls', user: 'ops', password: 'env:PASSWORD' });
    expect(attempt).toMatchObject({ ok: false, kind: 'down' });
    expect(server.mails).toEqual([]);
    expect(server.lines.filter((line) => /^(AUTH|MAIL)/.test(line))).toEqual([]);
  });

  it('is not handed over with a wrong password, and the password is told nobody', async () => {
    const attempt = await send({ user: 'ops', password: 'env:WRONG' });
    expect(attempt).toMatchObject({ ok: false, kind: 'down' });
    expect(parts.redaction.text(JSON.stringify(attempt))).not.toContain('battery');
  });

  it('that the server will never take is refused; one that it cannot take now is not', async () => {
    server.refusal = '550 no such person';
    expect(await send()).toMatchObject({ ok: false, kind: 'refused' });
    server.refusal = '451 later';
    expect(await send()).toMatchObject({ ok: false, kind: 'down' });
  });

  it('is given up by its time limit where the server hangs, and nothing stays open', async () => {
    server.isSilent = true;
    const sending = send();
    await until(() => server.openConnections === 1);
    clock.advance(5_000);
    expect(await sending).toMatchObject({
      ok: false,
      kind: 'down',
      message: expect.stringMatching(/within 5 s$/),
    });
    await until(() => server.openConnections === 0);
  });

  it('is let go when the server stops', async () => {
    server.isSilent = true;
    const stopping = new AbortController();
    const sending = send({}, notification(1), stopping.signal);
    await until(() => server.openConnections === 1);
    stopping.abort();
    expect(await sending).toMatchObject({ ok: false, kind: 'down' });
    await until(() => server.openConnections === 0);
  });
});

/** Waits for a condition, with a deadline of real time. */
async function until(what: () => boolean): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!what()) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${String(what)}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
