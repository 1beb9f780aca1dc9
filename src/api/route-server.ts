import type { Context } from 'hono';
import { z } from 'zod';
import { StemmaError } from '../base/errors.ts';
import { parseInput } from '../contract/issues.ts';
import type { RouteSpec } from '../contract/route-spec.ts';
import type { RouteName } from '../contract/routes.ts';
import { routeTable } from '../contract/routes.ts';
import { authorize } from './authentication.ts';
import { parseJson, readBody } from './bodies.ts';
import type { ApiContext, ApiEnv } from './context.ts';
import { readIdempotencyKey, runOnce } from './idempotent.ts';
import type { Call, Health, Principal } from './ports.ts';
import { invalidInput, methodNotAllowed } from './problems.ts';
import type { HandlersOf } from './route-request.ts';

// The table is walked by name, so its types meet here without their names: what parsed is what the handler gets.
type AnyHandler = (request: {
  readonly parameter: string;
  readonly query: unknown;
  readonly body: unknown;
  readonly call: Call;
  readonly signal: AbortSignal;
}) => Promise<unknown>;

const noQuery = z.strictObject({});

/** Serves one JSON route: may the caller, can the server, is the input right, then the handler. */
export async function serveRoute(
  context: ApiContext,
  name: RouteName,
  handlers: HandlersOf<RouteName>,
  c: Context<ApiEnv>,
): Promise<Response> {
  const spec = routeTable[name];
  const caller = c.get('principal');
  if (c.req.method === 'HEAD' && name === 'waitExecution') return methodNotAllowed('HEAD', ['GET']);
  authorize(spec, caller);
  checkWillingness(spec, name, context.ports.health);
  const query = parseQuery(spec.query ?? noQuery, c.req.queries());
  const rawBody =
    spec.body === undefined ? {} : parseJson(await readBody(c.req.raw, context.settings.bodyLimitBytes));
  const body = spec.body === undefined ? undefined : parsed('body', spec.body, rawBody);
  const parameter = parameterOf(c.req.param());
  const call = callOf(c.req.raw.headers, caller, `${name} ${parameter}`.trim(), rawBody, spec);
  const handler = handlers[name] as unknown as AnyHandler;
  const answer = await untilAborted([c.req.raw.signal, context.stopping], (signal) =>
    runOnce(context.ports.idempotency, call.idempotency, async () => ({
      status: spec.status,
      body: await handler({ parameter, query, body, call, signal }),
    })),
  );
  return Response.json(answer.body, { status: answer.status });
}

/** Parses a query string by a schema. Throws `INVALID_INPUT` naming what is unknown, wrong or said twice. */
export function parseQuery<S extends z.ZodType>(schema: S, given: Record<string, string[]>): z.output<S> {
  const twice = Object.keys(given).filter((key) => (given[key]?.length ?? 0) > 1);
  if (twice.length > 0) {
    throw invalidInput(
      'query string',
      twice.map((path) => ({ path, message: 'is given more than once' })),
    );
  }
  const single = Object.fromEntries(Object.entries(given).map(([key, values]) => [key, values[0]]));
  return parsed('query string', schema, single);
}

// By hand: AbortSignal.any keeps a little of every request on a signal that lives as long as the server.
async function untilAborted<T>(
  sources: readonly AbortSignal[],
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (sources.some((source) => source.aborted)) abort();
  for (const source of sources) source.addEventListener('abort', abort, { once: true });
  try {
    return await run(controller.signal);
  } finally {
    for (const source of sources) source.removeEventListener('abort', abort);
  }
}

// `/shop/nightly` is another way to write the one parameter `shop/nightly`.
function parameterOf({ id, project, name }: Readonly<Record<string, string | undefined>>): string {
  return project === undefined ? (id ?? name ?? '') : `${project}/${name ?? ''}`;
}

function parsed<S extends z.ZodType>(what: string, schema: S, input: unknown): z.output<S> {
  const result = parseInput(schema, input);
  if (!result.ok) throw invalidInput(what, result.issues);
  return result.value;
}

function callOf(headers: Headers, caller: Principal, route: string, body: unknown, spec: RouteSpec): Call {
  const isKept = spec.method === 'POST' && spec.answersSecret !== true;
  const ref = isKept ? readIdempotencyKey(headers, caller, route, body) : undefined;
  return ref === undefined ? { caller } : { caller, idempotency: ref };
}

// Reading is possible to the end; a wait is not, since the end would cut it off.
function checkWillingness(spec: RouteSpec, name: RouteName, health: Health): void {
  const state = health.state();
  if (state === 'stopping' && (spec.method !== 'GET' || name === 'waitExecution')) throw stoppingError();
  if (state === 'recovering' && spec.launches === true) throw recoveringError();
}

/** The server takes nothing more. */
export function stoppingError(): StemmaError {
  return new StemmaError('STOPPING', 'The server is stopping. Try again when it has been started again.');
}

/** The server does not know yet what its agents did while it was away. */
export function recoveringError(): StemmaError {
  return new StemmaError(
    'RECOVERING',
    'The server is still finding out what its agents did; nothing was started. Try again in a moment.',
  );
}
