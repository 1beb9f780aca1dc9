import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { systemClock } from '../base/clock.ts';
import type { Redaction } from '../base/redaction.ts';
import { openPostgresStore } from '../store/postgres/store.ts';
import { openSqliteStore } from '../store/sqlite/store.ts';
import type { WholeStore } from '../store/whole-store.ts';

/** Which database, and who hears of it. */
export interface StoreChoice {
  /** `postgres://…`; undefined: a file of the data directory. */
  readonly url: string | undefined;
  readonly file: string;
  readonly log: Logger;
  readonly redaction: Redaction;
}

/** Opens the ledger of a server. The password of a URL is told nowhere from then on. */
export async function openStore({ url, file, log, redaction }: StoreChoice): Promise<WholeStore> {
  const shared = { clock: systemClock, random };
  if (url === undefined) return openSqliteStore({ file, ...shared });
  const { password } = new URL(url);
  if (password !== '') {
    redaction.add('database', decodeURIComponent(password));
    redaction.add('database', password);
    redaction.add('database', url);
  }
  return openPostgresStore({ url, ...shared, isSole: true, report: (what, data) => log.warn(data, what) });
}

function random(): number {
  return randomBytes(4).readUInt32BE() / 2 ** 32;
}
