import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbox } from '../../test/notify/outbox.ts';
import { Receiver } from '../../test/notify/receiver.ts';
import type { TargetSettings } from './settings.ts';

const hour = 3_600_000;

describe('the outbox', () => {
  let ops: Receiver;
  let team: Receiver;
  let outbox: Outbox;
  const open: Outbox[] = [];

  const begin = async (
    targets: Readonly<Record<string, TargetSettings>> = {
      ops: { webhook: ops.url },
      team: { webhook: team.url },
    },
    always: readonly string[] = ['ops', 'team'],
    from?: Outbox,
  ): Promise<Outbox> => {
    const made = new Outbox(targets, always, from ? { from: from.store.snapshot() } : {});
    if (from) made.clock.advance(from.clock.now() - made.clock.now());
    open.push(made);
    await made.start();
    return made;
  };
  /** Lets the window of a group pass. */
  const sent = (receiver: Receiver, count: number): Promise<void> =>
    outbox.pass(() => receiver.received.length >= count, 500, 10_000);

  beforeEach(async () => {
    [ops, team] = [await Receiver.listen(), await Receiver.listen()];
    outbox = await begin();
  });
  afterEach(async () => {
    await Promise.all([ops.close(), team.close()]);
    for (const each of open.splice(0)) await each.stop();
  });

  it('tells each target once, and nothing is left to do', async () => {
    await outbox.owe({ subject: 'occ_1', name: 'nightly', text: 'window: 13 h late' });
    await outbox.owe({ subject: 'occ_1', name: 'nightly', text: 'window: 13 h late' });
    await Promise.all([sent(ops, 1), sent(team, 1)]);
    await outbox.rest();
    outbox.clock.advance(48 * hour);
    await outbox.rest();
    expect([ops.received.length, team.received.length]).toEqual([1, 1]);
    expect(ops.events[0]).toMatchObject({
      id: 'missed:occ_1',
      type: 'stemma.missed',
      data: { title: 'nightly missed its time', text: 'window: 13 h late' },
    });
    expect(outbox.statesOf('ops')).toEqual(['sent']);
    expect(outbox.store.snapshot().wakeups).toEqual([]);
  });

  it('tells those that a schedule names and nobody else; of one that names nobody, nobody', async () => {
    await outbox.owe({ subject: 'a', to: ['ops'] });
    await outbox.owe({ subject: 'b', to: [] });
    await sent(ops, 1);
    await outbox.rest();
    outbox.clock.advance(hour);
    await outbox.rest();
    expect([ops.received.length, team.received.length]).toEqual([1, 0]);
  });

  it('sends 500 at once as one message, each of them in it once', async () => {
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => outbox.owe({ subject: `s${i}`, transition: 'failed' })),
    );
    await Promise.all([sent(ops, 1), sent(team, 1)]);
    await outbox.rest();
    expect([ops.received.length, team.received.length]).toEqual([1, 1]);
    const [event] = ops.events;
    expect(event).toMatchObject({ type: 'stemma.group', data: { count: 500, title: '500 failed' } });
    expect(new Set(event?.data.events?.map(({ id }) => id)).size).toBe(500);
    expect(outbox.statesOf('ops')).toEqual(Array.from({ length: 500 }, () => 'sent'));
  });

  it('goes on trying a target that is down for hours: the same message, then one with all the rest', async () => {
    ops.reply = 503;
    await outbox.owe({ subject: 'first' });
    await sent(team, 1);
    for (let i = 0; i < 5; i++) {
      await outbox.owe({ subject: `later${i}` });
      const before = team.received.length;
      await outbox.pass(() => team.received.length > before, hour / 4, 2 * hour);
    }
    await outbox.pass(
      () => outbox.clock.now() > outbox.store.snapshot().notifications[0]!.at + 5 * hour,
      hour / 4,
      6 * hour,
    );
    const tries = ops.received.length;
    expect(tries).toBeGreaterThan(5);
    expect(new Set(ops.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set(['missed:first']),
    );
    expect(new Set(ops.received.map(({ body }) => body)).size).toBe(1);
    ops.reply = 200;
    await outbox.pass(() => ops.received.length >= tries + 2, hour / 4, 3 * hour);
    await outbox.rest();
    const [again, rest] = ops.events.slice(tries);
    expect(again?.id).toBe('missed:first');
    expect(rest?.data.events?.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map((i) => `missed:later${i}`));
    expect(outbox.statesOf('ops')).toEqual(Array.from({ length: 6 }, () => 'sent'));
    // The other target never waited.
    expect(team.received.length).toBe(6);
  });

  it('gives a target up after a day, visibly, with all that has waited as long; what is newer is tried', async () => {
    ops.reply = 500;
    await outbox.owe({ subject: 'old' });
    await outbox.pass(() => ops.received.length > 0, 500, 10_000);
    await outbox.owe({ subject: 'old2' });
    await outbox.pass(() => ops.received.length > 20, hour / 2, 23 * hour);
    await outbox.owe({ subject: 'young' });
    await outbox.pass(() => outbox.alarms.length > 0, hour / 2, 10 * hour);
    const states = outbox.store.snapshot().dispatches.filter(({ target }) => target === 'ops');
    const stateOf = (subject: string) => states.find(({ id }) => id === `ops:missed:${subject}`);
    expect(outbox.alarms[0]?.data).toMatchObject({ what: 'notificationGivenUp', target: 'ops', count: 2 });
    expect(stateOf('old')).toMatchObject({ state: 'givenUp', error: { code: 'UNREACHABLE' } });
    expect(stateOf('old')?.error?.message).toMatch(/^127\.0\.0\.1:\d+ answered 500$/);
    expect(stateOf('old2')?.state).toBe('givenUp');
    ops.reply = 200;
    const before = ops.received.length;
    await outbox.pass(
      () => ops.events.slice(before).some(({ id }) => id === 'missed:young'),
      hour / 4,
      4 * hour,
    );
  });

  it('does not give up what it could not try since the machine slept', async () => {
    ops.reply = 500;
    await outbox.owe({ subject: 'old' });
    await outbox.rest();
    outbox.clock.stall(48 * hour);
    await outbox.pass(() => ops.received.length >= 2, 500, hour);
    expect(outbox.alarms).toEqual([]);
    ops.reply = 200;
    await outbox.pass(() => outbox.statesOf('ops')[0] === 'sent', 30_000, hour);
  });

  it('tries ever more seldom, at most every hour, and for as long as it is asked to wait', async () => {
    ops.reply = 503;
    await outbox.owe({ subject: 'a' });
    const delayOf = async (attempt: number): Promise<number> => {
      const lead = () => outbox.store.snapshot().dispatches.find(({ target }) => target === 'ops');
      await outbox.pass(() => lead()?.attempt === attempt, 500, 2 * hour);
      return Math.round(((lead()?.notBefore ?? 0) - outbox.clock.now()) / 1000);
    };
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 3; attempt++) delays.push(await delayOf(attempt));
    ops.reply = { status: 429, headers: { 'retry-after': '1800' } };
    delays.push(await delayOf(4));
    ops.reply = { status: 429, headers: { 'retry-after': '999999' } };
    delays.push(await delayOf(5));
    expect(delays).toEqual([30, 60, 120, 1_800, 3_600]);
  });

  it('lets no message that is refused hold the next ones', async () => {
    ops.reply = { status: 400, body: 'I do not like\u001b[31m this' };
    await outbox.owe({ subject: 'bad' });
    await outbox.pass(() => ops.received.length === 1, 500, 10_000);
    await outbox.rest();
    ops.reply = 200;
    await outbox.owe({ subject: 'good' });
    await outbox.pass(() => ops.events.some(({ id }) => id === 'missed:good'), 500, 10_000);
    await outbox.rest();
    const bad = outbox.store.snapshot().dispatches.find(({ id }) => id === 'ops:missed:bad');
    expect(bad).toMatchObject({ state: 'sending', attempt: 1, error: { code: 'REFUSED' } });
    expect(bad?.error?.message).toMatch(/answered 400: I do not like this$/);
    await outbox.pass(() => outbox.statesOf('ops').every((state) => state === 'sent'), 10_000, hour);
  });

  it('gives up at once what names a target that does not exist, and tells the others', async () => {
    await outbox.owe({ subject: 'a', to: ['gone', 'ops'] });
    await sent(ops, 1);
    expect(outbox.statesOf('gone')).toEqual(['givenUp']);
    expect(outbox.alarms[0]?.data).toMatchObject({
      what: 'notificationGivenUp',
      target: 'gone',
      code: 'NO_TARGET',
    });
  });

  it('tells what is owed to a target that was taken out of the configuration as given up', async () => {
    ops.reply = 503;
    await outbox.owe({ subject: 'a' });
    await outbox.pass(() => ops.received.length === 1, 500, 10_000);
    await outbox.stop();
    outbox = await begin({ team: { webhook: team.url } }, ['team'], outbox);
    await outbox.pass(() => outbox.alarms.length > 0, 10_000, hour);
    expect(outbox.statesOf('ops')).toEqual(['givenUp']);
  });

  it('is left as it is when the server stops in the middle, and the next one sends the same again', async () => {
    ops.reply = 'silence';
    await outbox.owe({ subject: 'a' });
    await outbox.until(() => outbox.statesOf('ops').length === 1);
    outbox.clock.advance(2_000);
    await outbox.until(() => ops.received.length === 1);
    await outbox.stop();
    ops.reply = 200;
    outbox = await begin(undefined, undefined, outbox);
    await outbox.until(() => ops.received.length === 2);
    await outbox.rest();
    const [one, two] = ops.received;
    expect(two?.body).toBe(one?.body);
    expect(two?.headers['webhook-id']).toBe(one?.headers['webhook-id']);
    expect(outbox.statesOf('ops')).toEqual(['sent']);
    expect(outbox.store.snapshot().dispatches.every(({ attempt }) => attempt === 0)).toBe(true);
  });

  it('waits for a target that hangs no longer than its time limit, and no other target waits for it', async () => {
    await outbox.stop();
    outbox = await begin({ ops: { webhook: ops.url, timeout: 5_000 }, team: { webhook: team.url } });
    ops.reply = 'silence';
    await outbox.owe({ subject: 'a' });
    await outbox.until(() => outbox.statesOf('ops').length === 1);
    outbox.clock.advance(2_000);
    await outbox.until(() => ops.received.length === 1 && team.received.length === 1);
    await outbox.until(() => outbox.statesOf('team')[0] === 'sent');
    outbox.clock.advance(5_000);
    await outbox.rest();
    const row = outbox.store.snapshot().dispatches.find(({ target }) => target === 'ops');
    expect(row?.error?.message).toMatch(/did not answer within 5 s$/);
  });

  it('keeps secrets out of what it says', async () => {
    await outbox.stop();
    const made = new Outbox({ ops: { webhook: 'env:HOOK', secret: 'env:SECRET' } }, ['ops'], {
      env: { HOOK: `${ops.url}/very-secret-path`, SECRET: 'whsec_dGhlIHNlY3JldA==' },
    });
    outbox = made;
    open.push(made);
    await made.start();
    ops.reply = { status: 500, body: 'no: very-secret-path whsec_dGhlIHNlY3JldA==' };
    await outbox.owe({ subject: 'a' });
    await outbox.pass(() => ops.received.length === 1, 500, 10_000);
    await outbox.rest();
    const kept = JSON.stringify(outbox.store.snapshot());
    expect(kept).not.toContain('whsec_dGhl');
    expect(kept).toContain('[secret ops.secret]');
  });
});
