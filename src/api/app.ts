import { setMaxListeners } from 'node:events';
import { Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import type { Logger } from 'pino';
import type { Clock } from '../base/clock.ts';
import { StemmaError, toStemmaError } from '../base/errors.ts';
import { otherPaths, routeTable } from '../contract/routes.ts';
import type { RouteSpec } from '../contract/route-spec.ts';
import type { RouteName } from '../contract/routes.ts';
import { authenticate } from './authentication.ts';
import { defaultBodyLimitBytes } from './bodies.ts';
import { createHandlers } from './handlers.ts';
import { checkHosts } from './hosts.ts';
import { OpenCallers } from './open-callers.ts';
import { describeApi } from './openapi.ts';
import type { PageFiles } from './pages.ts';
import { signInNeededResponse, wantsHtml } from './plain-pages.ts';
import { addPlainRoutes } from './plain-routes.ts';
import type { ApiPorts } from './ports.ts';
import { methodNotAllowed, notFound, problemResponse } from './problems.ts';
import type { ApiContext, ApiEnv, ApiSettings, PathPattern } from './context.ts';
import { serveRoute } from './route-server.ts';
import { SharedTerminals } from './shared-terminals.ts';
import { addSecurityHeaders } from './security-headers.ts';

/** What the edge must know besides its ports. */
export interface ApiOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The port on which the listener listens; asked for each request, since it is known only after listening. */
  readonly port: () => number;
  readonly publicUrl?: string;
  /** Host names, without port, by which a server that is bound to more than loopback may be called. */
  readonly hosts?: readonly string[];
  readonly page: PageFiles;
  /** How large a body may be, in bytes. Default 1 MiB. */
  readonly bodyLimitBytes?: number;
  /** Between comments on a quiet event stream, in milliseconds. Default 15 s. */
  readonly keepAliveMs?: number;
  /** How much may wait for a client of the stream that does not read, in bytes. Default 1 MiB. */
  readonly streamBufferBytes?: number;
}

/** The HTTP edge. */
export interface Api {
  /** Serves one request. `env` may hold node's `outgoing`, to cut a connection off. Never throws. */
  fetch(request: Request, env?: unknown): Response | Promise<Response>;
  /** Ends the event streams and lets the waits answer, so that the listener can close. Twice is harmless. */
  stop(): void;
}

/** Builds the HTTP edge. It owns nothing but its open streams. */
export function createApi(ports: ApiPorts, options: ApiOptions): Api {
  const stopping = new AbortController();
  // As much listens as there are requests at once.
  setMaxListeners(0, stopping.signal);
  const context = createContext(ports, options, stopping.signal);
  const prefix = prefixOf(options.publicUrl);
  const app = new Hono<ApiEnv>({ getPath: (request) => withoutPrefix(getPath(request), prefix) });
  addMiddleware(app, context);
  const handlers = createHandlers({ ports, pageUrl: context.pageUrl, openCallers: context.openCallers });
  for (const [name, spec] of Object.entries(routeTable) as [RouteName, RouteSpec][]) {
    app.on(spec.method, [spec.path, ...(spec.aliases ?? [])], (c) => serveRoute(context, name, handlers, c));
  }
  const plainPaths = addPlainRoutes(app, context);
  const patterns = [...routePatterns(), ...plainPaths];
  app.notFound((c) => {
    const allowed = patterns.filter(({ matches }) => matches.test(c.req.path)).map(({ method }) => method);
    return allowed.length === 0
      ? problemResponse(notFound(c.req.path))
      : methodNotAllowed(c.req.method, [...new Set(allowed)]);
  });
  app.onError((error, c) => showError(error, c.get('requestId'), c.req.raw, options.log));
  return {
    fetch: (request, env) => app.fetch(request, (env ?? {}) as ApiEnv['Bindings']),
    stop: () => stopping.abort(),
  };
}

/** The path of the public address: '' or `/stemma`. */
function prefixOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '');
}

// A proxy that serves us below a path of its own cuts that path off, or does not.
function withoutPrefix(path: string, prefix: string): string {
  if (prefix === '' || !(path === prefix || path.startsWith(`${prefix}/`))) return path;
  return path.slice(prefix.length) || '/';
}

function createContext(ports: ApiPorts, options: ApiOptions, stopping: AbortSignal): ApiContext {
  const settings: ApiSettings = {
    bodyLimitBytes: options.bodyLimitBytes ?? defaultBodyLimitBytes,
    keepAliveMs: options.keepAliveMs ?? 15_000,
    streamBufferBytes: options.streamBufferBytes ?? 1_048_576,
  };
  return {
    ports,
    settings,
    stopping,
    openCallers: new OpenCallers(stopping),
    sharedTerminals: new SharedTerminals(ports.terminals),
    clock: options.clock,
    log: options.log,
    page: options.page,
    port: options.port,
    document: describeApi(ports.health.version()),
    pageUrl: () => (options.publicUrl ?? `http://127.0.0.1:${options.port()}`).replace(/\/+$/, ''),
    hostRules: () => ({
      port: options.port(),
      ...(options.publicUrl === undefined ? {} : { publicUrl: options.publicUrl }),
      ...(options.hosts === undefined ? {} : { hosts: options.hosts }),
    }),
  };
}

// What every request passes, in this order: a number for the log, headers, the right host, a known caller.
function addMiddleware(app: Hono<ApiEnv>, context: ApiContext): void {
  const { ports, log, clock } = context;
  let requestCount = 0;
  app.use('*', async (c, next) => {
    const began = clock.monotonic();
    const requestId = ++requestCount;
    c.set('requestId', requestId);
    await next();
    addSecurityHeaders(c.res.headers);
    const { method, path } = c.req;
    log.debug({ requestId, method, path, status: c.res.status, ms: clock.monotonic() - began }, 'request');
  });
  app.use('*', async (c, next) => {
    checkHosts(c.req.raw.headers, context.hostRules());
    if (openPaths.has(c.req.path)) return next();
    try {
      c.set('principal', await authenticate(c.req.raw, ports.access, context.port()));
    } catch (error) {
      const isSignedOut = error instanceof StemmaError && error.code === 'UNAUTHORIZED';
      if (isSignedOut && wantsHtml(c.req.raw)) return signInNeededResponse();
      throw error;
    }
    return next();
  });
}

const openPaths: ReadonlySet<string> = new Set([otherPaths.healthz, otherPaths.signIn]);

function routePatterns(): PathPattern[] {
  return Object.values<RouteSpec>(routeTable).flatMap(({ method, path, aliases = [] }) =>
    [path, ...aliases].map((each) => ({
      method,
      matches: new RegExp(`^${each.replace(/:[a-z]+/g, '[^/]+')}$`),
    })),
  );
}

function showError(error: Error, requestId: number, request: Request, log: Logger): Response {
  const known = toStemmaError(error);
  if (known.code !== 'INTERNAL') return problemResponse(known);
  // A body that ends because its sender has gone is no fault of ours, and nobody reads the answer.
  if (request.signal.aborted) log.debug({ err: error, requestId }, 'the client has gone');
  else log.error({ err: error, requestId }, 'a request failed by a bug');
  return problemResponse(new StemmaError('INTERNAL', known.message, { requestId }));
}
