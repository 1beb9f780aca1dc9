import { z } from 'zod';
import { event } from '../contract/events.ts';
import { problem, problemMediaType } from '../contract/problem.ts';
import { eventsQuery } from '../contract/requests.ts';
import type { RouteSpec } from '../contract/route-spec.ts';
import { otherPaths, routeTable } from '../contract/routes.ts';

/** A JSON document, as far as its readers here care. */
export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, unknown>>;
  readonly security: readonly unknown[];
}

/** One method of one path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly [key: string]: unknown;
}

type JsonSchema = Record<string, unknown>;

/** Describes the API in OpenAPI 3.1, from the contract alone. `version` is the server's. */
export function describeApi(version: string): OpenApiDocument {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [name, spec] of Object.entries<RouteSpec>(routeTable)) {
    for (const path of [spec.path, ...(spec.aliases ?? [])]) {
      const id = path === spec.path ? name : `${name}Alias`;
      const key = path.replace(/:([a-z]+)/g, '{$1}');
      paths[key] = { ...paths[key], [spec.method.toLowerCase()]: describeRoute(id, path, spec, schemas) };
    }
  }
  Object.assign(paths, describeOthers(schemas));
  collect(problem, 'output', schemas);
  return {
    openapi: '3.1.0',
    info: { title: 'Stemma', version, description: 'Every error is a Problem with a stable code.' },
    paths,
    components: {
      schemas,
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
    },
    security: [{ token: [] }],
  };
}

function describeRoute(
  id: string,
  path: string,
  spec: RouteSpec,
  schemas: Record<string, JsonSchema>,
): Operation {
  const json = (schema: z.ZodType, io: 'input' | 'output') => ({
    'application/json': { schema: collect(schema, io, schemas) },
  });
  return {
    operationId: id,
    summary: spec.summary,
    description: `Needs the scope ${spec.needs}${spec.also ? `, or the token of an ${spec.also.join(' or a ')}` : ''}.`,
    parameters: [...pathParameters(path), ...queryParameters(spec.query), ...headerParameters(spec)],
    ...(spec.body ? { requestBody: { content: json(spec.body, 'input') } } : {}),
    responses: {
      [spec.status]: { description: spec.summary, content: json(spec.answer, 'output') },
      default: problemAnswer,
    },
  };
}

const problemAnswer = {
  description: 'A problem',
  content: { [problemMediaType]: { schema: { $ref: '#/components/schemas/Problem' } } },
};

function pathParameters(path: string): unknown[] {
  return [...path.matchAll(/:([a-z]+)/g)].map((match) => ({
    name: match[1],
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: z.ZodType | undefined): unknown[] {
  if (query === undefined) return [];
  const schema = z.toJSONSchema(query, { io: 'input', unrepresentable: 'any' });
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: 'query',
    schema: property,
  }));
}

function headerParameters(spec: RouteSpec): unknown[] {
  if (spec.method !== 'POST' || spec.answersSecret === true) return [];
  const description = 'The same key with the same body answers the same; with another body it is a conflict.';
  return [{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string', maxLength: 255 }, description }];
}

// Named schemas go to the components, so that a client's types have the names of the contract.
function collect(schema: z.ZodType, io: 'input' | 'output', schemas: Record<string, JsonSchema>): JsonSchema {
  const whole = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  const { $defs, $schema: _dialect, ...own } = rewriteReferences(whole) as JsonSchema;
  Object.assign(schemas, $defs);
  const id = own['id'];
  if (typeof id !== 'string') return own;
  schemas[id] = own;
  return { $ref: `#/components/schemas/${id}` };
}

function rewriteReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewriteReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      key === '$ref' && typeof item === 'string'
        ? item.replace('#/$defs/', '#/components/schemas/')
        : rewriteReferences(item),
    ]),
  );
}

function describeOthers(schemas: Record<string, JsonSchema>): Record<string, Record<string, Operation>> {
  const eventSchema = collect(event, 'output', schemas);
  const text = (description: string) => ({ 200: { description }, default: problemAnswer });
  const get = (operationId: string, summary: string, more: object = {}): Record<string, Operation> => ({
    get: { operationId, summary, responses: text(summary), ...more },
  });
  return {
    [otherPaths.events]: get('events', 'Committed events as server-sent events; Last-Event-ID resumes', {
      parameters: queryParameters(eventsQuery),
      responses: {
        200: {
          description: 'Each data line is an Event',
          content: { 'text/event-stream': { schema: eventSchema } },
        },
        default: problemAnswer,
      },
    }),
    [otherPaths.mcp]: {
      post: {
        operationId: 'mcp',
        summary: 'The tools of an agent (MCP, Streamable HTTP)',
        responses: text('JSON-RPC'),
      },
    },
    [otherPaths.healthz]: get('healthz', 'Whether the process is alive', { security: [] }),
    [otherPaths.readyz]: get('readyz', 'Whether the server takes work'),
    [otherPaths.metrics]: get('metrics', 'Metrics in the Prometheus text format'),
    [otherPaths.openapi]: get('openapi', 'This document'),
    [otherPaths.docs]: get('docs', 'This document as a page'),
    [otherPaths.errorDocs]: get('errorDocs', 'Every code of an error: what it means, and what to do'),
    [otherPaths.signIn]: get('signIn', 'Signs a browser in by a code, once', { security: [] }),
    [otherPaths.page]: get('page', 'The page'),
  };
}
