import type { IdKinds, ResolvableKind } from '../api/ports.ts';
import { StemmaError } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import type { ListQuery } from '../contract/page.ts';
import { defaultLimit } from '../contract/page.ts';

/** Filters that a list may be asked by. */
export type FilterName = Exclude<keyof ListQuery, 'cursor' | 'limit'>;

/**
 * Whether the caller filters by something that the things of a list do not have: then none of them fits. `known` are the
 * filters that the list looks at.
 */
export function asksForOthers(filter: ListQuery, known: readonly FilterName[]): boolean {
  const others = (Object.keys(filterNames) as FilterName[]).filter((name) => !known.includes(name));
  return others.some((name) => filter[name] !== undefined);
}

const filterNames: Readonly<Record<FilterName, true>> = {
  project: true,
  state: true,
  session: true,
  schedule: true,
  label: true,
  root: true,
  kind: true,
};

/**
 * Where a list of things of this kind goes on. Its cursors are the ids behind which a page ended. Throws `INVALID_INPUT`
 * for another text: from the first page again, a client that follows cursors would never come to an end.
 */
export function paging(
  filter: ListQuery,
  kind: ResolvableKind,
): { limit: number; cursor: string | undefined } {
  const { cursor, limit = defaultLimit } = filter;
  if (cursor !== undefined && !isId(kind, cursor)) throw invalidCursor(cursor);
  return { limit, cursor };
}

/** The error for a cursor that no earlier answer gave. */
export function invalidCursor(cursor: string, path = 'cursor'): StemmaError {
  const shown = JSON.stringify(cursor.slice(0, 60));
  const message = 'must be as an earlier answer gave it';
  return new StemmaError('INVALID_INPUT', `${path}: ${shown} is no cursor of this list; it ${message}.`, {
    issues: [{ path, message }],
  });
}

/** A filter by a word of a list. A word that is not in it is an error of the caller, not an empty answer. */
export function chosen<K extends string, T extends string>(
  name: K,
  value: string | undefined,
  words: readonly T[],
): { [P in K]?: T } {
  if (value === undefined) return {};
  const word = words.find((known) => known === value);
  if (word === undefined) {
    throw new StemmaError('INVALID_INPUT', `"${value}" is no ${name}; it is one of ${words.join(', ')}.`, {
      issues: [{ path: name, message: `must be one of ${words.join(', ')}` }],
    });
  }
  return { [name]: word } as { [P in K]?: T };
}

/** A filter by an id, which the edge has made whole. Throws `INVALID_INPUT` for another text. */
export function idOf<K extends string, Kind extends ResolvableKind>(
  name: K,
  kind: Kind,
  value: string | undefined,
): { [P in K]?: IdKinds[Kind] } {
  if (value === undefined) return {};
  if (isId(kind, value)) return { [name]: value } as unknown as { [P in K]?: IdKinds[Kind] };
  throw new StemmaError('INVALID_INPUT', `"${value}" is no id of a ${kind}.`, {
    issues: [{ path: name, message: `must be the id of a ${kind}` }],
  });
}
