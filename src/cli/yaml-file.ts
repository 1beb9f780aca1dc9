import { type Document, isCollection, isMap, LineCounter, parseDocument, type YAMLError } from 'yaml';
import type { z } from 'zod';
import { type ErrorCode, StemmaError } from '../base/errors.ts';
import { type InputIssue, joinPath } from '../contract/issues.ts';
import { findNearest } from '../base/nearest.ts';
import { keysAt } from '../contract/schema-keys.ts';
import { plainLine } from '../words/text.ts';
import { flattenIssues, type SchemaIssue } from '../contract/schema-issues.ts';
import { excerptOf } from './yaml-excerpt.ts';
import { deepestYaml, offsetOfTooDeep } from './yaml-depth.ts';
import { offsetsOfSecondKeys } from './yaml-keys.ts';
import { offsetOfKey, offsetOfValue } from './yaml-positions.ts';

/** One thing that is wrong in a file, and where: lines and columns count from 1. */
export interface YamlProblem {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The path of the key, as `schedules.nightly.messages[1].timeout`; empty for the document itself. */
  readonly key: string;
  readonly message: string;
  /** The valid key that was probably meant. */
  readonly nearest?: string;
  /** The line of the file with a caret below the place. */
  readonly excerpt: string;
}

export type YamlResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly [YamlProblem, ...YamlProblem[]] };

/** What YAML text says, before anybody has looked at whether it makes sense. */
export interface ReadYaml {
  readonly ok: true;
  /** Null for a file without content. */
  readonly value: unknown;
  /** What is wrong with it, in the order of the file; `keysAt` says which keys are valid in the mapping at a path. */
  explain(issues: readonly SchemaIssue[], keysAt: ValidKeys): readonly [YamlProblem, ...YamlProblem[]];
}

type ValidKeys = (path: readonly PropertyKey[]) => readonly string[];

/** Reads YAML 1.2 text. Never throws for what the text says: problems come back in the order of the file. */
export function readYaml(text: string, file: string): ReadYaml | Exclude<YamlResult<never>, { ok: true }> {
  const begun = new LineCounter();
  const deep = offsetOfTooDeep(text, begun.addNewLine);
  if (deep !== undefined)
    return { ok: false, problems: [problemAt({ file, text, lines: begun }, deep, '', tooDeep)] };
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, ...yamlOptions });
  const source: Source = { file, text, lines, document };
  const twice = document.errors.length > 0 ? [] : offsetsOfSecondKeys(document).slice(0, mostProblems);
  const [first, ...rest] = [
    ...document.errors.map((error) => syntaxProblem(source, error)),
    ...twice.map((offset) => problemAt(source, offset, '', secondKey)),
  ];
  if (first) return { ok: false, problems: [first, ...rest] };
  const read = plainValue(source);
  if (!read.ok) return read;
  return {
    ok: true,
    value: read.value ?? null,
    explain(issues, keysAt) {
      // Twice as many issues as are told, since one mistake may be several of them.
      const problems = schemaProblems(source, keysAt, issues.slice(0, 2 * mostProblems));
      const [worst, ...others] = problems.slice(0, mostProblems);
      return [worst ?? problemAt(source, 0, '', 'the file is not valid'), ...others];
    },
  };
}

/**
 * Reads YAML 1.2 text by a schema. Never throws for what the text says: problems come back in the order of the file.
 * A key that the schema does not know is a problem, since a misspelt `timeout` that is ignored costs a night.
 * `whenEmpty` stands for a file without content.
 */
export function parseYaml<S extends z.ZodType>(
  text: string,
  file: string,
  schema: S,
  whenEmpty?: unknown,
): YamlResult<z.output<S>> {
  const read = readYaml(text, file);
  if (!read.ok) return read;
  const parsed = schema.safeParse(read.value ?? whenEmpty ?? null);
  if (parsed.success) return { ok: true, value: parsed.data };
  const issues = flattenIssues(parsed.error.issues);
  return { ok: false, problems: read.explain(issues, (path) => keysAt(schema, path)) };
}

/**
 * The same error with the place of its key in the file: for what is known only when the file has been parsed, such as
 * which drivers there are. An error without a key, or whose key is not in the file, stays as it is.
 */
export function placedError(error: unknown, text: string, file: string): unknown {
  if (!(error instanceof StemmaError) || !placed.has(error.code)) return error;
  const { key, nearest, line, issues } = error.data;
  if (Array.isArray(issues)) return placedIssues(error, issues as readonly InputIssue[], text, file);
  const path = typeof key === 'string' && line === undefined ? pathOf(key) : undefined;
  if (path === undefined) return error;
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, ...yamlOptions });
  if (document.errors.length > 0 || !document.hasIn(path.slice(0, 2))) return error;
  const offset = offsetOfValue(document, path);
  const problem = problemAt({ file, text, lines }, offset, String(key), error.message);
  return invalidConfig([typeof nearest === 'string' ? { ...problem, nearest } : problem]);
}

// What is wrong with schedules is told by the server, or by whoever knows what else there is.
function placedIssues(
  error: StemmaError,
  issues: readonly InputIssue[],
  text: string,
  file: string,
): StemmaError {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, ...yamlOptions });
  const source = { file, text, lines, document };
  const problems = issues.flatMap(({ path, message, nearest }) => {
    const keys = document.errors.length > 0 ? undefined : pathInSchedules(document, path);
    if (keys === undefined) return [];
    const problem = problemAt(source, offsetOfValue(document, keys), path, `${path}: ${plainLine(message)}`);
    return nearest === undefined ? problem : { ...problem, nearest };
  });
  const [first, ...rest] = problems.sort((a, b) => a.line - b.line || a.column - b.column);
  return first && problems.length === issues.length ? invalidConfig([first, ...rest]) : error;
}

// `schedules.nightly.messages[1].text`, where the name may hold dots.
function pathInSchedules(document: Document.Parsed, path: string): (string | number)[] | undefined {
  const top = 'schedules';
  const map = document.get(top);
  if (!path.startsWith(`${top}.`) || !isMap(map)) return undefined;
  const rest = path.slice(top.length + 1);
  const names = map.items.map(({ key }) => String(key)).sort((a, b) => b.length - a.length);
  const name = names.find((each) => rest === each || rest.startsWith(`${each}.`));
  if (name === undefined) return undefined;
  const tail = [...rest.slice(name.length).matchAll(/([^.[\]]+)|\[(\d+)\]/g)];
  return [top, name, ...tail.map(([, key, index]) => key ?? Number(index))];
}

const placed: ReadonlySet<string> = new Set(['INVALID_CONFIG', 'INVALID_INPUT'] satisfies ErrorCode[]);

// A name may hold anything, also dots.
function pathOf(key: string): string[] | undefined {
  if (key === 'cwd') return [key];
  const [, name = '', last = ''] = /^agents\.(.+)\.([^.]+)$/.exec(key) ?? [];
  return name === '' ? undefined : ['agents', name, last];
}

/** The problems as text for a person: one paragraph each, with the excerpt. */
export function describeProblems(problems: readonly YamlProblem[]): string {
  const more = `At most ${mostProblems} mistakes are told at once.`;
  return [...problems.map(describeProblem), ...(problems.length < mostProblems ? [] : [more])].join('\n\n');
}

/** The error to throw for a file with problems: its data is that of the first one, its message shows all. */
export function invalidConfig(problems: readonly [YamlProblem, ...YamlProblem[]]): StemmaError {
  const { file, line, column, key, nearest: meant } = problems[0];
  const data = { file, line, column, key, ...(meant === undefined ? {} : { nearest: meant }) };
  return new StemmaError('INVALID_CONFIG', describeProblems(problems), { ...data, problems });
}

interface Source {
  readonly file: string;
  readonly text: string;
  readonly lines: LineCounter;
  readonly document: Document.Parsed;
}

/** How many mistakes of a file are told: the first ones. Each takes milliseconds to find its place and what was meant. */
const mostProblems = 50;
// The library's own warnings would go to stderr past us. Keys that stand twice: yaml-keys.ts.
const yamlOptions = { prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const;

function describeProblem(problem: YamlProblem): string {
  // What is wrong with a file as a whole has no place in it.
  if (problem.excerpt === '') return problem.message;
  const at = `${problem.file}:${problem.line}:${problem.column}`;
  return `${at}: ${problem.message}\n\n${problem.excerpt}`;
}

const secondKey = 'this is not valid YAML: Map keys must be unique';
const tooDeep = `this is nested more than ${deepestYaml} deep; what is meant to be used has a few levels.`;

function syntaxProblem(source: Source, error: YAMLError): YamlProblem {
  const isSecond = error.code === 'MULTIPLE_DOCS';
  const isNested = error.message.startsWith('Nested mappings are not allowed');
  const hint = isNested ? ' A text with ": " in it must be in quotes.' : '';
  const why = isSecond
    ? 'a second document begins here, and one is expected'
    : `${plainLine(error.message)}${hint}`;
  return problemAt(source, error.pos[0], '', `this is not valid YAML: ${why}`);
}

// Aliases can multiply a small file into gigabytes; the library stops at its own bound and throws.
function plainValue(source: Source): YamlResult<unknown> {
  try {
    return { ok: true, value: source.document.toJS() };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { ok: false, problems: [problemAt(source, 0, '', `this cannot be read: ${plainLine(message)}`)] };
  }
}

function schemaProblems(source: Source, keys: ValidKeys, issues: readonly SchemaIssue[]): YamlProblem[] {
  const texts = issues.flatMap((issue) => unquotedText(source, keys, issue) ?? []);
  const isText = (path: string): boolean =>
    texts.some(({ key }) => path === key || path.startsWith(`${key}.`));
  const unknown = issues
    .flatMap((issue) => unknownKeyProblems(source, keys, issue))
    .filter((problem) => !isText(problem.key));
  const meant = new Set(unknown.map((problem) => siblingPath(problem)));
  const others = issues
    .filter((issue) => issue.unknownKeys.length === 0)
    .map((issue) => valueProblem(source, issue))
    // `mesages` misspelt is also `messages` missing: one report is enough.
    .filter((problem) => !meant.has(problem.key) && !isText(problem.key));
  return distinct([...texts, ...unknown, ...others]).sort((a, b) => a.line - b.line || a.column - b.column);
}

// A mistake behind an anchor is found once for each alias.
function distinct(problems: readonly YamlProblem[]): YamlProblem[] {
  return [...new Map(problems.map((problem) => [describeProblem(problem), problem])).values()];
}

function unknownKeyProblems(source: Source, keys: ValidKeys, issue: SchemaIssue): YamlProblem[] {
  const valid = keys(issue.path);
  return issue.unknownKeys.map((key) => {
    const meant = findNearest(key, valid);
    const hint = meant === undefined ? listed(valid) : ` Did you mean "${meant}"?`;
    const path = [...issue.path, key];
    const message = `the key "${plainLine(key)}" is not known here.${key === mergeKey ? noMerge : hint}`;
    const problem = problemAt(source, offsetOfKey(source.document, path), pathText(path), message);
    return meant === undefined ? problem : { ...problem, nearest: meant };
  });
}

// The likeliest mistake in a list of texts: `- Note: this` is not a text but a mapping.
function unquotedText(source: Source, keys: ValidKeys, issue: SchemaIssue): YamlProblem | undefined {
  const [key, ...more] = issue.unknownKeys;
  if (key === undefined || key === mergeKey || more.length > 0 || typeof issue.path.at(-1) !== 'number')
    return undefined;
  if (findNearest(key, keys(issue.path)) !== undefined) return undefined;
  const item: unknown = source.document.getIn(issue.path, true);
  const isPair = isMap(item) && item.items.length === 1;
  if (!isPair || isCollection(item.items[0]?.value)) return undefined;
  const message = `${pathText(issue.path)}: a text with ": " in it reads as a mapping; put all of it in quotes.`;
  return problemAt(source, offsetOfKey(source.document, [...issue.path, key]), pathText(issue.path), message);
}

const mergeKey = '<<';
/** YAML 1.1 took over the keys of another mapping by this one. */
const noMerge =
  ' YAML 1.2 has no merging of mappings: write the keys out, or name a whole value by an alias (*NAME).';

function listed(valid: readonly string[]): string {
  return valid.length === 0 ? '' : ` Valid here: ${[...valid].sort().join(', ')}.`;
}

function valueProblem(source: Source, issue: SchemaIssue): YamlProblem {
  const name = pathText(issue.path);
  const message = name === '' ? issue.message : `${name}: ${issue.message}`;
  const problem = problemAt(source, offsetOfValue(source.document, issue.path), name, message);
  return issue.nearest === undefined ? problem : { ...problem, nearest: issue.nearest };
}

function siblingPath(problem: YamlProblem): string {
  const parent = problem.key.replace(/\.?[^.[\]]+$/, '');
  return parent === '' ? (problem.nearest ?? '') : `${parent}.${problem.nearest ?? ''}`;
}

function pathText(path: readonly PropertyKey[]): string {
  return plainLine(joinPath(path));
}

function problemAt(
  source: Omit<Source, 'document'>,
  offset: number,
  key: string,
  message: string,
): YamlProblem {
  const { line, col } = source.lines.linePos(offset);
  const place = { line: Math.max(1, line), column: Math.max(1, col) };
  return {
    file: source.file,
    ...place,
    key,
    message,
    excerpt: excerptOf(source.text, place.line, place.column),
  };
}
