import { resolve } from 'node:path';
import type { Json } from '../base/json.ts';
import type { Refusal } from '../ledger/decision.ts';
import { refuse } from '../ledger/decision.ts';
import type { GraphSettings, NewGraph, WorkflowCall } from '../ledger/graph.ts';
import type { StepPlan } from '../ledger/step-plan.ts';
import type { InputProblem } from './inputs.ts';
import { resolveInputs } from './inputs.ts';
import { unknownName } from './issue.ts';
import { budgetOf } from './planned-message.ts';
import type { WorkflowRequest } from './port.ts';
import type { ReadWorkflow } from './read-file.ts';
import { stepPlansOf } from './step-plans.ts';
import { fillText } from './texts.ts';
import type { WorkflowValues } from './values.ts';

/** A file without mistakes, and where it belongs. */
export interface SoundWorkflow {
  readonly project: string;
  readonly name: string;
  readonly file: ReadWorkflow;
  /** From where its relative directories are meant; absolute. */
  readonly directory: string;
  /** Whether it belongs to whoever owns the server. */
  readonly isFromFile: boolean;
  /** A variable of the environment that defaults of inputs may name. */
  readonly env: (name: string) => string | undefined;
  /** What scores it, defined already; null: nothing does. */
  readonly evaluation: WorkflowCall | null;
}

/** A workflow as it is kept for the whole run of it. Refuses with `INVALID_INPUT` for a group, an input or a step that is not there. */
export async function callOf(
  sound: SoundWorkflow,
  request: WorkflowRequest,
): Promise<{ readonly ok: true; readonly value: WorkflowCall } | Refusal> {
  const { head } = sound.file;
  const groups = head.groups ?? {};
  const group = request.group ?? null;
  const variables = group === null ? {} : Object.hasOwn(groups, group) ? groups[group] : undefined;
  if (group !== null && variables === undefined) return noGroup(sound.name, group, Object.keys(groups));
  const values = valuesAtLaunch(sound, request, variables ?? {});
  const resolved = await resolveInputs(head.inputs ?? {}, request.inputs ?? {}, values);
  if (!resolved.ok) return invalid(resolved.issues);
  const { inputs } = resolved;
  const isForEach = group === null && Object.keys(groups).length > 0;
  const all = isForEach ? stepsOfGroups(sound, request, inputs) : stepPlansOf(sound.file);
  const steps = stepsWanted(all, request.step);
  if ('ok' in steps) return steps;
  const cwd = await cwdOf(sound, isForEach, { ...values, inputs });
  if (typeof cwd !== 'string') return cwd;
  const graph: NewGraph = {
    project: sound.project,
    workflow: sound.name,
    group,
    inputs,
    settings: settingsOf(sound, request, { cwd, variables: variables ?? {}, isForEach }),
    of: null,
    resumes: null,
    steps,
    reused: [],
  };
  const timeoutMs = head.timeout ?? null;
  const budget = head.budget ? budgetOf(head.budget) : null;
  return { ok: true, value: { workflow: sound.name, group, graph, timeoutMs, budget } };
}

function settingsOf(
  { file, evaluation, isFromFile, directory }: SoundWorkflow,
  { instant, step, file: sent }: WorkflowRequest,
  { cwd, variables, isForEach }: Pick<GraphSettings, 'cwd' | 'variables'> & { readonly isForEach: boolean },
): GraphSettings {
  const { head } = file;
  return {
    agent: head.agent ?? null,
    cwd,
    base: directory,
    // It cannot be had again by its name, as each of its groups would.
    ...(isForEach && sent ? { file: sent } : {}),
    variables,
    env: isForEach ? {} : (head.env ?? {}),
    failFast: isForEach ? false : (head.failFast ?? false),
    // Each group is a run of its own, and is scored by itself.
    evaluation: isForEach ? null : evaluation,
    // What the whole gives is made of steps that are not there when only one is wanted.
    outputs: isForEach || step !== undefined ? {} : (head.outputs ?? {}),
    timezone: head.timezone ?? 'UTC',
    instant,
    isFromFile,
  };
}

/** One step for each group, side by side: nobody else has to know of groups. */
function stepsOfGroups(
  { name, file }: SoundWorkflow,
  { evaluation }: WorkflowRequest,
  inputs: Readonly<Record<string, Json>>,
): StepPlan[] {
  // By their templates: a value that was given is never read as one.
  const given = Object.fromEntries(Object.keys(inputs).map((input) => [input, `{{inputs.${input}}}`]));
  return Object.keys(file.head.groups ?? {}).map((group) => ({
    name: group,
    needs: [],
    when: null,
    retry: null,
    timeoutMs: null,
    onFailure: 'stop',
    outputs: {},
    repairs: 0,
    budget: null,
    does: {
      type: 'workflow',
      workflow: name,
      group,
      inputs: given,
      ...(evaluation === false ? { evaluation } : {}),
    },
  }));
}

/** One step alone needs nothing: whoever asks for it knows that what it needs is there. */
function stepsWanted(steps: readonly StepPlan[], wanted: string | undefined): readonly StepPlan[] | Refusal {
  if (wanted === undefined) return steps;
  const found = steps.find(({ name }) => name === wanted);
  if (found) return [{ ...found, needs: [] }];
  const names = steps.map(({ name }) => name);
  const { message, nearest } = unknownName(['step'], 'there is no step', wanted, names);
  return invalid([{ path: 'step', message, ...(nearest === undefined ? {} : { nearest }) }]);
}

async function cwdOf(
  { file, directory }: SoundWorkflow,
  isForEach: boolean,
  values: WorkflowValues,
): Promise<string | Refusal> {
  // What each group makes of it, it makes itself.
  if (isForEach || file.head.cwd === undefined) return directory;
  const filled = await fillText(file.head.cwd, values);
  return filled.ok ? resolve(directory, filled.text) : invalid([{ path: 'cwd', message: filled.message }]);
}

function valuesAtLaunch(
  { file, env }: SoundWorkflow,
  { instant }: WorkflowRequest,
  group: Readonly<Record<string, string>>,
): WorkflowValues {
  const zone = file.head.timezone ?? 'UTC';
  return {
    scheduledFor: instant,
    zone,
    inputs: {},
    group,
    step: () => undefined,
    env,
    readFile: async () => ({ ok: false, why: 'files are not read before a step begins' }),
  };
}

function noGroup(workflow: string, group: string, groups: readonly string[]): Refusal {
  const { message, nearest } = unknownName(['group'], `"${workflow}" has no group`, group, groups);
  return invalid([{ path: 'group', message, ...(nearest === undefined ? {} : { nearest }) }]);
}

function invalid(issues: readonly InputProblem[]): Refusal {
  const said = issues.slice(0, 10).map(({ path, message }) => `${path}: ${message}`);
  const [first] = issues;
  const nearest = first?.nearest;
  return refuse('INVALID_INPUT', `${said.join('; ').replace(/\.$/, '')}.`, {
    issues,
    ...(nearest === undefined ? {} : { nearest }),
  });
}
