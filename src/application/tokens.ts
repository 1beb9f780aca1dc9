import type { Answer, Principal, Tokens } from '../api/ports.ts';
import type { Clock } from '../base/clock.ts';
import { hashToken, randomToken } from '../base/tokens.ts';
import { toInstant } from '../contract/text.ts';
import { browserNamePrefix, type NewToken, type Token, type TokenBody } from '../contract/token.ts';
import type { NamedToken, Records } from '../store/records.ts';
import { actorOf } from './caller.ts';

/** How long a browser stays signed in, in milliseconds. */
export const browserLifeMs = 30 * 24 * 3_600_000;

/** What the tokens need. */
export interface TokensContext {
  readonly records: Records;
  readonly clock: Clock;
  /** When each token was last used, by its hash, in UTC milliseconds; since the server was started. */
  readonly lastUses: ReadonlyMap<string, number>;
  /** Writes into the log who did what. */
  readonly audit: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** Named tokens and signed-in browsers, as administrators see and change them. */
export function createTokens(context: TokensContext): Tokens {
  return {
    list: async () => {
      const now = context.clock.now();
      const known = (await context.records.tokens()).filter((token) => !isExpired(token, now));
      const shown = known.map((token) => shownToken(context, token));
      return [
        ...shown.filter(({ kind }) => kind === 'token'),
        ...shown.filter(({ kind }) => kind !== 'token'),
      ];
    },
    create: (body, { caller }) => create(context, body, caller),
    revoke: (name, { caller }) => revoke(context, name, caller),
  };
}

async function create(
  { records, clock, audit }: TokensContext,
  { name, scope }: TokenBody,
  caller: Principal,
): Promise<Answer<NewToken>> {
  const isTaken = async (): Promise<boolean> =>
    (await records.tokens()).some((token) => token.name === name && token.revokedAt === null);
  const taken = {
    ok: false,
    code: 'ILLEGAL_STATE',
    message: `There is a token named "${name}" already. Choose another name, or revoke that one first.`,
    data: { name },
  } as const;
  if (await isTaken()) return taken;
  const token = randomToken('stm_api_');
  const createdAt = clock.now();
  try {
    await records.putToken({ hash: hashToken(token), name, scope, createdAt, revokedAt: null });
  } catch (error) {
    // Two at once: the database lets one of them have the name.
    if (await isTaken()) return taken;
    throw error;
  }
  audit('token.created', { name, scope, actor: actorOf(caller) });
  return { ok: true, value: { name, scope, token, createdAt: toInstant(createdAt) } };
}

async function revoke(context: TokensContext, name: string, caller: Principal): Promise<Answer<Token>> {
  const { records, clock, audit } = context;
  if (await records.revokeToken(name, clock.now())) {
    audit('token.revoked', { name, actor: actorOf(caller) });
  }
  // A name may have had several tokens, one after the other: the newest is the one that was meant.
  const named = (await records.tokens()).filter((token) => token.name === name);
  const newest = named.toSorted((a, b) => a.createdAt - b.createdAt || (a.revokedAt ? -1 : 1)).at(-1);
  if (newest) return { ok: true, value: shownToken(context, newest) };
  return { ok: false, code: 'NOT_FOUND', message: `There is no token named "${name}".`, data: { name } };
}

function isBrowser({ name }: NamedToken): boolean {
  return name.startsWith(browserNamePrefix);
}

function isExpired(token: NamedToken, now: number): boolean {
  return isBrowser(token) && token.createdAt + browserLifeMs < now;
}

function shownToken({ lastUses }: TokensContext, token: NamedToken): Token {
  const { hash, name, scope, createdAt, revokedAt } = token;
  const lastUsedAt = lastUses.get(hash);
  return {
    name,
    kind: isBrowser(token) ? 'browser' : 'token',
    scope,
    createdAt: toInstant(createdAt),
    ...(isBrowser(token) ? { expiresAt: toInstant(createdAt + browserLifeMs) } : {}),
    ...(lastUsedAt === undefined ? {} : { lastUsedAt: toInstant(lastUsedAt) }),
    ...(revokedAt === null ? {} : { revokedAt: toInstant(revokedAt) }),
  };
}
