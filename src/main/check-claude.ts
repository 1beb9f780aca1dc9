import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { configDirectoryOf, environmentOf } from '../drivers/claude/command-line.ts';
import { findRecord } from '../drivers/claude/record.ts';
import { SentLog } from '../drivers/claude/sent-log.ts';
import type { AgentProfile } from '../drivers/port.ts';

/**
 * Makes Claude Code forget the conversations of a check's cases, whose directories are in `directory`: their records, and
 * the projects that hold nothing else. The sign-in and everything else in its configuration directory stays.
 */
export async function forgetConversations(profile: AgentProfile, directory: string): Promise<void> {
  const home = configDirectoryOf(environmentOf(profile));
  for (const name of await readdir(directory).catch(() => [])) {
    const { lastId } = new SentLog(join(directory, name));
    const record = lastId === undefined ? undefined : findRecord(home, lastId);
    if (record === undefined || lastId === undefined) continue;
    // The project is named after the case's own directory, so nobody else's conversations are in it.
    await rm(dirname(record), { recursive: true, force: true });
  }
}
