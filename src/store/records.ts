import type { ExecutionId, SessionId, TurnId } from '../base/ids.ts';

/**
 * What the edges keep beside the ledger, in the same database and by the same commits. Every write is durable when its
 * promise resolves.
 */
export interface Records {
  /**
   * Keeps the place of a request before it is carried out, so that a repetition finds it whatever happens in between.
   * Answers what is kept: this one, or the one that was there before.
   */
  reserve(request: Reservation): Promise<IdempotentRequest & { readonly isNew: boolean }>;
  /** Keeps the answer of a reserved request, to be replayed. Does nothing when there is no such place. */
  keepAnswer(place: RequestPlace, answer: string): Promise<void>;
  /** Keeps a named token. Rejects with a plain Error when a token of this name is valid already. */
  putToken(token: NamedToken): Promise<void>;
  tokenByHash(hash: string): Promise<NamedToken | undefined>;
  /** Every token, revoked ones included, by name. */
  tokens(): Promise<NamedToken[]>;
  /** Revokes the valid token of this name; false when there is none. */
  revokeToken(name: string, at: number): Promise<boolean>;
  /** Adds what was said. An item whose place is taken is left out, so that a replay of the agent's stream is harmless. */
  appendTranscript(items: readonly TranscriptItem[]): Promise<void>;
  /** Items after `sequence`, in order, at most `limit`. */
  transcript(sessionId: SessionId, sequence: number, limit: number): Promise<TranscriptItem[]>;
  /** The last `limit` items before `sequence`, in order. */
  transcriptBefore(sessionId: SessionId, sequence: number, limit: number): Promise<TranscriptItem[]>;
  readMeta(key: string): Promise<string | undefined>;
  writeMeta(key: string, value: string): Promise<void>;
}

/** An idempotency key is scoped to token and route. */
export interface RequestPlace {
  readonly token: string;
  readonly route: string;
  readonly key: string;
}

export interface Reservation extends RequestPlace {
  /** Of the whole body: the same key with another body is another request. */
  readonly bodyHash: string;
  /** The root it will make, or made: the place is kept as long as that root. */
  readonly rootId: ExecutionId | null;
  readonly at: number;
}

export interface IdempotentRequest extends Reservation {
  /** The answer to replay, or null while it is being carried out. */
  readonly answer: string | null;
}

/** A token with a name and a scope. Only its hash is stored. */
export interface NamedToken {
  readonly hash: string;
  readonly name: string;
  readonly scope: 'read' | 'operate' | 'admin';
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** Something said or done in a session. `sequence` is unique and ascending in the session. */
export interface TranscriptItem {
  readonly sessionId: SessionId;
  readonly sequence: number;
  readonly turnId: TurnId | null;
  readonly kind: string;
  readonly text: string;
  readonly at: number;
}
