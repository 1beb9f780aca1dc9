import { assertNever } from '../base/assert-never.ts';
import type { Json } from '../base/json.ts';
import { dayInZone, inZone } from '../base/zoned-time.ts';
import type { StepState } from '../ledger/graph.ts';
import type { FileRead } from '../schedules/templates.ts';
import { fileText } from '../schedules/templates.ts';
import type { Reference, Target, ValuePath } from './reference.ts';

/** What the templates of a workflow stand for. Whoever fills in says what it has; nothing is read before it is asked for. */
export interface WorkflowValues {
  /** The instant that the workflow is for; UTC milliseconds. */
  readonly scheduledFor: number;
  /** An IANA zone. */
  readonly zone: string;
  readonly inputs: Readonly<Record<string, Json>>;
  /** The variables of the group; empty without one. */
  readonly group: Readonly<Record<string, string>>;
  /** A step of the same workflow as it is now; undefined: there is none of this name. */
  readonly step: (name: string) => StepValues | undefined | Promise<StepValues | undefined>;
  /** The row that a message of a `foreach` is for; undefined: there are no rows here. */
  readonly row?: Json;
  /** What the message before came to; null: there was none. Undefined: there are no messages here. */
  readonly previousResult?: string | null;
  /** What an evaluation scores; absent: nothing is scored here. */
  readonly of?: () => ScoredValues | undefined | Promise<ScoredValues | undefined>;
  /** A variable that this text may have, if there is one. */
  readonly env: (name: string) => string | undefined;
  /** A file below the working directory, whose path is relative. Never rejects. */
  readonly readFile: (path: string) => Promise<FileRead>;
}

/** What a step came to so far. */
export interface StepValues {
  readonly state: StepState;
  readonly result: string | null;
  readonly outputs: Readonly<Record<string, Json>>;
}

/** The closed execution that an evaluation scores. */
export interface ScoredValues {
  /** Where its record is; absolute. */
  readonly directory: string;
  readonly outcome: string;
  readonly result: string | null;
  /** The run that it was, or its execution where it was none. */
  readonly runId: string;
}

/**
 * What a template stands for. `absent`: there is no such value, which is another thing than an empty one. `failed`: there
 * should be one, and it cannot be had. `why` is a sentence.
 */
export type Resolved =
  | { readonly is: 'value'; readonly value: Json }
  | { readonly is: 'absent' | 'failed'; readonly why: string };

/** Looks up what a template stands for. Never rejects. */
export async function resolveReference(
  { target, name }: Reference,
  values: WorkflowValues,
): Promise<Resolved> {
  const found = await lookUp(target, values);
  return found.is === 'value' ? found : { ...found, why: `{{${name}}}: ${found.why}` };
}

async function lookUp(target: Target, values: WorkflowValues): Promise<Resolved> {
  switch (target.is) {
    case 'date':
      return value(dayInZone(values.scheduledFor, values.zone));
    case 'scheduledFor':
      return value(inZone(values.scheduledFor, values.zone));
    case 'previous':
      return orAbsent(values.previousResult, 'there was no message before.');
    case 'input':
      return within(values.inputs, [target.name], 'this input was not given, and has no default.');
    case 'group':
      return within(values.group, [target.name], 'the group has no such variable.');
    case 'stepField':
    case 'output':
      return ofStep(target, await values.step(target.step));
    case 'row':
      return within(values.row, target.path, 'the row has no such column.');
    case 'of':
      return orAbsent((await values.of?.())?.[target.field], 'nothing is scored here.');
    case 'env':
      return orAbsent(values.env(target.name), `there is no ${target.name} for it.`);
    case 'file':
      return ofFile(target.path, await values.readFile(target.path));
    default:
      return assertNever(target);
  }
}

function ofStep(
  target: Extract<Target, { is: 'stepField' | 'output' }>,
  step: StepValues | undefined,
): Resolved {
  if (!step) return { is: 'failed', why: `there is no step ${target.step}.` };
  const how = `step ${target.step} is ${step.state}, and`;
  if (target.is === 'output')
    return within(step.outputs, [target.output, ...target.path], `${how} left no such value.`);
  return target.field === 'state' ? value(step.state) : orAbsent(step.result, `${how} has no result.`);
}

function ofFile(path: string, read: FileRead): Resolved {
  const rendered = fileText(path, read);
  return rendered.ok ? value(rendered.text) : { is: 'failed', why: rendered.message };
}

/** Follows a path through a value of JSON; only what is the value's own is found. */
function within(whole: Json | undefined, path: ValuePath, why: string): Resolved {
  let at: Json | undefined = whole;
  for (const part of path) {
    if (Array.isArray(at)) at = (at as readonly Json[])[Number(part)];
    else if (typeof at === 'object' && at !== null && Object.hasOwn(at, part))
      at = (at as Readonly<Record<string, Json>>)[part];
    else at = undefined;
  }
  return at === undefined ? { is: 'absent', why } : value(at);
}

function orAbsent(found: string | null | undefined, why: string): Resolved {
  return found === undefined || found === null ? { is: 'absent', why } : value(found);
}

function value(found: Json): Resolved {
  return { is: 'value', value: found };
}
