import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Notification } from '../../src/contract/notification.ts';
import type { Run } from '../../src/contract/run.ts';
import { Receiver } from '../notify/receiver.ts';
import { Bench } from './bench.ts';
import type { Scene } from './scene.ts';
import { waitFor } from './wait-for.ts';
import { worker } from './worker.ts';

/* What a schedule still owes when its server is killed: the news to people, and the next attempt. */

const never = { cron: '0 0 1 1 *' };
/** Fails until the scene's directory has the file `good`. */
const untilGood = '[ -e good ] || { echo broken; exit 1; }; echo well';

let bench: Bench;
let scene: Scene;
let receiver: Receiver;

beforeEach(async () => {
  receiver = await Receiver.listen();
  bench = Bench.prepare({ worker });
  const config = JSON.parse(readFileSync(bench.configFile, 'utf8')) as object;
  writeFileSync(bench.configFile, JSON.stringify({ ...config, notify: { ops: { webhook: receiver.url } } }));
  scene = bench.scene(true);
});
afterEach(async () => {
  await bench.close();
  await receiver.close();
}, 60_000);

test('a target hears once that a schedule failed, recovered and was missed, though servers are killed in between', {
  timeout: 180_000,
}, async () => {
  // This server dies when the target has heard of the failure and nobody has written that down.
  await bench.start({ STEMMA_FAULT: 'notify.sent:1' });
  await put('nightly', { ...never, messages: [untilGood] });
  await bench.client.call('triggerSchedule', { id: 'nightly', body: {} });
  await bench.server.process.ended;
  expect(heard()).toEqual(['failed nightly']);
  await bench.kill();

  await bench.start();
  await told('failed');
  // The same event under the same id: whoever heard of it knows it again.
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  await bench.kill();
  scene.open('good');
  await bench.start();
  await runOnce();
  await told('recovered');

  const place = join(scene.directory, 'place');
  mkdirSync(place);
  const at = new Date(Date.now() + 2_000).toISOString();
  await put('gone', { at, cwd: place, messages: ['echo never'] });
  await bench.kill();
  rmSync(place, { recursive: true });
  await waitFor('its instant has passed', () => Date.now() > Date.parse(at));
  await bench.start();
  await told('missed');
  await bench.kill();
  await bench.start();
  await runOnce();
  expect(heard()).toEqual(['failed nightly', 'recovered nightly', 'missed gone']);
  const { items } = await bench.client.call('listNotifications', {});
  expect(items.map(({ transition }) => transition).sort()).toEqual(['failed', 'missed', 'recovered']);
});

test('a message that backs off is tried again once, though its server is killed meanwhile, twice', {
  timeout: 180_000,
}, async () => {
  await bench.start();
  const build = { text: 'Build it.', check: '[ -e good ]', retry: { max: 3, backoff: '1s' } };
  await put('nightly', { ...never, agent: 'worker', messages: [build, 'Publish it.'] });
  const { runId } = await bench.client.call('triggerSchedule', { id: 'nightly', body: {} });
  const backsOff = (attempts: number): Promise<Run> =>
    scene.runThat(`it backs off after attempt ${attempts}`, runId, (run) => {
      return triesOf(run) === attempts && run.waiting?.for === 'retry';
    });
  // Once the next server starts behind the end of the back-off, and once most likely before it.
  const first = await backsOff(1);
  await bench.kill();
  await waitFor('its time has come', () => Date.now() > Date.parse(first.waiting?.until ?? ''));
  await bench.start();
  await backsOff(2);
  await bench.kill();
  scene.open('good');
  await bench.start();
  const run = await scene.ended(runId);
  expect(run).toMatchObject({ outcome: 'succeeded' });
  expect(run.messages.map(({ attempts }) => attempts.map(({ attempt }) => attempt))).toEqual([
    [1, 2, 3],
    [1],
  ]);
  const told = await scene.prompts(run.sessionId ?? '');
  expect(told).toEqual(['Build it.', 'Build it.', 'Build it.', 'Publish it.']);
  const { items } = await bench.client.call('listOccurrences', { id: 'nightly' });
  expect(items).toMatchObject([{ state: 'ran', runId }]);
});

async function put(name: string, said: Readonly<Record<string, unknown>>): Promise<void> {
  const body = { agent: 'shell', cwd: scene.directory, workspace: 'shared', notify: ['ops'], ...said };
  await bench.client.call('putSchedule', { id: name, body: body as never });
}

async function runOnce(): Promise<void> {
  const { runId } = await bench.client.call('triggerSchedule', { id: 'nightly', body: {} });
  await scene.ended(runId);
}

/** Waits until everything is told, and the last of it is this. */
function told(transition: string): Promise<Notification> {
  return scene.until(`${transition} is told`, async () => {
    const { items } = await bench.client.call('listNotifications', {});
    const areSent = items.every(({ dispatches }) => dispatches.every(({ state }) => state === 'sent'));
    return areSent && items.find((item) => item.transition === transition);
  });
}

/** What the target has heard, each event once, in the order of its first coming. */
function heard(): string[] {
  const all = receiver.events.flatMap((event) => event.data.events ?? [event]);
  const names = new Map(
    all.map(({ id, data }) => [id, `${String(data['transition'])} ${String(data['name'])}`]),
  );
  return [...names.values()];
}

function triesOf(run: Run): number {
  return run.messages[0]?.attempts.length ?? 0;
}
