import { z } from 'zod';
import { scopes } from './route-spec.ts';
import { instant, textOf } from './text.ts';

/** How the names of signed-in browsers begin; no other token has such a name. */
export const browserNamePrefix = 'browser ';

const tokenName = textOf(60)
  .refine(
    (name) => /^[\p{L}\p{N}](?:[\p{L}\p{N} ._@-]*[\p{L}\p{N}])?$/u.test(name),
    'must be of letters, digits, spaces, and . _ @ -, with a letter or digit at both ends',
  )
  .refine((name) => !name.startsWith(browserNamePrefix), `must not begin with "${browserNamePrefix.trim()}"`);

export const tokenBody = z
  .strictObject({
    name: tokenName.meta({ description: 'Who uses it; the log and what it decides carry this name.' }),
    scope: z.enum(scopes).meta({ description: 'admin includes operate, which includes read.' }),
  })
  .meta({ id: 'TokenBody' });
export type TokenBody = z.infer<typeof tokenBody>;

export const token = z
  .object({
    name: z.string(),
    kind: z.enum(['token', 'browser']).meta({ description: 'browser: one that signed in by a link.' }),
    scope: z.enum(scopes),
    createdAt: instant,
    expiresAt: instant.optional().meta({ description: 'When a browser has to sign in again.' }),
    lastUsedAt: instant.optional().meta({ description: 'Absent: not since the server was started.' }),
    revokedAt: instant.optional(),
  })
  .meta({
    id: 'Token',
    description: 'Who may call, without the secret itself, which nobody can read again.',
  });
/** Who may call, without the secret itself. */
export type Token = z.infer<typeof token>;

export const newToken = z
  .object({
    name: z.string(),
    scope: z.enum(scopes),
    token: z.string().meta({ description: 'Shown this once; only its hash is kept.' }),
    createdAt: instant,
  })
  .meta({ id: 'NewToken' });
/** A token that was just made, with its secret. */
export type NewToken = z.infer<typeof newToken>;
