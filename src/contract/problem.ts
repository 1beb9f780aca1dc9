import { z } from 'zod';

/** The media type of every error. */
export const problemMediaType = 'application/problem+json';

export const problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number(),
    code: z.string(),
    detail: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'Problem', description: 'An error (RFC 9457). `code` is stable; `detail` is for people.' });
/** An error on the wire (RFC 9457). `code` is one of `ErrorCode` of base/errors. */
export type Problem = z.infer<typeof problem>;
