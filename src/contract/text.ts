import { z } from 'zod';

/**
 * A text that can safely go to a process, a database and an agent: no NUL, no half of a surrogate pair (it would come
 * back as another character), not longer than `longest` UTF-16 units.
 */
export function textOf(longest: number, shortest = 0): z.ZodString {
  const text = z
    .string()
    .max(longest, `is longer than ${longest} characters`)
    // As refinements, not as patterns: the schemas of tools go to models, and not every provider takes patterns.
    .refine((value) => !value.includes('\0'), 'contains a NUL character')
    .refine((value) => !/\p{Surrogate}/u.test(value), 'contains half of a surrogate pair');
  return shortest > 0 ? text.min(shortest, 'must not be empty') : text;
}

/** A short name for people: one line, not empty. */
export const nameText = textOf(200, 1).refine((value) => !/[\r\n]/.test(value), 'must be one line');

/** A long text: a message, an instruction, a result. It must say something. */
export const longText = textOf(1_000_000, 1).refine((value) => value.trim() !== '', 'must not be empty');

/** A working directory: absolute, because the server's own directory is not the caller's. */
export const directoryPath = textOf(4_096, 1).refine(
  (value) => value.startsWith('/'),
  'must be an absolute path',
);

/** An instant on the wire: RFC 3339 in UTC, for example `2026-03-29T01:30:00.000Z`. */
export const instant = z.iso.datetime().meta({ description: 'An instant, RFC 3339 in UTC.' });

/** The wire form of UTC milliseconds. */
export function toInstant(ms: number): string {
  return new Date(ms).toISOString();
}
