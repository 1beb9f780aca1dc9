import type { Context, Hono } from 'hono';
import { StemmaError } from '../base/errors.ts';
import { eventsQuery } from '../contract/requests.ts';
import { otherPaths } from '../contract/routes.ts';
import { authorize, cookieName } from './authentication.ts';
import { readBody } from './bodies.ts';
import type { ApiContext, ApiEnv, PathPattern } from './context.ts';
import { openEventStream } from './event-stream.ts';
import { feedFilter } from './finding.ts';
import { writeMetrics } from './metrics-text.ts';
import { pageResponse } from './pages.ts';
import {
  docsResponse,
  errorDocsResponse,
  signedInResponse,
  usedLinkResponse,
  wantsHtml,
} from './plain-pages.ts';
import { methodNotAllowed } from './problems.ts';
import { parseQuery, recoveringError, stoppingError } from './route-server.ts';
import { serveTerminal } from './terminal-socket.ts';

type Serve = (c: Context<ApiEnv>) => Response | Promise<Response>;

/** Adds every route that does not answer JSON of the contract. Answers their paths. */
export function addPlainRoutes(app: Hono<ApiEnv>, context: ApiContext): PathPattern[] {
  const { ports } = context;
  const patterns: PathPattern[] = [];
  const add = (method: 'GET' | 'POST', path: string, serve: Serve): void => {
    app.on(method, [path], serve);
    patterns.push({
      method,
      matches: new RegExp(`^${path.replaceAll('.', '\\.').replace(/:[a-z]+/g, '[^/]+')}$`),
    });
  };
  const addReadable = (path: string, serve: Serve): void =>
    add('GET', path, (c) => {
      authorize({ needs: 'read' }, c.get('principal'));
      return serve(c);
    });
  add('GET', otherPaths.healthz, () => Response.json({ status: 'ok' }));
  add('GET', otherPaths.signIn, (c) => signIn(context, c));
  add('GET', otherPaths.terminal, (c) => serveTerminal(context, c));
  add('POST', otherPaths.mcp, (c) => serveMcp(context, c));
  addReadable(otherPaths.readyz, () => readiness(context));
  addReadable(otherPaths.metrics, () => metricsResponse(writeMetrics(ports.health.metrics())));
  addReadable(otherPaths.openapi, () => Response.json(context.document));
  addReadable(otherPaths.docs, () => docsResponse(context.document));
  addReadable(otherPaths.errorDocs, errorDocsResponse);
  addReadable(otherPaths.events, (c) => serveEvents(context, c));
  for (const [path, file] of context.page) addReadable(path, () => pageResponse(file));
  return patterns;
}

async function readiness({ ports }: ApiContext): Promise<Response> {
  const state = ports.health.state();
  if (state === 'recovering') throw recoveringError();
  if (state === 'stopping') throw stoppingError();
  if (!(await ports.health.isStoreUsable())) throw new StemmaError('INTERNAL', 'The store cannot be read.');
  return Response.json({ status: 'ready' });
}

function metricsResponse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } });
}

async function serveEvents(context: ApiContext, c: Context<ApiEnv>): Promise<Response> {
  if (c.req.method === 'HEAD') return methodNotAllowed('HEAD', ['GET']);
  if (context.ports.health.state() === 'stopping' || context.stopping.aborted) throw stoppingError();
  const { after, ...filter } = parseQuery(eventsQuery, c.req.queries());
  const { clock, log, settings, ports } = context;
  const closing = context.openCallers.signalOf(c.get('principal'));
  const wanted = await feedFilter(ports, filter);
  const body = openEventStream({
    feed: ports.feed,
    clock,
    log: log.child({ requestId: c.get('requestId') }),
    filter: wanted,
    // What the client read last is newer than the place at which it once began.
    after: c.req.header('last-event-id') || after,
    keepAliveMs: settings.keepAliveMs,
    bufferBytes: settings.streamBufferBytes,
    closing,
    connection: c.env.outgoing,
  });
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  });
}

async function serveMcp({ ports, settings }: ApiContext, c: Context<ApiEnv>): Promise<Response> {
  const principal = c.get('principal');
  if (principal.kind !== 'session') {
    throw new StemmaError('FORBIDDEN', "The tools need an agent's own session token.", { needs: 'session' });
  }
  if (ports.health.state() === 'stopping') throw stoppingError();
  const body = await readBody(c.req.raw, settings.bodyLimitBytes);
  return ports.mcp.serve({ sessionId: principal.sessionId, request: c.req.raw, body });
}

async function signIn(context: ApiContext, c: Context<ApiEnv>): Promise<Response> {
  // A link works once: what only looks ahead must not use it up.
  if (c.req.method === 'HEAD') return methodNotAllowed('HEAD', ['GET']);
  const code = c.req.query('code') ?? '';
  const redeemed = code === '' || code.length > 500 ? undefined : await context.ports.access.redeem(code);
  if (redeemed === undefined) {
    if (wantsHtml(c.req.raw)) return usedLinkResponse();
    throw new StemmaError(
      'UNAUTHORIZED',
      'This link was used, or is too old. Run "stemma open" for another.',
    );
  }
  const secure = context.pageUrl().startsWith('https:') ? '; Secure' : '';
  // Without a path it is that of the link as the browser sees it: below a proxy's path other programs never get it.
  const cookie = `${cookieName(context.port())}=${redeemed.cookie}; HttpOnly; SameSite=Strict; Max-Age=${redeemed.maxAgeSeconds}${secure}`;
  return signedInResponse(cookie);
}
