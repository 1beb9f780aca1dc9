import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ExecutionId, SessionId } from './ids.ts';
import { isId } from './ids.ts';

/** Whom a signed token names. */
export type TokenSubject =
  | { readonly kind: 'session'; readonly sessionId: SessionId }
  | { readonly kind: 'execution'; readonly executionId: ExecutionId };

/**
 * Signs the two tokens that name one thing: the session token, the bearer of an agent's tools, and the execution token of
 * processes that are started for one execution only. Nothing is stored: the signature is the proof.
 */
export class TokenSigner {
  readonly #secret: Buffer;

  /** `secret`: at least 32 bytes that only this server knows. */
  constructor(secret: Buffer) {
    if (secret.length < 32) throw new Error('a signing secret has at least 32 bytes');
    this.#secret = secret;
  }

  /** The token of this subject: the same each time. It is good as long as the secret is. */
  sign(subject: TokenSubject): string {
    const id = subject.kind === 'session' ? subject.sessionId : subject.executionId;
    return `${prefixOf(subject.kind)}${id}.${this.#signature(id)}`;
  }

  /** Undefined for anything that this server did not sign. */
  verify(token: string): TokenSubject | undefined {
    for (const kind of ['session', 'execution'] as const) {
      const prefix = prefixOf(kind);
      if (!token.startsWith(prefix)) continue;
      const [id = '', signature = ''] = token.slice(prefix.length).split('.', 2);
      if (!isSame(signature, this.#signature(id))) return undefined;
      if (kind === 'session' && isId('session', id)) return { kind, sessionId: id };
      if (kind === 'execution' && isId('execution', id)) return { kind, executionId: id };
    }
    return undefined;
  }

  #signature(id: string): string {
    return createHmac('sha256', this.#secret).update(id).digest('base64url');
  }
}

function prefixOf(kind: TokenSubject['kind']): string {
  return kind === 'session' ? 'stm_ses_' : 'stm_exe_';
}

/** A fresh random token with this prefix: 256 bits. */
export function randomToken(prefix: string): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** What is stored of a token instead of the token. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function isSame(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
