import { readdir, stat, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { SettingsFacts } from '../api/ports.ts';
import type { Settings } from '../contract/settings.ts';
import { defaultLowBytes } from './disk-watch.ts';
import type { NotifySettings } from './notifications.ts';

/** What the settings are told of. */
export interface SettingsParts {
  readonly version: string;
  readonly dataDir: string;
  readonly publicUrl: string | undefined;
  readonly notify: NotifySettings;
  readonly lowBytes: number | undefined;
}

/** How many files are counted of one part: who has more reads that there is more. */
const mostFiles = 20_000;
const ways = ['webhook', 'command', 'mail', 'ntfy', 'slack'] as const;

type Part = Settings['storage']['parts'][number];

/** How the server is set up, and what it keeps. Counting is shared by those who ask at once. */
export function settingsFacts(parts: SettingsParts): SettingsFacts {
  let running: Promise<Settings> | undefined;
  return {
    read() {
      running ??= readSettings(parts).finally(() => (running = undefined));
      return running;
    },
  };
}

async function readSettings({
  version,
  dataDir,
  publicUrl,
  notify,
  lowBytes,
}: SettingsParts): Promise<Settings> {
  const free = await statfs(dataDir).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => undefined,
  );
  const targets = Object.entries(notify.targets).map(([name, target]) => ({
    name,
    kind: ways.find((way) => way in target) ?? 'webhook',
    always: notify.always.includes(name),
  }));
  return {
    version,
    dataDir,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    targets,
    storage: {
      parts: await partsOf(dataDir),
      ...(free === undefined ? {} : { freeBytes: free }),
      lowBytes: lowBytes ?? defaultLowBytes,
    },
  };
}

async function partsOf(dataDir: string): Promise<Part[]> {
  const names = await readdir(dataDir).catch(() => []);
  const files = async (what: RegExp): Promise<number> => {
    const sizes = await Promise.all(
      names.filter((name) => what.test(name)).map((name) => bytesOf(join(dataDir, name))),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  };
  return [
    {
      name: 'database',
      what: 'executions, messages, results and transcripts: all of them are kept',
      bytes: await files(/^stemma\.db/),
    },
    {
      name: 'runs',
      what: 'the records of workflows: prompts, answers and outputs of every attempt; all of them are kept',
      ...(await counted(join(dataDir, 'runs'))),
    },
    {
      name: 'sessions',
      what: 'what agents write while they run; given back to the disk once it is processed, but for the last 8 MiB of each',
      ...(await counted(join(dataDir, 'sessions'))),
    },
    { name: 'log', what: 'what the server says of itself', bytes: await files(/^stemma\.log/) },
  ];
}

async function counted(directory: string): Promise<Pick<Part, 'bytes' | 'isAtLeast'>> {
  const waiting = [directory];
  let bytes = 0;
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await readdir(next, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else if (entry.isFile()) bytes += await bytesOf(path);
      if (++seen >= mostFiles) return { bytes, isAtLeast: true };
    }
  }
  return { bytes };
}

/** What a file takes on the disk: one with holes takes less than its length. 0 when it is gone. */
async function bytesOf(path: string): Promise<number> {
  return stat(path).then(
    ({ blocks }) => blocks * 512,
    () => 0,
  );
}
