import { findNearest } from '../base/nearest.ts';
import type { EnvPart, FilePart, NameIssue, ParsedTemplate, PlainPart } from '../schedules/templates.ts';
import { readPath, readVariable, takeApart, unknownName } from '../schedules/templates.ts';

/** The way to a value within a value of JSON: names of keys, and indexes of lists. */
export type ValuePath = readonly (string | number)[];

/** What a template of a workflow means. */
export type Target =
  | { readonly is: 'date' | 'scheduledFor' | 'previous' }
  | { readonly is: 'input' | 'group'; readonly name: string }
  | { readonly is: 'stepField'; readonly step: string; readonly field: StepField }
  | { readonly is: 'output'; readonly step: string; readonly output: string; readonly path: ValuePath }
  | { readonly is: 'row'; readonly path: ValuePath }
  | { readonly is: 'of'; readonly field: OfField }
  | EnvPart
  | FilePart;

/** A template within a text or a condition. */
export interface Reference {
  readonly is: 'reference';
  /** As it is written, without its braces. */
  readonly name: string;
  readonly target: Target;
  /** What stands there when there is no value; null: then there is no text. */
  readonly otherwise: string | null;
}

type StepField = 'result' | 'state';
type OfField = 'directory' | 'outcome' | 'result' | 'runId';

const longestPath = 20;
const stepFields: readonly StepField[] = ['result', 'state'];
const ofFields: readonly OfField[] = ['directory', 'outcome', 'result', 'runId'];
const allNames = [
  'inputs.NAME',
  'group.NAME',
  'steps.NAME.result',
  'steps.NAME.outputs.KEY',
  'steps.NAME.state',
  'row.COLUMN',
  'date',
  'scheduledFor',
  'previous.result',
  'of.directory',
  'env.NAME',
  'file:PATH',
] as const;
const heads = new Map(allNames.map((name) => [name.split(/[.:]/, 1)[0] ?? name, name]));

/** Takes a text of a workflow apart; every mistake is an issue. */
export function parseText(text: string): ParsedTemplate<Reference | PlainPart> {
  return takeApart(text, readReference);
}

/** Reads what stands between the braces: a name, and what stands there when it has no value, as in `NAME ?? "nothing"`. */
export function readReference(name: string): Reference | NameIssue {
  const [, said = name, fallback] = /^([^]*?)\s*\?\?\s*([^]*)$/.exec(name) ?? [];
  const otherwise = fallback === undefined ? null : quoted(fallback);
  if (otherwise === undefined)
    return { message: `{{${clip(name)}}}: behind "??" there must be a text in quotes, as in ?? "nothing".` };
  const target = readTarget(said);
  return 'message' in target ? target : { is: 'reference', name: said, target, otherwise };
}

function quoted(text: string): string | undefined {
  const [, mark, inner] = /^(["'])([^]*)\1$/.exec(text) ?? [];
  return mark === undefined || inner === undefined || inner.includes(mark) ? undefined : inner;
}

function readTarget(name: string): Target | NameIssue {
  if (name === 'date' || name === 'scheduledFor') return { is: name };
  if (name === 'previous.result') return { is: 'previous' };
  if (name.startsWith('env.')) return readVariable(name.slice('env.'.length));
  if (name.startsWith('file:')) return readPath(name.slice('file:'.length).trim());
  const path = parsePath(name);
  if (path === undefined)
    return { message: `{{${clip(name)}}} is no name; write for example {{inputs.day}}.` };
  const [head, ...rest] = path;
  switch (head) {
    case 'inputs':
    case 'group':
      return ofOneName(head, rest) ?? notSo(name, head);
    case 'steps':
      return ofStep(rest) ?? notSo(name, 'steps');
    case 'row':
      return { is: 'row', path: rest };
    case 'of': {
      const field = rest.length === 1 ? ofFields.find((known) => known === rest[0]) : undefined;
      return field ? { is: 'of', field } : notSo(name, 'of', ofFields);
    }
    default:
      return unknownHead(name, String(head));
  }
}

function ofOneName(head: 'inputs' | 'group', [name, ...more]: ValuePath): Target | undefined {
  if (typeof name !== 'string' || more.length > 0) return undefined;
  return { is: head === 'inputs' ? 'input' : 'group', name };
}

function ofStep([step, field, output, ...path]: ValuePath): Target | undefined {
  if (typeof step !== 'string') return undefined;
  if (field === 'outputs')
    return typeof output === 'string' ? { is: 'output', step, output, path } : undefined;
  const known = stepFields.find((each) => each === field);
  return known && output === undefined ? { is: 'stepField', step, field: known } : undefined;
}

function notSo(
  name: string,
  head: string,
  fields: readonly string[] = [...stepFields, 'outputs'],
): NameIssue {
  const forms = allNames.filter((known) => known.startsWith(`${head}.`)).map((known) => `{{${known}}}`);
  const last = /[^.]+$/.exec(name)?.[0] ?? '';
  const meant = findNearest(last, fields);
  const hint = head === 'of' ? ofFields.map((field) => `{{of.${field}}}`) : forms;
  const message = `{{${clip(name)}}} names nothing; write ${hint.join(', ')}.`;
  return meant === undefined ? { message } : { message, nearest: name.slice(0, -last.length) + meant };
}

// Of a name with parts only the first is mistyped as a rule; the rest is kept.
function unknownHead(name: string, head: string): NameIssue {
  const meant = findNearest(head, heads.keys());
  if (meant === undefined || meant === head) return unknownName(name, allNames);
  const rest = name.slice(head.length);
  const whole = rest === '' ? (heads.get(meant) ?? meant) : `${meant}${rest}`;
  const message = `there is no template {{${clip(name)}}}; did you mean {{${clip(whole)}}}? Write "\\{{" for two braces.`;
  return { message, nearest: whole };
}

/** `steps.fix.outputs.data.items[0]["a name"]` → its parts; undefined when it is no such path. */
function parsePath(text: string): ValuePath | undefined {
  const parts: (string | number)[] = [];
  const part = /(?:^|\.)([\p{L}\p{N}_-]+)|\[(\d{1,9})\]|\["([^"]*)"\]|\['([^']*)'\]/uy;
  while (part.lastIndex < text.length) {
    const found = part.exec(text);
    if (!found || parts.length >= longestPath) return undefined;
    const [, plain, index, double, single] = found;
    parts.push(index === undefined ? (plain ?? double ?? single ?? '') : Number(index));
  }
  return parts.length === 0 ? undefined : parts;
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
