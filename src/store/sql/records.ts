import type { ExecutionId, SessionId, TurnId } from '../../base/ids.ts';
import type { IdempotentRequest, NamedToken, Records, TranscriptItem } from '../records.ts';
import type { Connection } from './connection.ts';
import type { Cell } from './connection.ts';
import type { Reading } from './views.ts';

/** Runs a write within the next commit. */
export type Writing = <T>(write: () => T) => Promise<T>;

/** The records of the edges on either database. */
export function sqlRecords(db: Connection, read: Reading, write: Writing): Records {
  return {
    ...requests(db, write),
    ...tokens(db, read, write),
    ...transcripts(db, read, write),
    ...meta(db, read, write),
  };
}

function requests(db: Connection, write: Writing): Pick<Records, 'reserve' | 'keepAnswer'> {
  const insert = db.prepare(`
    INSERT INTO idempotency (token, route, key, body_hash, root_id, at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const find = db.prepare(
    'SELECT body_hash, answer, root_id, at FROM idempotency WHERE token = ? AND route = ? AND key = ?',
  );
  const answer = db.prepare('UPDATE idempotency SET answer = ? WHERE token = ? AND route = ? AND key = ?');
  return {
    reserve: (request) =>
      write(() => {
        const { token, route, key, bodyHash, rootId, at } = request;
        const isNew = insert.run([token, route, key, bodyHash, rootId, at]).changes === 1;
        const cells = find.row([token, route, key]) as Cell[];
        return { ...keptRequest(request, cells), isNew };
      }),
    keepAnswer: ({ token, route, key }, text) => write(() => void answer.run([text, token, route, key])),
  };
}

function keptRequest(
  place: Pick<IdempotentRequest, 'token' | 'route' | 'key'>,
  [bodyHash, answer, rootId, at]: Cell[],
): IdempotentRequest {
  return {
    token: place.token,
    route: place.route,
    key: place.key,
    bodyHash: String(bodyHash),
    answer: (answer ?? null) as string | null,
    rootId: (rootId ?? null) as ExecutionId | null,
    at: Number(at),
  };
}

function tokens(
  db: Connection,
  read: Reading,
  write: Writing,
): Pick<Records, 'putToken' | 'tokenByHash' | 'tokens' | 'revokeToken'> {
  const columns = 'hash, name, scope, created_at, revoked_at';
  const insert = db.prepare(`INSERT INTO tokens (${columns}) VALUES (?, ?, ?, ?, ?)`);
  const find = db.prepare(`SELECT ${columns} FROM tokens WHERE hash = ?`);
  const all = db.prepare(`SELECT ${columns} FROM tokens ORDER BY name, created_at`);
  const revoke = db.prepare('UPDATE tokens SET revoked_at = ? WHERE name = ? AND revoked_at IS NULL');
  return {
    putToken: ({ hash, name, scope, createdAt, revokedAt }) =>
      write(() => void insert.run([hash, name, scope, createdAt, revokedAt])),
    tokenByHash: (hash) =>
      read(() => {
        const cells = find.row([hash]);
        return cells && tokenOf(cells);
      }),
    tokens: () => read(() => all.rows([]).map(tokenOf)),
    revokeToken: (name, at) => write(() => revoke.run([at, name]).changes === 1),
  };
}

function tokenOf([hash, name, scope, createdAt, revokedAt]: Cell[]): NamedToken {
  return {
    hash: String(hash),
    name: String(name),
    scope: scope as NamedToken['scope'],
    createdAt: Number(createdAt),
    revokedAt: revokedAt === null ? null : Number(revokedAt),
  };
}

function transcripts(
  db: Connection,
  read: Reading,
  write: Writing,
): Pick<Records, 'appendTranscript' | 'transcript' | 'transcriptBefore'> {
  const columns = 'session_id, sequence, turn_id, kind, text, at';
  const insert = db.prepare(`
    INSERT INTO transcript (${columns}) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (session_id, sequence) DO NOTHING`);
  const after = db.prepare(`
    SELECT ${columns} FROM transcript WHERE session_id = ? AND sequence > ? ORDER BY sequence LIMIT ?`);
  const before = db.prepare(`
    SELECT ${columns} FROM transcript WHERE session_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?`);
  return {
    appendTranscript: (items) =>
      write(() => {
        for (const { sessionId, sequence, turnId, kind, text, at } of items) {
          insert.run([sessionId, sequence, turnId, kind, text, at]);
        }
      }),
    transcript: (sessionId, sequence, limit) =>
      read(() => after.rows([sessionId, sequence, limit]).map(itemOf)),
    transcriptBefore: (sessionId, sequence, limit) =>
      read(() => before.rows([sessionId, sequence, limit]).map(itemOf).reverse()),
  };
}

function itemOf([sessionId, sequence, turnId, kind, text, at]: Cell[]): TranscriptItem {
  return {
    sessionId: sessionId as SessionId,
    sequence: Number(sequence),
    turnId: (turnId ?? null) as TurnId | null,
    kind: String(kind),
    text: String(text),
    at: Number(at),
  };
}

function meta(db: Connection, read: Reading, write: Writing): Pick<Records, 'readMeta' | 'writeMeta'> {
  const find = db.prepare('SELECT value FROM meta WHERE key = ?');
  const put = db.prepare(`
    INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`);
  return {
    readMeta: (key) => read(() => find.row([key])?.[0] as string | undefined),
    writeMeta: (key, value) => write(() => void put.run([key, value])),
  };
}
