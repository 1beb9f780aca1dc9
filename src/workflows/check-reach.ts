import type { StepInput } from '../contract/workflow-steps.ts';
import { constantOf } from './condition.ts';
import { parseCondition } from './condition-syntax.ts';
import { issueAt } from './issue.ts';
import { casesOf, needsOf, orderOf } from './needs.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';
import { parseText } from './reference.ts';

/** Steps that can never begin: those that need each other in a circle, and those that nothing ever chooses. */
export function checkReach(file: ReadWorkflow): WorkflowIssue[] {
  const needs = needsOf(file);
  const { order, circle } = orderOf(needs);
  if (circle.length > 0) return [circleIssue(circle, file)];
  return [...neverHolds(file), ...neverChosen(file, needs, order)];
}

function circleIssue(circle: readonly string[], { steps }: ReadWorkflow): WorkflowIssue {
  const [first = '', second = first] = circle;
  const at = steps.get(first)?.said.needs?.indexOf(second) ?? -1;
  const path = at < 0 ? ['steps', first] : ['steps', first, 'needs', at];
  const way = [...circle, first].map((name) => `"${name}"`).join(' needs ');
  return issueAt(path, `these steps need each other in a circle, and none of them can begin: ${way}`);
}

function neverHolds({ steps }: ReadWorkflow): WorkflowIssue[] {
  return [...steps].flatMap(([name, { said }]) => {
    const parsed = said.when === undefined ? undefined : parseCondition(said.when);
    const isNever = parsed?.ok && constantOf(parsed.condition) === false;
    return isNever ? [issueAt(['steps', name, 'when'], 'never holds, so that the step never runs')] : [];
  });
}

/** A step all of whose needs never choose it, or are never chosen themselves. */
function neverChosen(
  file: ReadWorkflow,
  needs: ReadonlyMap<string, readonly string[]>,
  order: readonly string[],
): WorkflowIssue[] {
  const dead = new Set<string>();
  const issues: WorkflowIssue[] = [];
  const values = new Map([...file.steps].map(([name, step]) => [name, possibleValues(step, file)]));
  for (const name of order) {
    const needed = needs.get(name) ?? [];
    const isDead = (each: string): boolean =>
      dead.has(each) || doesNotChoose(each, name, file, values.get(each));
    if (needed.length === 0 || !needed.every(isDead)) continue;
    dead.add(name);
    if (!needed.every((each) => dead.has(each)))
      issues.push(
        issueAt(
          ['steps', name],
          `never runs: none of the cases that "${needed.join('", "')}" can come to has it`,
        ),
      );
  }
  return issues;
}

/** Whether a route has a step among its cases, and among none that it can come to. */
function doesNotChoose(
  route: string,
  name: string,
  { steps }: ReadWorkflow,
  values: readonly string[] | undefined,
): boolean {
  const step = steps.get(route);
  if (step?.type !== 'route' || values === undefined) return false;
  const cases = casesOf(step).filter(([, chosen]) => chosen.includes(name));
  if (cases.length === 0) return false;
  const known = new Set(Object.keys(step.said.cases));
  const { otherwise } = step.said;
  const isPossible = ([each]: readonly [string, unknown]): boolean =>
    values.includes(each) || (each === otherwise && values.some((value) => !known.has(value)));
  return !cases.some(isPossible);
}

/** What the value of a route can be, where the file alone says it: a plain text, or an input that must be one of some. */
function possibleValues(step: StepInput, { head }: ReadWorkflow): readonly string[] | undefined {
  if (step.type !== 'route' || step.said.value === undefined) return undefined;
  const parsed = parseText(step.said.value);
  if (!parsed.ok) return undefined;
  const [part, ...more] = parsed.parts;
  if (part === undefined || more.length > 0) return undefined;
  if (part.is === 'text') return [part.text];
  const { target } = part;
  const input = target.is === 'input' ? head.inputs?.[target.name] : undefined;
  return input?.enum && part.otherwise === null ? input.enum.map(String) : undefined;
}
