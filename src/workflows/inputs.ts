import { findNearest } from '../base/nearest.ts';
import type { Json } from '../base/json.ts';
import type { WorkflowInputSaid } from '../contract/workflow-file.ts';
import { fillText, textOfValue } from './texts.ts';
import type { WorkflowValues } from './values.ts';

/** The inputs of a launch, complete; or everything that is wrong with what was given, each by its field. */
export type ResolvedInputs =
  | { readonly ok: true; readonly inputs: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly issues: readonly InputProblem[] };

/** What is wrong with an input; the path is `inputs.NAME`. */
export interface InputProblem {
  readonly path: string;
  readonly message: string;
  readonly nearest?: string;
}

/** How long a value may be, in UTF-16 units: it stands in environments, which are bounded. */
const longestValue = 100_000;

/**
 * Completes what was given by the defaults, whose templates are filled in with `values`. Numbers and truth may be given as
 * texts. What is neither given nor has a default is left out: absent is not empty.
 */
export async function resolveInputs(
  said: Readonly<Record<string, WorkflowInputSaid>>,
  given: Readonly<Record<string, Json>>,
  values: WorkflowValues,
): Promise<ResolvedInputs> {
  const names = Object.keys(said);
  const issues: InputProblem[] = Object.keys(given).flatMap((name) =>
    Object.hasOwn(said, name) ? [] : [unknownInput(name, names)],
  );
  const inputs: [string, Json][] = [];
  for (const [name, input] of Object.entries(said)) {
    const value = Object.hasOwn(given, name) ? { is: given[name] } : await defaultOf(input, values);
    const read = 'problem' in value ? value : readInput(input, value.is);
    if (typeof read === 'object') issues.push({ path: `inputs.${name}`, message: read.problem });
    else if (read !== undefined) inputs.push([name, read]);
  }
  return issues.length > 0 ? { ok: false, issues } : { ok: true, inputs: Object.fromEntries(inputs) };
}

interface Problem {
  readonly problem: string;
}

async function defaultOf(
  { default: said }: WorkflowInputSaid,
  values: WorkflowValues,
): Promise<{ readonly is: Json | undefined } | Problem> {
  if (typeof said !== 'string') return { is: said };
  const filled = await fillText(said, values);
  return filled.ok ? { is: filled.text } : { problem: filled.message };
}

function readInput(
  { type = 'string', required = false, enum: allowed = [] }: WorkflowInputSaid,
  value: Json | undefined,
): string | number | boolean | undefined | Problem {
  if (value === undefined || value === null) return required ? { problem: 'must be given' } : undefined;
  if (typeof value === 'object') return { problem: `expected a ${type}` };
  const read = asType(type, value);
  if (read === undefined) return { problem: `expected a ${type}, found ${clip(JSON.stringify(value))}` };
  if (typeof read === 'string' && read.length > longestValue)
    return { problem: `is longer than ${longestValue} characters; write it to a file and give its path` };
  if (typeof read === 'string' && read.includes('\0')) return { problem: 'contains a NUL character' };
  if (allowed.length === 0 || allowed.some((each) => each === read)) return read;
  const nearest = findNearest(String(read), allowed.map(String));
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  return { problem: `must be one of ${allowed.map(textOfValue).join(', ')}${hint}` };
}

function asType(
  type: NonNullable<WorkflowInputSaid['type']>,
  value: string | number | boolean,
): string | number | boolean | undefined {
  if (type === 'string') return String(value);
  if (typeof value === type) return value;
  if (typeof value !== 'string') return undefined;
  if (type === 'boolean') return value === 'true' || value === 'false' ? value === 'true' : undefined;
  const number = value.trim() === '' ? Number.NaN : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function unknownInput(name: string, names: readonly string[]): InputProblem {
  const nearest = findNearest(name, names);
  const there = names.length === 0 ? 'the workflow has none' : `there are ${names.slice(0, 20).join(', ')}`;
  const hint = nearest === undefined ? there : `did you mean "${nearest}"?`;
  const message = `there is no such input; ${hint}`;
  return { path: `inputs.${clip(name)}`, message, ...(nearest === undefined ? {} : { nearest }) };
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
