import { z } from 'zod';

interface JsonSchema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, JsonSchema>>;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
}

/** The keys that are valid in the mapping at `path` of what `schema` reads, over all branches of its unions. */
export function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  // By way of JSON Schema: a public form of a schema, where zod's own structure is not.
  const root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema;
  let nodes = alternatives(root, root);
  for (const part of path) nodes = nodes.flatMap((node) => child(root, node, part));
  return [...new Set(nodes.flatMap((node) => Object.keys(node.properties ?? {})))];
}

function child(root: JsonSchema, node: JsonSchema, part: PropertyKey): JsonSchema[] {
  const key = String(part);
  const named = node.properties && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
  const other = typeof node.additionalProperties === 'object' ? node.additionalProperties : undefined;
  const next = typeof part === 'number' ? node.items : (named ?? other);
  return next === undefined ? [] : alternatives(root, next);
}

function alternatives(root: JsonSchema, node: JsonSchema): JsonSchema[] {
  const referred = node.$ref === undefined ? undefined : root.$defs?.[node.$ref.replace('#/$defs/', '')];
  const branches = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  if (referred !== undefined) branches.push(referred);
  return [node, ...branches.flatMap((branch) => alternatives(root, branch))];
}
