import { findNearest } from '../base/nearest.ts';
import type { WorkflowIssue } from './read-file.ts';

/** Something wrong at a key. */
export function issueAt(path: readonly PropertyKey[], message: string, nearest?: string): WorkflowIssue {
  return { path, message, unknownKeys: [], ...(nearest === undefined ? {} : { nearest }) };
}

/** The name that was probably meant. Of very many only the first are looked at: each look takes its time. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  return findNearest(name, known.slice(0, mostCandidates));
}

const mostCandidates = 500;

/** How many mistakes of one file are looked for. */
export const mostIssues = 100;

/** What is wrong with each of some things, until that is enough. */
export function issuesOfEach<T>(
  things: Iterable<T>,
  issuesOf: (thing: T) => readonly WorkflowIssue[],
): WorkflowIssue[] {
  const found: WorkflowIssue[] = [];
  for (const thing of things) {
    if (found.length >= mostIssues) break;
    found.push(...issuesOf(thing));
  }
  return found;
}

/** A name that nothing has, with the one that was probably meant; `what`: "there is no step". */
export function unknownName(
  path: readonly PropertyKey[],
  what: string,
  name: string,
  known: Iterable<string>,
): WorkflowIssue {
  const all = [...known];
  const nearest = nearestOf(name, all);
  const there = all.length === 0 ? 'there are none' : `there are ${all.slice(0, 20).join(', ')}`;
  const hint = nearest === undefined ? there : `did you mean "${nearest}"?`;
  return issueAt(path, `${what} "${name}"; ${hint}`, nearest);
}
