import type { CrontabEntry } from './read.ts';

/** An agent that is a shell: it reads a message as a script. */
export interface ShellProfile {
  readonly name: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Settings that mean something to cron and not to the command, or are said elsewhere. */
const notForCommands = new Set([
  'SHELL',
  'HOME',
  'CRON_TZ',
  'MAILTO',
  'MAILFROM',
  'CONTENT_TYPE',
  'CONTENT_TRANSFER_ENCODING',
  'RANDOM_DELAY',
  'LOGNAME',
]);

/** Which profile each entry needs: one for each shell with its variables, named `cron`, `cron-2`, … */
export function profilesFor(entries: readonly CrontabEntry[]): ReadonlyMap<CrontabEntry, ShellProfile> {
  const byContent = new Map<string, ShellProfile>();
  const profiles = new Map<CrontabEntry, ShellProfile>();
  for (const entry of entries) {
    const shell = entry.settings['SHELL'] || '/bin/sh';
    const env = Object.fromEntries(
      Object.entries(entry.settings).filter(([name]) => !notForCommands.has(name)),
    );
    const content = JSON.stringify([shell, env]);
    const count = byContent.size + 1;
    const profile = byContent.get(content) ?? { name: count === 1 ? 'cron' : `cron-${count}`, shell, env };
    byContent.set(content, profile);
    profiles.set(entry, profile);
  }
  return profiles;
}
