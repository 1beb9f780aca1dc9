import { describeError, StemmaError } from '../base/errors.ts';
import type { InputIssue } from '../contract/issues.ts';
import { sayIssues } from '../contract/issues.ts';
import { problemMediaType } from '../contract/problem.ts';
import type { Problem } from '../contract/problem.ts';
import type { Answer } from './ports.ts';

/** Seconds after which a refused caller may try again: recovery and restarts are over within moments. */
const retryAfterSeconds = 1;

/** The wire form of an error; nothing of its cause or stack is in it. */
export function toProblem(error: StemmaError): Problem {
  const { status, title } = describeError(error.code);
  const { code, message: detail, data } = error;
  const isEmpty = Object.keys(data).length === 0;
  return { type: `urn:stemma:error:${code}`, title, status, code, detail, ...(isEmpty ? {} : { data }) };
}

/** The response for an error. */
export function problemResponse(error: StemmaError, more: Readonly<Record<string, string>> = {}): Response {
  const problem = toProblem(error);
  const headers = new Headers({ 'content-type': problemMediaType, ...more });
  if (problem.status === 503) headers.set('retry-after', String(retryAfterSeconds));
  if (problem.status === 401) headers.set('www-authenticate', 'Bearer realm="stemma"');
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** The value of an answer; a refusal is thrown, to be shown by the one error handler of the edge. */
export function valueOf<T>(answer: Answer<T>): T {
  if (answer.ok) return answer.value;
  throw new StemmaError(answer.code, answer.message, answer.data);
}

/** Throws `NOT_FOUND` for a thing that is not there (any more). */
export function present<T>(thing: T | undefined, id: string): T {
  if (thing === undefined) throw notFound(id);
  return thing;
}

/** Nothing has this id; of a word that is none, such as the name of a schedule, what an id is. */
export function notFound(id: string): StemmaError {
  const shown = id.length > 80 ? `${id.slice(0, 80)}…` : id;
  const advice = /^[a-z]{3}_/.test(id) ? '' : ' An id begins with exe_, run_ or the like; a name is none.';
  return new StemmaError('NOT_FOUND', `Nothing has the id ${JSON.stringify(shown)}.${advice}`, { id: shown });
}

/** The input is wrong; every field is named. `what`: body, query string. */
export function invalidInput(what: string, issues: readonly InputIssue[]): StemmaError {
  return new StemmaError('INVALID_INPUT', `The ${what} is not valid: ${sayIssues(issues)}.`, {
    issues: issues.slice(0, 50),
  });
}

/** The path exists, but not with this method. */
export function methodNotAllowed(method: string, allowed: readonly string[]): Response {
  const names = allowed.join(', ');
  const error = new StemmaError('METHOD_NOT_ALLOWED', `${method} is not possible here; allowed: ${names}.`, {
    allowed,
  });
  return problemResponse(error, { allow: names });
}
