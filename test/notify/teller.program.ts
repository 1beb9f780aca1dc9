import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { armFaultSwitch } from '../../src/main/fault-switch.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { createTarget } from '../../src/notify/targets.ts';
import type { NotificationWake } from '../../src/runs/wake-handler.ts';
import { openSqliteStore } from '../../src/store/sqlite/store.ts';
import { localWakeups } from '../../src/wakeups/local.ts';
import { owing, sendingParts } from './outbox.ts';

/**
 * A program that tells one target one thing from a database on disk: `teller.program.ts DIRECTORY URL`. It says `done` when nothing is
 * owed any more, and lives until its stdin ends. `STEMMA_FAULT` kills it as the server.
 */
const [directory = '', url = ''] = process.argv.slice(2);
armFaultSwitch(process.env['STEMMA_FAULT']);
const file = join(directory, 'stemma.db');
const store = await openSqliteStore({ file, clock: systemClock, random: Math.random });
const target = createTarget({ webhook: url }, sendingParts(systemClock));
const notifier = new Notifier({
  store,
  clock: systemClock,
  random: Math.random,
  targets: new Map([['ops', target]]),
  always: ['ops'],
  redact: (text) => text,
});
const wakeups = localWakeups({ store, clock: systemClock });
await store.decide(owing(systemClock.now(), { subject: 'one', text: 'why' }));
await wakeups.start(async (wake) => {
  await notifier.handle(wake as NotificationWake);
  if (wake.kind === 'dispatch') process.stdout.write('done\n');
});
if ((await store.nextWake(-1)) === undefined) process.stdout.write('done\n');
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
