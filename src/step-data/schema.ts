import { runInNewContext } from 'node:vm';
import type { ErrorObject } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Json } from '../base/json.ts';

/** How long one check may take, in milliseconds. The pattern of a schema may need for ever for a text made for it. */
const longestCheckMs = 500;
/** How long a schema may be, in UTF-16 units of its JSON. */
const longestSchema = 262_144;
/** How many schemas and other objects it may have within it: each is compiled. */
const mostParts = 2_000;
/** Compiled schemas that are kept: those that were used last. */
const mostKept = 100;
/** How many mistakes are told, and how much of a value is shown with one. */
const mostMistakes = 20;
const shownChars = 80;

const draft7 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;
const draft2020 = /^https?:\/\/json-schema\.org\/draft\/2020-12\/schema#?$/;

/** What is wrong with a JSON Schema, in sentences; empty: nothing. References may only point into the schema itself. */
export function problemsOfSchema(schema: Json): string[] {
  const compiled = compile(schema);
  return typeof compiled === 'string' ? [compiled] : [];
}

/**
 * What does not fit the schema: `PATH: what was expected`, one a line, at most `mostMistakes`; empty: it fits. A schema that
 * is itself wrong is one mistake that says so. A check that takes longer than `longestMs` is given up, and is one too.
 */
export function mistakesIn(value: Json, schema: Json, longestMs = longestCheckMs): string[] {
  const check = compile(schema);
  if (typeof check === 'string') return [`the schema is wrong, which the agent cannot mend: ${check}`];
  return withinTime(longestMs, () => (check(value) ? [] : told(check.errors ?? [], value)));
}

type Check = ReturnType<Ajv['compile']>;

interface Compiler {
  readonly ajv: Ajv;
  readonly warned: string[];
}

/** Making one costs much more than compiling a schema with it. */
const compilers = new Map<'old' | 'new', Compiler>();
const compiled = new Map<string, Check | string>();

function compilerOf(which: 'old' | 'new'): Compiler {
  const known = compilers.get(which);
  if (known) return known;
  const made = newCompiler(which);
  compilers.set(which, made);
  return made;
}

function newCompiler(which: 'old' | 'new'): Compiler {
  const warned: string[] = [];
  const logger = {
    log: () => undefined,
    warn: (text: string) => warned.push(text),
    error: () => undefined,
  };
  const options = { allErrors: true, strict: false, logger } as const;
  const ajv = which === 'old' ? new Ajv(options) : new Ajv2020(options);
  formats.default(ajv);
  return { ajv, warned };
}

function compile(schema: Json): Check | string {
  const text = JSON.stringify(schema);
  if (text.length > longestSchema) return `A schema may have at most ${longestSchema} characters.`;
  if (text.split('{').length > mostParts) return `A schema may have at most ${mostParts} parts.`;
  const known = compiled.get(text);
  if (known !== undefined) return known;
  const made = compileAnew(schema, text.includes('"$id"'));
  const oldest = compiled.keys().next().value;
  if (compiled.size >= mostKept && oldest !== undefined) compiled.delete(oldest);
  compiled.set(text, made);
  return made;
}

// A compiler keeps the ids of what it compiles, also within a schema, and its own schemas go by such ids too: what has one gets a
// compiler of its own.
function compileAnew(schema: Json, hasId: boolean): Check | string {
  const dialect =
    typeof schema === 'object' && schema !== null && '$schema' in schema ? schema.$schema : null;
  const isOld = typeof dialect === 'string' && draft7.test(dialect);
  if (dialect !== null && !isOld && !(typeof dialect === 'string' && draft2020.test(dialect)))
    return `"$schema": ${JSON.stringify(dialect)} is not known; known are 2020-12 (the usual one) and draft-07.`;
  const which = isOld ? 'old' : 'new';
  const { ajv, warned } = hasId ? newCompiler(which) : compilerOf(which);
  warned.length = 0;
  // What it remembers of a schema would stay for ever.
  const own = typeof schema === 'object' && schema !== null ? structuredClone(schema) : schema;
  try {
    const check = ajv.compile(own as object | boolean);
    const unknown = warned.find((text) => text.includes('format'));
    return unknown === undefined ? check : `${unknown.replace(' ignored in schema', '')}.`;
  } catch (thrown) {
    return reasonOf((thrown as Error).message);
  } finally {
    if (typeof own === 'object' && own !== null) ajv.removeSchema(own);
  }
}

function reasonOf(message: string): string {
  const remote = /^can't resolve reference (\S+)/.exec(message)?.[1];
  if (remote === undefined) return `${message}.`;
  return `"$ref": "${remote}" points at nothing in this schema; nothing is fetched from elsewhere: put it into "$defs".`;
}

/** Runs it in this thread and gives it up when it takes too long: also in the middle of a regular expression. */
function withinTime(longestMs: number, work: () => string[]): string[] {
  try {
    return runInNewContext('work()', { work }, { timeout: longestMs }) as string[];
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw thrown;
    return [
      `the check took longer than ${longestMs} ms and was given up: a pattern of the schema is too slow for this text, or it is too much.`,
    ];
  }
}

function told(errors: readonly ErrorObject[], value: Json): string[] {
  // A choice that does not fit tells every branch; that none of them fits is said last, and alone it says little.
  const lines = [...new Set(errors.map((error) => lineOf(error, value)))];
  if (lines.length <= mostMistakes) return lines;
  return [...lines.slice(0, mostMistakes), `… and ${lines.length - mostMistakes} more.`];
}

function lineOf(error: ErrorObject, value: Json): string {
  const keys = error.instancePath.split('/').slice(1).map(unescape);
  const at = valueAt(value, keys);
  return `${pathOf(keys)}: ${whatOf(error)}${isMissing(error) ? '' : `, and is ${shown(at)}`}`;
}

function isMissing({ keyword }: ErrorObject): boolean {
  return keyword === 'required' || keyword === 'additionalProperties' || keyword === 'unevaluatedProperties';
}

function whatOf({ keyword, params, message = 'does not fit' }: ErrorObject): string {
  if (keyword === 'required') return `"${params['missingProperty']}" is missing`;
  if (keyword === 'additionalProperties') return `"${params['additionalProperty']}" may not be there`;
  if (keyword === 'unevaluatedProperties') return `"${params['unevaluatedProperty']}" may not be there`;
  if (keyword === 'enum') return `must be one of ${shown(params['allowedValues'] as Json, 400)}`;
  return keyword === 'const' ? `must be ${shown(params['allowedValue'] as Json)}` : message;
}

function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~');
}

function pathOf(keys: readonly string[]): string {
  const parts = keys.map((key) =>
    /^\d+$/.test(key) ? `[${key}]` : /^[A-Za-z_]\w*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`,
  );
  return `$${parts.join('')}`;
}

function valueAt(value: Json, keys: readonly string[]): Json | undefined {
  let at: Json | undefined = value;
  for (const key of keys)
    at = typeof at === 'object' && at !== null ? (at as Readonly<Record<string, Json>>)[key] : undefined;
  return at;
}

function shown(value: Json | undefined, limit = shownChars): string {
  if (value === undefined) return 'missing';
  const text = JSON.stringify(value);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}
