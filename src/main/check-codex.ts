import { randomBytes } from 'node:crypto';
import { readdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { findAppServer, openAppServer, socketPathIn } from '../drivers/codex/app-server.ts';
import { serverPlaceOf } from '../drivers/codex/environment.ts';
import { shakeHands } from '../drivers/codex/handshake.ts';
import { readThreadRecord } from '../drivers/codex/thread-record.ts';
import type { AgentProfile } from '../drivers/port.ts';
import { endGroup } from '../processes/group.ts';

const deleteMs = 10_000;
const graceMs = 2_000;

/**
 * Keeps a check of Codex apart from sessions that use the same home: the profile gets an app-server of its own, since
 * cases kill theirs. `cleanUp` makes Codex forget the conversations of the cases, whose records are in `directory`, and
 * ends and removes that server. The home itself, with its sign-in, is the profile's: a copy of a sign-in goes stale.
 */
export function separateCodex(
  profile: AgentProfile,
  directory: string,
): { readonly profile: AgentProfile; readonly cleanUp: () => Promise<void> } {
  const mark = randomBytes(8).toString('hex');
  const own = { ...profile, env: { ...profile.env, STEMMA_CHECK: mark } };
  return { profile: own, cleanUp: () => cleanUp(own, directory) };
}

async function cleanUp(profile: AgentProfile, directory: string): Promise<void> {
  const place = serverPlaceOf(profile);
  const threadIds = await threadsIn(directory);
  const clock = systemClock;
  const handlers = {
    onNotification: () => undefined,
    onRequest: () => undefined,
    onNoise: () => undefined,
    onClose: () => undefined,
  };
  // Without a conversation to forget, a server is only looked for, to be ended.
  const opened =
    threadIds.length > 0
      ? await openAppServer(place, clock, handlers)
      : await findAppServer(place.directory, clock, handlers);
  if (opened?.ok) {
    const { client, leader } = opened.server;
    if ((await shakeHands(client)).ok)
      for (const threadId of threadIds) await client.request('thread/delete', { threadId }, deleteMs);
    client.close();
    if (leader) await endGroup(leader, { graceMs, clock });
  }
  await rm(socketPathIn(place.directory), { force: true });
  await rm(place.directory, { recursive: true, force: true });
  // Shared with the servers of other profiles, whose directories stay.
  await rmdir(dirname(place.directory)).catch(() => undefined);
}

/** A case may have several conversations, each with a directory of its own below that of the case. */
async function threadsIn(directory: string): Promise<string[]> {
  const below = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  const directories = below.filter((entry) => entry.isDirectory());
  return directories.flatMap(
    ({ parentPath, name }) => readThreadRecord(join(parentPath, name))?.threadId ?? [],
  );
}
