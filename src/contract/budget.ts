import { z } from 'zod';

/** What a message and all that comes of it may use: US dollars, tokens (in and out together), or both. */
export const budget = z
  .strictObject({
    usd: z.number().positive('must be more than 0').max(1_000_000).optional(),
    tokens: z.int().min(1, 'must be at least 1').max(1_000_000_000_000).optional(),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, 'needs "usd" or "tokens"')
  .meta({
    id: 'Budget',
    description:
      'What a message and all that comes of it may use; when it is exceeded the whole tree is ended, and its outcome is failed, code BUDGET. Refused (NO_USAGE) for an agent that does not tell what it uses.',
  });
/** What a message may use. */
export type Budget = z.infer<typeof budget>;
