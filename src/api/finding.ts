import { prefixes } from '../base/ids.ts';
import { StemmaError } from '../base/errors.ts';
import type { ListQuery } from '../contract/page.ts';
import { defaultLimit } from '../contract/page.ts';
import type { ApiPorts, FeedFilter, IdKinds, IdResolution, ResolvableKind } from './ports.ts';
import { notFound } from './problems.ts';

/**
 * The id that `text` names: a whole id or the beginning of one. Throws `NOT_FOUND`, also for an id of another kind, and
 * `AMBIGUOUS_ID` with what it fits.
 */
export async function find<K extends ResolvableKind>(
  ids: IdResolution,
  kind: K,
  text: string,
): Promise<IdKinds[K]> {
  const prefix = `${prefixes[kind]}_`;
  const normal = text.slice(0, 4).toLowerCase() + text.slice(4).toUpperCase();
  if (normal === prefix) throw ambiguous(text, []);
  if (!normal.startsWith(prefix)) throw ofAnotherKind(kind, text);
  if (!/^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{1,26}$/.test(normal)) throw notFound(text);
  const resolution = await ids.resolve(kind, normal);
  if (resolution.found === 'one') return resolution.id;
  if (resolution.found === 'none') throw notFound(text);
  throw ambiguous(text, resolution.matches);
}

/** How many of the ids that a prefix fits its message names; its data has more. */
const namedMatches = 3;

function ambiguous(text: string, matches: readonly string[]): StemmaError {
  const named = matches.slice(0, namedMatches);
  const more = matches.length > named.length ? ', and more' : '';
  const which = named.length === 0 ? '' : `, such as ${named.join(', ')}${more}`;
  const message = `${text} is the beginning of several ids${which}. Give more characters.`;
  return new StemmaError('AMBIGUOUS_ID', message, { matches });
}

function ofAnotherKind(kind: ResolvableKind, text: string): StemmaError {
  const other = Object.entries(prefixes).find(([, prefix]) => text.toLowerCase().startsWith(`${prefix}_`));
  if (!other) return notFound(text);
  const message = `${text} is the id of a ${other[0]}; the id of a ${kind} begins with ${prefixes[kind]}_.`;
  return new StemmaError('NOT_FOUND', message.replaceAll('a execution', 'an execution'), { id: text });
}

/** The filter of a list with its ids made whole and its limit set. Throws as `find` does. */
export async function listFilter(ports: Pick<ApiPorts, 'ids'>, query: ListQuery): Promise<ListQuery> {
  const ids = await feedFilter(ports, query);
  return { ...query, ...ids, limit: query.limit ?? defaultLimit };
}

/** The root and the session of a filter, made whole. Throws as `find` does. */
export async function feedFilter(
  ports: Pick<ApiPorts, 'ids'>,
  query: { readonly root?: string | undefined; readonly session?: string | undefined },
): Promise<FeedFilter> {
  const { root, session } = query;
  return {
    ...(root === undefined ? {} : { root: await find(ports.ids, 'execution', root) }),
    ...(session === undefined ? {} : { session: await find(ports.ids, 'session', session) }),
  };
}
