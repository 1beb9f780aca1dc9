/**
 * Event cursors are opaque text: `base64url("<database id>:<sequence>")`. The id is in it because a sequence of another
 * database (a restored backup, a new data directory) names other events, and a client must be told so.
 */
export function encodeCursor(databaseId: string, sequence: number): string {
  return Buffer.from(`${databaseId}:${sequence}`, 'utf8').toString('base64url');
}

/** The sequence that a cursor names, `foreign` for one of another database, `invalid` for what is no cursor. */
export function decodeCursor(databaseId: string, cursor: string): number | 'foreign' | 'invalid' {
  if (!/^[\w-]{4,200}$/.test(cursor)) return 'invalid';
  const match = /^([0-9A-Za-z]+):(\d{1,16})$/.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (!match) return 'invalid';
  const sequence = Number(match[2]);
  if (!Number.isSafeInteger(sequence)) return 'invalid';
  return match[1] === databaseId ? sequence : 'foreign';
}

const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** A new database id: 16 characters, 80 random bits from `random` (values in [0, 1)). */
export function makeDatabaseId(random: () => number): string {
  let text = '';
  for (let i = 0; i < 16; i++) text += alphabet[Math.floor(random() * 32)];
  return text;
}
