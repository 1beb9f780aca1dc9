import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { StemmaError } from '../../base/errors.ts';
import { actionList } from './read-actions.ts';
import type { DemoScript } from './script.ts';
import { strayTemplates } from './templates.ts';

/**
 * Reads a script file. Throws `INVALID_CONFIG`, naming the file and the place in it, when it cannot be read, is not
 * JSON, or says something that no action means.
 */
export function readScript(file: string): DemoScript {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StemmaError('INVALID_CONFIG', `The demo script ${file} cannot be read: ${reasonOf(error)}`, {
      file,
    });
  }
  return parseScript(text, file);
}

/** The same for a text; `file` is what messages call it. */
export function parseScript(text: string, file: string): DemoScript {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const place = placeOf(reasonOf(error), text);
    throw new StemmaError('INVALID_CONFIG', `${file}${place.label} is not JSON: ${reasonOf(error)}`, {
      file,
      ...place.data,
    });
  }
  const parsed = scriptShape.safeParse(json);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `${pathOf(issue.path)}: ${issue.message}`);
  const key = pathOf(parsed.error.issues[0]?.path ?? []);
  throw new StemmaError('INVALID_CONFIG', `${file} is not a demo script:\n  ${lines.join('\n  ')}`, {
    file,
    key,
  });
}

const ruleShape = z
  .strictObject({
    when: z.string(),
    flags: z
      .string()
      .regex(/^[imsu]*$/, 'may hold i, m, s and u')
      .default('m'),
    times: z.int().positive().optional(),
    do: z.unknown().optional(),
  })
  .transform((rule, context) => {
    const when = compile(rule.when, rule.flags);
    if (!(when instanceof RegExp)) {
      context.addIssue({ code: 'custom', path: ['when'], message: when });
      return z.NEVER;
    }
    const actions = actionList(rule.do, ['do'], context);
    for (const stray of strayTemplates(rule.do, groupsOf(when))) {
      context.addIssue({ code: 'custom', path: ['do', ...stray.path], message: stray.message });
    }
    return { when, times: rule.times ?? Number.POSITIVE_INFINITY, actions };
  });

const listShape = z
  .unknown()
  .optional()
  .transform((value, context) => (value === undefined ? [] : actionList(value, [], context)));

const scriptShape = z
  .strictObject({
    $schema: z.string().optional(),
    name: z.string().default('demo'),
    offers: z
      .strictObject({ load: z.boolean().default(true), tools: z.boolean().default(true) })
      .prefault({}),
    onInitialize: listShape,
    onSession: listShape,
    onLoad: listShape,
    rules: z.array(ruleShape),
    otherwise: listShape,
  })
  .transform((script): DemoScript => {
    const { name, offers, onInitialize, onSession, onLoad, rules, otherwise } = script;
    return { name, offers, onInitialize, onSession, onLoad, rules, otherwise };
  });

function compile(source: string, flags: string): RegExp | string {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    return reasonOf(error);
  }
}

/** A pattern with an empty alternative matches the empty text, and its match has one entry for each group. */
function groupsOf(when: RegExp): number {
  return (new RegExp(`${when.source}|`, when.flags).exec('')?.length ?? 1) - 1;
}

function pathOf(path: readonly PropertyKey[]): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./, '') || 'the whole file';
}

/** V8 tells the offset only in its message, and not of every error; then its message quotes the place. */
function placeOf(reason: string, text: string): { label: string; data: { line?: number; column?: number } } {
  const offset = /at position (\d+)/.exec(reason)?.[1];
  if (offset === undefined) return { label: '', data: {} };
  const before = text.slice(0, Number(offset)).split('\n');
  const line = before.length;
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { label: `:${line}:${column}`, data: { line, column } };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
