import type { Access, ApiPorts, Idempotency, StoredAnswer } from '../api/ports.ts';
import type { Clock } from '../base/clock.ts';
import type { Ids } from '../base/ids.ts';
import type { TokenSigner } from '../base/tokens.ts';
import { hashToken, randomToken } from '../base/tokens.ts';
import type { Scope } from '../contract/route-spec.ts';
import { browserNamePrefix } from '../contract/token.ts';
import type { Records } from '../store/records.ts';
import { browserLifeMs, createTokens, type TokensContext } from './tokens.ts';

/** How long a sign-in link can be used. */
const codeLifeMs = 10 * 60_000;
const codeLimit = 100;

/** What is needed to know who calls. */
export interface CallersContext extends Omit<TokensContext, 'lastUses'> {
  readonly signer: TokenSigner;
}

/** Who may call: how callers prove who they are, and the tokens by which they do. */
export function createCallers(context: CallersContext): Pick<ApiPorts, 'access' | 'tokens'> {
  const lastUses = new Map<string, number>();
  return { access: createAccess(context, lastUses), tokens: createTokens({ ...context, lastUses }) };
}

// Named tokens from the records, signed tokens by their signature, browsers by a cookie.
function createAccess({ records, signer, clock }: CallersContext, lastUses: Map<string, number>): Access {
  const codes = new Map<string, { readonly scope: Scope; readonly expiresAt: number }>();
  return {
    async verify(token) {
      const signed = signer.verify(token);
      if (signed) return signed;
      const known = await records.tokenByHash(hashToken(token));
      if (!known || known.revokedAt !== null || !token.startsWith('stm_api_')) return undefined;
      lastUses.set(known.hash, clock.now());
      return { kind: 'api', scope: known.scope, name: known.name };
    },
    createSignInCode(scope) {
      const code = randomToken('');
      const expiresAtMs = clock.now() + codeLifeMs;
      const oldest = codes.keys().next().value;
      if (codes.size >= codeLimit && oldest !== undefined) codes.delete(oldest);
      codes.set(hashToken(code), { scope, expiresAt: expiresAtMs });
      return Promise.resolve({ code, expiresAtMs });
    },
    async redeem(code) {
      const key = hashToken(code);
      const known = codes.get(key);
      codes.delete(key);
      if (!known || known.expiresAt < clock.now()) return undefined;
      const cookie = randomToken('stm_web_');
      const hash = hashToken(cookie);
      const name = `${browserNamePrefix}${hash.slice(0, 12)}`;
      await records.putToken({ hash, name, scope: known.scope, createdAt: clock.now(), revokedAt: null });
      return { cookie, maxAgeSeconds: browserLifeMs / 1000 };
    },
    async verifyCookie(value) {
      const known = value.startsWith('stm_web_') ? await records.tokenByHash(hashToken(value)) : undefined;
      if (!known || known.revokedAt !== null || known.createdAt + browserLifeMs < clock.now())
        return undefined;
      lastUses.set(known.hash, clock.now());
      return { kind: 'api', scope: known.scope, name: known.name };
    },
  };
}

/**
 * Each key is carried out once. Its place is kept, with the id of what it will make, before it is carried out: after a
 * crash in between, the repetition finds that id and registers the same thing, not a second one.
 */
export function createIdempotency(records: Records, ids: Ids, clock: Clock): Idempotency {
  const underWay = new Map<string, Promise<unknown>>();
  return {
    async once(token, route, key, bodyHash, run) {
      const place = { token, route, key };
      const name = JSON.stringify(place);
      for (let other = underWay.get(name); other; other = underWay.get(name))
        await other.catch(() => undefined);
      const work = (async () => {
        const kept = await records.reserve({
          ...place,
          bodyHash,
          rootId: ids.make('execution'),
          at: clock.now(),
        });
        if (kept.bodyHash !== bodyHash) return { state: 'mismatch' as const };
        if (kept.answer !== null) {
          return { state: 'answered' as const, answer: JSON.parse(kept.answer) as StoredAnswer };
        }
        const answer = await run();
        await records.keepAnswer(place, JSON.stringify(answer));
        return { state: 'answered' as const, answer };
      })();
      underWay.set(name, work);
      try {
        return await work;
      } finally {
        underWay.delete(name);
      }
    },
  };
}
