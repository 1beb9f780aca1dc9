import type { z } from 'zod';
import { findNearest } from '../base/nearest.ts';
import { keysAt } from './schema-keys.ts';

/** What is wrong with an input: where, in words, and the valid word that was probably meant. */
export interface InputIssue {
  /** `messages[1].timeout`; empty for the whole input. */
  readonly path: string;
  readonly message: string;
  readonly nearest?: string;
}

export type Parsed<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: readonly InputIssue[] };

/** Parses by a schema. Never throws; wrong input comes back as issues that name every field. */
export function parseInput<S extends z.ZodType>(schema: S, input: unknown): Parsed<z.output<S>> {
  const result = schema.safeParse(input, { reportInput: true });
  return result.success
    ? { ok: true, value: result.data }
    : { ok: false, issues: explainIssues(result.error.issues, schema) };
}

/** Turns the issues of zod into sentences; `schema` is the one that was used, to know which keys are valid. */
export function explainIssues(issues: readonly z.core.$ZodIssue[], schema: z.ZodType): InputIssue[] {
  const all = flatten(issues, []).flatMap(({ issue, path }) => explain(issue, path, schema));
  // Two rules may say the same of one value: an empty text is too short, and it is blank.
  return [...new Map(all.map((issue) => [JSON.stringify([issue.path, issue.message]), issue])).values()];
}

/** All issues in one sentence, for a `detail`: `message: expected string; timout: unknown key, did you mean "timeout"?`. */
export function sayIssues(issues: readonly InputIssue[]): string {
  const said = issues
    .slice(0, 10)
    .map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
  if (issues.length > said.length) said.push(`and ${issues.length - said.length} more`);
  return said.join('; ');
}

/** `['messages', 1, 'text']` → `messages[1].text`. */
export function joinPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}

type Path = readonly PropertyKey[];
interface Located {
  readonly issue: z.core.$ZodIssue;
  readonly path: Path;
}

function flatten(issues: readonly z.core.$ZodIssue[], base: Path): Located[] {
  return issues.flatMap((issue) => {
    const path = [...base, ...issue.path];
    if (issue.code !== 'invalid_union') return [{ issue, path }];
    const branch = chooseBranch(issue.errors);
    return branch ? flatten(branch, path) : [{ issue, path }];
  });
}

// Of a text or a mapping, the author meant the one whose type fits; "invalid input" would help nobody.
function chooseBranch(
  branches: readonly (readonly z.core.$ZodIssue[])[],
): readonly z.core.$ZodIssue[] | undefined {
  const fitting = branches.filter((branch) => !branch.some(isOfAnotherType));
  return fitting.toSorted((a, b) => a.length - b.length)[0];
}

function isOfAnotherType(issue: z.core.$ZodIssue): boolean {
  return issue.path.length === 0 && issue.code === 'invalid_type';
}

function explain(issue: z.core.$ZodIssue, path: Path, schema: z.ZodType): InputIssue[] {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, path, schema));
  const message = sentence(issue);
  const words = issue.code === 'invalid_value' ? issue.values.map(String) : [];
  const nearest =
    nearestSaid(issue) ?? (typeof issue.input === 'string' ? findNearest(issue.input, words) : undefined);
  return [{ path: joinPath(path), message, ...(nearest === undefined ? {} : { nearest }) }];
}

/** What a check of ours says was probably meant: it knows more words than the schema does. */
export function nearestSaid(issue: z.core.$ZodIssue): string | undefined {
  const nearest: unknown = issue.code === 'custom' ? issue.params?.['nearest'] : undefined;
  return typeof nearest === 'string' ? nearest : undefined;
}

function unknownKey(key: string, path: Path, schema: z.ZodType): InputIssue {
  const shown = key.length > 60 ? `${key.slice(0, 60)}…` : key;
  const known = keysAt(schema, path);
  const nearest = findNearest(key, known);
  const hint =
    nearest === undefined ? `known are ${known.join(', ') || 'none'}` : `did you mean "${nearest}"?`;
  const at = joinPath([...path, shown]);
  return {
    path: at,
    message: `unknown key "${shown}"; ${hint}`,
    ...(nearest === undefined ? {} : { nearest }),
  };
}

function sentence(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing; expected ${issue.expected}`
        : `expected ${issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`;
    case 'invalid_union':
      return `expected ${[...new Set(issue.errors.flatMap(expectedTypes))].join(' or ')}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

function expectedTypes(branch: readonly z.core.$ZodIssue[]): string[] {
  return branch.flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
}
