import { z } from 'zod';
import { nameText, textOf } from './text.ts';

/** One page of a list. `nextCursor` is absent on the last one. */
export interface Page<T> {
  readonly items: T[];
  readonly nextCursor?: string | undefined;
}

/** The schema of a page of something. */
export function pageOf<T extends z.ZodType>(item: T) {
  return z.object({ items: z.array(item), nextCursor: z.string().optional() });
}

/** A whole number in a query string, within bounds. */
export function queryNumber(smallest: number, largest: number) {
  return z
    .string()
    .regex(/^\d{1,12}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(smallest).max(largest));
}

/** An opaque cursor, as an earlier answer gave it. */
export const cursorText = textOf(500, 1);

/** How many items a list answers if not said, and at most. */
export const defaultLimit = 50;
export const largestLimit = 500;

/** What every list takes. A filter that does not apply to the things listed matches none of them. */
export const listQuery = z.strictObject({
  project: nameText.optional(),
  state: nameText.optional(),
  session: nameText.optional(),
  schedule: nameText.optional(),
  label: nameText.optional(),
  root: nameText.optional(),
  kind: nameText.optional(),
  cursor: cursorText.optional(),
  limit: queryNumber(1, largestLimit).optional(),
});
/** The filters of a list, parsed. */
export type ListQuery = z.infer<typeof listQuery>;
