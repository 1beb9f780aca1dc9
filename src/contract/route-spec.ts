import type { z } from 'zod';

/** What a token may do. `admin` includes `operate`, which includes `read`. */
export const scopes = ['read', 'operate', 'admin'] as const;
export type Scope = (typeof scopes)[number];

/** One route as data: the API serves it, the documentation shows it, the client calls it. */
export interface RouteSpec {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** With `:id` or `:name` for the one parameter. */
  readonly path: string;
  /** Other paths of the same. `:project/:name` in one stands for the parameter `project/name`. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** The scope an API token needs. */
  readonly needs: Scope;
  /** The other kinds of token that may call it, within what is theirs. */
  readonly also?: readonly ('execution' | 'session')[];
  readonly query?: z.ZodType;
  /** The schema of the body; a missing body counts as `{}`. */
  readonly body?: z.ZodType;
  readonly status: 200 | 201 | 202;
  readonly answer: z.ZodType;
  /** Whether it begins new work: refused with 503 while the server finds out what its agents did. */
  readonly launches?: boolean;
  /** Its answer holds a secret: it is never kept, so that an idempotency key changes nothing. */
  readonly answersSecret?: boolean;
}

/** What every API path begins with. */
const apiPrefix = '/api/v1';

/** A path of the API. */
export const at = (path: string) => `${apiPrefix}${path}`;
/** What reading routes have in common. */
export const get = { method: 'GET', needs: 'read', status: 200 } as const;
/** What changing routes have in common. */
export const post = { method: 'POST', needs: 'operate', status: 200 } as const;
