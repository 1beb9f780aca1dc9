import { StemmaError } from '../../base/errors.ts';

/** What kind of failure it was, the same for every library. */
export type DatabaseErrorKind =
  | 'constraint'
  | 'full'
  | 'io'
  | 'busy'
  | 'readonly'
  | 'corrupt'
  | 'misuse'
  | 'other';

/** The one error of the driver. */
export class DatabaseError extends Error {
  readonly kind: DatabaseErrorKind;

  constructor(kind: DatabaseErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DatabaseError';
    this.kind = kind;
  }
}

/** Primary result codes, as in https://sqlite.org/rescode.html. */
const kinds: Readonly<Record<number, DatabaseErrorKind>> = {
  5: 'busy',
  6: 'busy',
  8: 'readonly',
  10: 'io',
  11: 'corrupt',
  13: 'full',
  14: 'io',
  19: 'constraint',
  20: 'constraint',
  21: 'misuse',
  26: 'corrupt',
};

/** Unifies what libsql (`rawCode`, or a bare text when opening) and node:sqlite (`errcode`) throw. */
export function toDatabaseError(thrown: unknown, sql?: string): DatabaseError {
  if (thrown instanceof DatabaseError) return thrown;
  const raw = thrown as { rawCode?: unknown; errcode?: unknown; message?: unknown };
  const message = typeof raw?.message === 'string' ? raw.message : String(thrown);
  const code = typeof raw?.rawCode === 'number' ? raw.rawCode : raw?.errcode;
  const kind = typeof code === 'number' ? kinds[code & 0xff] : kindOfOpening(message);
  return new DatabaseError(kind ?? 'other', sql === undefined ? message : `${message}: ${sql}`, thrown);
}

function kindOfOpening(message: string): DatabaseErrorKind | undefined {
  if (/ConnectionFailed|unable to open/i.test(message)) return 'io';
  return undefined;
}

/** Whether the store as a whole is in trouble, so that trying the same operations again cannot help. */
export function isEnvironmental(error: unknown): error is DatabaseError {
  if (!(error instanceof DatabaseError)) return false;
  return error.kind !== 'constraint' && error.kind !== 'misuse' && error.kind !== 'other';
}

/** What callers of the store are told about a failing environment. `file` is the database's path. */
export function toStoreError(error: DatabaseError, file: string): StemmaError {
  if (error.kind === 'full') {
    const advice = 'nothing of this request was stored; free some space and send it again';
    return new StemmaError('DISK_FULL', `The disk under ${file} is full: ${advice}.`, { path: file }, error);
  }
  const message = `The database ${file} cannot be used (${error.message}); nothing of this request was stored.`;
  return new StemmaError('DATA_DIR_UNUSABLE', message, { path: file, reason: error.kind }, error);
}
