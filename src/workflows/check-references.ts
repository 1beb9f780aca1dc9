import type { StepInput } from '../contract/workflow-steps.ts';
import type { WorkflowFacts } from './facts.ts';
import { nearestOf } from './issue.ts';
import type { Upstream } from './needs.ts';
import type { ReadWorkflow } from './read-file.ts';
import type { Reference, Target } from './reference.ts';

/** Where a template stands, and what there is to name. */
export interface Scope {
  readonly file: ReadWorkflow;
  readonly facts: WorkflowFacts;
  readonly upstream: Upstream;
  /** `default`: of an input. `head`: of the whole, before any step. `end`: when every step has ended. */
  readonly at: 'default' | 'head' | 'step' | 'end';
  /** The step that it belongs to. */
  readonly step?: string;
  readonly of?: 'message' | 'messageOfRow';
}

/** What is wrong with what a template names, behind its name. */
export interface ReferenceIssue {
  readonly message: string;
  readonly nearest?: string;
}

/** What is wrong with what a template names; undefined when it is there. */
export function checkReference({ target }: Reference, scope: Scope): ReferenceIssue | undefined {
  switch (target.is) {
    case 'input':
      return checkInput(target.name, scope);
    case 'group':
      return checkGroup(target.name, scope);
    case 'stepField':
    case 'output':
      return checkStep(target, scope);
    case 'row':
      return scope.of === 'messageOfRow' ? undefined : no('rows are for messages of a step with foreach');
    case 'previous':
      return scope.of ? undefined : no('only the messages of a sequence have one before them');
    case 'of':
      return scope.file.head.of === undefined && !scope.file.broken.has('of')
        ? no('nothing is scored here; an evaluation says "of: run"')
        : undefined;
    default:
      return undefined;
  }
}

function checkInput(name: string, { at, file }: Scope): ReferenceIssue | undefined {
  if (at === 'default') return no('a default is known before any input');
  const known = Object.keys(file.head.inputs ?? {});
  if (file.broken.has('inputs') || known.includes(name)) return undefined;
  return missing('there is no input', name, known, (each) => `inputs.${each}`);
}

function checkGroup(name: string, { file }: Scope): ReferenceIssue | undefined {
  if (file.broken.has('groups')) return undefined;
  const groups = Object.entries(file.head.groups ?? {});
  if (groups.length === 0) return no('this workflow has no groups');
  const lacking = groups.find(([, variables]) => !Object.hasOwn(variables, name));
  if (!lacking) return undefined;
  const known = [...new Set(groups.flatMap(([, variables]) => Object.keys(variables)))];
  if (!known.includes(name)) return missing('no group has', name, known, (each) => `group.${each}`);
  return no(`the group "${lacking[0]}" has no "${name}"`);
}

function checkStep(
  target: Extract<Target, { is: 'stepField' | 'output' }>,
  scope: Scope,
): ReferenceIssue | undefined {
  const { file, at, step: own, upstream } = scope;
  const { step: name } = target;
  if (at === 'default' || at === 'head') return no('no step has begun when this is read');
  if (!file.names.has(name)) return missing('there is no step', name, file.names, (each) => `steps.${each}`);
  if (name === own) return no('this is the step itself');
  const step = file.steps.get(name);
  if (!step) return undefined;
  const isOwnRead = own !== undefined && file.steps.has(own);
  if (isOwnRead && !upstream.isBefore(name, own) && !upstream.isInCircle(own))
    return no(`"${name}" need not have ended before "${own}" begins; add it to the needs of "${own}"`);
  return target.is === 'output' ? checkOutput(target.output, name, step, scope.facts) : undefined;
}

function checkOutput(
  output: string,
  name: string,
  step: StepInput,
  facts: WorkflowFacts,
): ReferenceIssue | undefined {
  const known = outputsOf(step, facts);
  if (known === undefined || known.includes(output)) return undefined;
  const nearest = nearestOf(output, known);
  const hint = nearest === undefined ? said(known) : `did you mean "${nearest}"?`;
  const message = `nobody makes it: step "${name}" has no output "${output}"; ${hint}`;
  return { message, ...(nearest === undefined ? {} : { nearest: `steps.${name}.outputs.${nearest}` }) };
}

/** The outputs that a step leaves; undefined when nobody here can know. */
function outputsOf(step: StepInput, { workflows }: WorkflowFacts): readonly string[] | undefined {
  if (step.type === 'workflow') {
    const called = workflows?.get(step.said.workflow);
    return called?.isWhole ? called.outputs : undefined;
  }
  if (step.type === 'human') return ['answer'];
  return 'outputs' in step.said ? Object.keys(step.said.outputs ?? {}) : [];
}

function missing(
  what: string,
  name: string,
  known: Iterable<string>,
  written: (name: string) => string,
): ReferenceIssue {
  const all = [...known];
  const nearest = nearestOf(name, all);
  const hint = nearest === undefined ? said(all) : `did you mean {{${written(nearest)}}}?`;
  return {
    message: `${what} "${name}"; ${hint}`,
    ...(nearest === undefined ? {} : { nearest: written(nearest) }),
  };
}

function said(known: readonly string[]): string {
  return known.length === 0 ? 'there are none' : `there are ${known.slice(0, 20).join(', ')}`;
}

function no(message: string): ReferenceIssue {
  return { message };
}
