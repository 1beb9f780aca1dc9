import { StemmaError } from '../../base/errors.ts';

/** What kind of trouble it is, which says what can be done about it. */
export type Trouble =
  /** Somebody else was faster: the same can be tried again. */
  | 'conflict'
  /** A constraint, or a bug: trying again comes to the same. */
  | 'refused'
  | 'full'
  /** The connection went away, or none could be had. */
  | 'lost'
  /** The database cannot do it now: it starts or stops, is read-only, or took too long. */
  | 'unable';

/** Classes of SQLSTATE, or whole codes, as in appendix A of PostgreSQL's manual. */
const troubles: readonly (readonly [state: string, trouble: Trouble])[] = [
  ['40001', 'conflict'],
  ['40P01', 'conflict'],
  ['53100', 'full'],
  ['08', 'lost'],
  ['57P', 'lost'],
  ['25P03', 'lost'],
  ['28', 'unable'],
  ['3D', 'unable'],
  ['25006', 'unable'],
  ['53', 'unable'],
  ['55P03', 'unable'],
  ['57014', 'unable'],
  ['58', 'unable'],
  ['XX', 'unable'],
];

/** Errors of sockets and of looking names up, one of which may stand for several addresses. */
const lostCodes = /^(ECONN|ENET|EHOST|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_|ENOENT|ERR_SSL|EPROTO)/;

/** What kind of trouble an error of the driver is. `undefined`: it is none of the database's. */
export function troubleOf(error: unknown): Trouble | undefined {
  if (!(error instanceof Error) || error instanceof StemmaError) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && 'severity' in error) {
    return troubles.find(([state]) => code.startsWith(state))?.[1] ?? 'refused';
  }
  if (typeof code === 'string' && lostCodes.test(code)) return 'lost';
  // The driver's own sentences have no code.
  return /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Client has already been connected|Cannot use a pool after)/.test(
    error.message,
  )
    ? 'lost'
    : undefined;
}

/** Whether the database as a whole is in trouble, so that trying the same operations again at once cannot help. */
export function isEnvironmental(error: unknown): error is Error {
  const trouble = troubleOf(error);
  return trouble === 'full' || trouble === 'lost' || trouble === 'unable';
}

/** What callers of the store are told of it. `place` names the database, without its password. */
export function toStoreError(error: Error, place: string): StemmaError {
  if (troubleOf(error) === 'full') {
    const message = `The disk of the database ${place} is full: nothing of this request was stored; free some space and send it again.`;
    return new StemmaError('DISK_FULL', message, { path: place }, error);
  }
  const reason = reasonOf(error);
  const message = `The database ${place} cannot be used (${reason}); nothing of this request was stored. Send it again when the database is back.`;
  return new StemmaError('DATABASE_UNAVAILABLE', message, { database: place, reason }, error);
}

/** What somebody is told who starts a server on a database that cannot be opened. */
export function cannotOpen(error: Error, place: string): StemmaError {
  const reason = reasonOf(error);
  const message = `The database ${place} cannot be opened (${reason}). Start it, or correct "database" in the configuration or STEMMA_DATABASE.`;
  return new StemmaError('DATABASE_UNAVAILABLE', message, { database: place, reason }, error);
}

/** An error that stands for several has no sentence of its own. */
function reasonOf(error: Error): string {
  const { message, code } = error as { readonly message: string; readonly code?: string };
  return message || code || error.name;
}

/** What a caller is told whose commit was under way when the database went away. */
export function unknownOutcome(place: string, error: unknown): StemmaError {
  const message = `The database ${place} went away while this was stored; whether it was is found out when the database is back. Look before you send it again.`;
  return new StemmaError('DATABASE_UNAVAILABLE', message, { database: place, isUnknown: true }, error);
}
