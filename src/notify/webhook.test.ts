import { createHmac, timingSafeEqual } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sendingParts } from '../../test/notify/outbox.ts';
import type { Received } from '../../test/notify/receiver.ts';
import { Receiver } from '../../test/notify/receiver.ts';
import { Redaction } from '../base/redaction.ts';
import { VirtualClock } from '../base/virtual-clock.ts';
import type { Notification } from '../ledger/notification.ts';
import { notification } from '../store/conformance/rows.ts';
import { isRefusedAddress } from './guarded-lookup.ts';
import type { Attempt, Message } from './port.ts';
import type { SendingParts } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { createTarget } from './targets.ts';

const evil =
  'a\r\nBcc: x\u001b[2J\u0000\u202eb <!channel> @here *bold* `code` [x](http://evil.example) </p>\n&';

function message(...rows: readonly Notification[]): Message {
  const [first = notification(1)] = rows;
  const id = rows.length === 1 ? first.id : `group:ops:${first.id}`;
  return { id, target: 'ops', notifications: rows };
}

/** Judges a request as the specification of Standard Webhooks says, knowing nothing of how it was made. */
function isSignedBy(secret: string, { headers, body }: Received, nowMs: number): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const [id, timestamp] = [headers['webhook-id'], headers['webhook-timestamp']];
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > 300) return false;
  const expected = createHmac('sha256', key)
    .update(`${String(id)}.${String(timestamp)}.${body}`)
    .digest();
  return String(headers['webhook-signature'])
    .split(' ')
    .some((one) => {
      const [version, given = ''] = one.split(',');
      const bytes = Buffer.from(given, 'base64');
      return version === 'v1' && bytes.length === expected.length && timingSafeEqual(bytes, expected);
    });
}

describe('a target that is told over HTTP', () => {
  let receiver: Receiver;
  let clock: VirtualClock;
  let parts: SendingParts;
  const send = (
    settings: TargetSettings,
    rows: readonly Notification[] = [notification(1)],
  ): Promise<Attempt> => createTarget(settings, parts).send(message(...rows), new AbortController().signal);

  beforeEach(async () => {
    receiver = await Receiver.listen();
    clock = new VirtualClock();
    parts = sendingParts(clock, { env: { SECRET: 'whsec_bXkgc2VjcmV0IGtleQ==', TOKEN: 'tk_0123456789' } });
  });
  afterEach(() => receiver.close());

  it('gets a CloudEvent that says what, when, about what, and where to look', async () => {
    const row = notification(7, {
      id: 'failed:subject7',
      transition: 'failed',
      name: 'nightly',
      project: 'shop',
      code: 'TIMED_OUT',
      text: 'The deadline passed.',
      at: Date.UTC(2026, 5, 1, 2, 3, 4),
    });
    expect(await send({ webhook: receiver.url }, [row])).toEqual({ ok: true });
    const [got] = receiver.received;
    expect(got?.headers).toMatchObject({
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'webhook-id': 'failed:subject7',
      'idempotency-key': 'failed:subject7',
    });
    expect(got?.headers['webhook-signature']).toBeUndefined();
    expect(receiver.events).toEqual([
      {
        specversion: '1.0',
        id: 'failed:subject7',
        source: 'http://127.0.0.1:4600',
        type: 'stemma.failed',
        subject: 'subject7',
        time: '2026-06-01T02:03:04.000Z',
        datacontenttype: 'application/json',
        data: {
          transition: 'failed',
          title: 'nightly failed',
          project: 'shop',
          name: 'nightly',
          code: 'TIMED_OUT',
          text: 'The deadline passed.',
          url: 'http://127.0.0.1:4600/',
        },
      },
    ]);
  });

  it('can tell who has sent it and when, by the signature', async () => {
    await send({ webhook: receiver.url, secret: 'env:SECRET' });
    const [got] = receiver.received as [Received];
    expect(isSignedBy('whsec_bXkgc2VjcmV0IGtleQ==', got, clock.now())).toBe(true);
    expect(isSignedBy('whsec_YW5vdGhlciBrZXk=', got, clock.now())).toBe(false);
    expect(isSignedBy('whsec_bXkgc2VjcmV0IGtleQ==', { ...got, body: `${got.body} ` }, clock.now())).toBe(
      false,
    );
    expect(isSignedBy('whsec_bXkgc2VjcmV0IGtleQ==', got, clock.now() + 600_000)).toBe(false);
    expect(String(got.headers['webhook-id'])).not.toContain('.');
  });

  it('is sent the secrets that it is to have, and no line break within them', async () => {
    parts = sendingParts(clock, { env: { KEY: 'abc\r\nX-Evil: 1', WHERE: receiver.url } });
    expect(await send({ webhook: 'env:WHERE', headers: { Authorization: 'env:KEY' } })).toEqual({ ok: true });
    expect(receiver.received[0]?.headers['authorization']).toBe('abcX-Evil: 1');
    expect(receiver.received[0]?.headers['x-evil']).toBeUndefined();
  });

  it('is not sent anything while a secret cannot be had', async () => {
    const attempt = await send({ webhook: receiver.url, secret: 'env:NOWHERE' });
    expect(attempt).toMatchObject({ ok: false, kind: 'down' });
    expect(JSON.stringify(attempt)).toContain('no variable NOWHERE');
    expect(receiver.received).toEqual([]);
  });

  it.each([
    [400, 'refused'],
    [410, 'refused'],
    [404, 'refused'],
    [408, 'down'],
    [429, 'down'],
    [500, 'down'],
    [503, 'down'],
  ] as const)('that answers %d is %s', async (reply, kind) => {
    receiver.reply = reply;
    expect(await send({ webhook: receiver.url })).toMatchObject({ ok: false, kind });
  });

  it('is left alone for as long as it asks', async () => {
    const inTwoMinutes = new Date(clock.now() + 120_000).toUTCString();
    for (const [value, ms] of [
      ['90', 90_000],
      [inTwoMinutes, 120_000],
      ['soon', undefined],
    ] as const) {
      receiver.reply = { status: 429, headers: { 'retry-after': value } };
      const attempt = await send({ webhook: receiver.url });
      expect(attempt.ok ? 'sent' : attempt.retryAfterMs).toBe(ms);
    }
  });

  it('that sends elsewhere is not followed', async () => {
    const other = await Receiver.listen();
    receiver.reply = { status: 307, headers: { location: other.url } };
    expect(await send({ webhook: receiver.url })).toMatchObject({ ok: false, kind: 'refused' });
    expect(other.received).toEqual([]);
    await other.close();
  });

  it('is read no further than what fits into an error', async () => {
    receiver.reply = { status: 500, body: 'x'.repeat(5_000_000) };
    const attempt = await send({ webhook: receiver.url });
    expect(attempt.ok ? '' : attempt.message).toHaveLength(
      '127.0.0.1:'.length + String(receiver.port).length + 15 + 200,
    );
  });

  it('that cannot be reached is down, and its path is told nobody', async () => {
    const { url } = receiver;
    await receiver.close();
    const attempt = await send({ webhook: `${url}/secret-path` });
    expect(attempt).toMatchObject({ ok: false, kind: 'down' });
    expect(JSON.stringify(attempt)).toContain('ECONNREFUSED');
    expect(JSON.stringify(attempt)).not.toContain('secret-path');
    receiver = await Receiver.listen();
  });

  it('is never under a link-local address, unless that is meant', async () => {
    for (const url of [
      'http://169.254.169.254/latest/meta-data',
      'http://0xa9fea9fe/',
      'http://[fe80::1]/',
      'http://[::ffff:169.254.169.254]/',
      'http://[fd00:ec2::254]/',
      'http://0/',
    ]) {
      const attempt = await send({ webhook: url });
      expect(attempt.ok ? '' : attempt.message, url).toContain('link-local');
    }
    for (const address of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '::1', '2001:db8::1'])
      expect(isRefusedAddress(address), address).toBe(false);
    expect(await send({ webhook: receiver.url, allowLinkLocal: true })).toEqual({ ok: true });
  });

  it('takes neither another scheme nor what is no URL', async () => {
    parts = sendingParts(clock, { env: { FTP: 'ftp://127.0.0.1/', NOTHING: 'nothing' } });
    for (const webhook of ['env:FTP', 'env:NOTHING'])
      expect(await send({ webhook })).toMatchObject({ ok: false, kind: 'down' });
  });

  it('on Slack shows what an agent wrote as it is: nobody is called, nothing is marked up', async () => {
    const row = notification(1, { name: evil, text: evil });
    expect(await send({ slack: receiver.url }, [row])).toEqual({ ok: true });
    const body = JSON.parse(receiver.received[0]?.body ?? '') as {
      text: string;
      blocks: { type: string; text?: { type: string; text: string } }[];
    };
    expect(body.text).not.toMatch(/<|>|@here|[\p{Cc}\u202e]/u);
    for (const block of body.blocks.filter(({ type }) => type === 'section')) {
      expect(block.text?.type).toBe('plain_text');
      expect(block.text?.text.length).toBeLessThanOrEqual(3_000);
      expect(block.text?.text.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
      expect(block.text?.text).not.toMatch(/@here|\u202e/);
    }
    const links = body.blocks.filter(({ type }) => type === 'context');
    expect(JSON.stringify(links)).not.toContain('evil.example');
  });

  it('on ntfy has a title in letters that a header may have, and a text that is no attachment', async () => {
    const row = notification(1, { name: `nächtlich ${evil}`, text: '漢'.repeat(5_000) });
    const rows = Array.from({ length: 60 }, (_, i) => ({ ...row, id: `missed:s${i}`, subject: `s${i}` }));
    expect(await send({ ntfy: receiver.url, token: 'env:TOKEN' }, [row])).toEqual({ ok: true });
    expect(await send({ ntfy: receiver.url }, rows)).toEqual({ ok: true });
    const [one, many] = receiver.received as [Received, Received];
    expect(one.headers['authorization']).toBe('Bearer tk_0123456789');
    const title = /^=\?UTF-8\?B\?([A-Za-z0-9+/=]+)\?=$/.exec(String(one.headers['title']));
    expect(Buffer.from(title?.[1] ?? '', 'base64').toString()).toMatch(
      /^nächtlich a Bcc: x.* missed its time$/,
    );
    expect(one.headers['bcc']).toBeUndefined();
    for (const { body } of [one, many]) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(4_096);
    expect(String(many.headers['title'])).toBe('60 missed');
    expect(many.body).toContain('…');
  });

  it('has what is secret redacted from the moment it is read', async () => {
    const redaction = new Redaction();
    parts = sendingParts(clock, { redaction, env: { SECRET: 'whsec_bXkgc2VjcmV0IGtleQ==' } });
    await send({ webhook: receiver.url, secret: 'env:SECRET' });
    expect(redaction.text('it is whsec_bXkgc2VjcmV0IGtleQ==!')).toBe('it is [secret ops.secret]!');
  });
});
