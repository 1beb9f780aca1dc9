import type { z } from 'zod';
import { nearestSaid } from './issues.ts';

/** An issue of a schema with unions resolved to the branch that was probably meant. */
export interface SchemaIssue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly unknownKeys: readonly string[];
  /** What was probably meant, where a check knows it. */
  readonly nearest?: string;
}

type Issue = z.core.$ZodIssue;

/**
 * Turns nested issues into a flat list. A failed union of zod says only "invalid input"; what helps is what was wrong
 * in the one branch whose type fits. Where no branch fits, the types that would are named.
 */
export function flattenIssues(issues: readonly Issue[], base: readonly PropertyKey[] = []): SchemaIssue[] {
  return issues.flatMap((issue) => flattenIssue(issue, [...base, ...issue.path]));
}

function flattenIssue(issue: Issue, path: readonly PropertyKey[]): SchemaIssue[] {
  if (issue.code === 'unrecognized_keys') return [{ path, message: issue.message, unknownKeys: issue.keys }];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return flattenUnion(issue.errors, path);
  if (issue.code === 'invalid_key')
    return [{ path, message: firstMessage(issue.issues, issue.message), unknownKeys: [] }];
  const nearest = nearestSaid(issue);
  return [{ path, message: sentence(issue), unknownKeys: [], ...(nearest === undefined ? {} : { nearest }) }];
}

function flattenUnion(branches: readonly (readonly Issue[])[], path: readonly PropertyKey[]): SchemaIssue[] {
  const fitting = branches.filter((branch) => !branch.some(isWrongTypeHere));
  const [first, ...rest] = fitting;
  if (first) {
    const best = rest.reduce((chosen, branch) => (weight(branch) < weight(chosen) ? branch : chosen), first);
    return flattenIssues(best, path);
  }
  const expected = branches.flatMap((branch) => branch.filter(isWrongTypeHere)).map(expectation);
  return [{ path, message: `expected ${[...new Set(expected)].join(' or ')}`, unknownKeys: [] }];
}

// Unknown keys weigh most: the branch that knows the keys is the one the author had in mind.
function weight(branch: readonly Issue[]): number {
  return branch.reduce(
    (sum, issue) => sum + (issue.code === 'unrecognized_keys' ? 10 * issue.keys.length : 1),
    0,
  );
}

function isWrongTypeHere(issue: Issue): boolean {
  return issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
}

function expectation(issue: Issue): string {
  if (issue.code === 'invalid_type') return typeName(issue.expected);
  if (issue.code === 'invalid_value') return issue.values.map((value) => JSON.stringify(value)).join(' or ');
  return issue.message;
}

function sentence(issue: Issue): string {
  if (issue.code === 'invalid_type') {
    if (issue.input === undefined && /received undefined/.test(issue.message))
      return `missing; expected ${typeName(issue.expected)}`;
    const got = / received (.+)$/.exec(issue.message)?.[1];
    return `expected ${typeName(issue.expected)}${got ? `, found ${typeName(got)}` : ''}`;
  }
  if (issue.code === 'invalid_value') return `expected ${expectation(issue)}`;
  return issue.message.replace(/^Invalid input: /, '');
}

const typeNames: Readonly<Record<string, string>> = {
  object: 'a mapping (key: value)',
  record: 'a mapping (key: value)',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'nothing',
};

function typeName(expected: string): string {
  return typeNames[expected] ?? expected;
}

function firstMessage(issues: readonly Issue[], otherwise: string): string {
  return issues[0]?.message ?? otherwise;
}
