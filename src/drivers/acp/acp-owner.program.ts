/*
 * For tests: a server in small, made to be killed. It opens a conversation, sends one prompt, and writes every event and
 * outcome as a JSON line. Argument: {profile, root, directory, delivery?}.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../base/clock.ts';
import { Ids } from '../../base/ids.ts';
import type { AgentProfile, Delivery } from '../port.ts';
import { acpDriver } from './driver.ts';

const { profile, root, directory, delivery } = JSON.parse(process.argv[2] ?? '') as {
  profile: AgentProfile;
  root: string;
  directory: string;
  delivery?: Delivery;
};
// Written at once: what a killed process had in a buffer would look like something that it never saw.
const tell = (line: unknown): void => void writeSync(1, `${JSON.stringify(line)}\n`);

// Nothing that the driver holds keeps a process alive.
setInterval(() => undefined, 60_000);

const opened = await acpDriver({ clock: systemClock }).open({
  sessionId: new Ids(systemClock.now, () => 0).make('session'),
  profile,
  cwd: root,
  directory,
  position: 0,
  unresolved: [],
  emit: (event) => tell({ event }),
});
if (!opened.ok) throw new Error(opened.message);
tell({ nativeId: opened.conversation.nativeId });
if (delivery) tell({ outcome: await opened.conversation.start(delivery) });
