import { z } from 'zod';

const part = z.object({
  name: z.string(),
  what: z.string().meta({ description: 'What is kept there, and for how long.' }),
  bytes: z.number(),
  isAtLeast: z.boolean().optional().meta({ description: 'There is more than was counted.' }),
});

export const settings = z
  .object({
    version: z.string(),
    dataDir: z.string(),
    publicUrl: z.string().optional(),
    targets: z
      .array(
        z.object({
          name: z.string(),
          kind: z.enum(['webhook', 'command', 'mail', 'ntfy', 'slack']),
          always: z.boolean().meta({ description: 'It hears also of what has no schedule.' }),
        }),
      )
      .meta({ description: 'Who can be told of transitions.' }),
    storage: z.object({
      parts: z.array(part),
      freeBytes: z
        .number()
        .optional()
        .meta({ description: 'What is free on the disk of the data directory.' }),
      lowBytes: z.number().meta({ description: 'Below this people are told; 0: never.' }),
    }),
  })
  .meta({ id: 'Settings', description: 'How this server is set up, and what it keeps. No secret is in it.' });
/** How this server is set up, and what it keeps. */
export type Settings = z.infer<typeof settings>;
