import type { StepInput, StepInputs } from '../contract/workflow-steps.ts';
import type { WorkflowFacts } from './facts.ts';
import { issueAt, issuesOfEach, unknownName } from './issue.ts';
import { casesOf } from './needs.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';

/** What of each step makes no sense beside the other steps, or within itself. */
export function checkSteps(file: ReadWorkflow, facts: WorkflowFacts): WorkflowIssue[] {
  return issuesOfEach(file.steps, ([name, step]) => [
    ...needIssues(name, step, file),
    ...outputIssues(name, step),
    ...schemaIssues(name, step, facts),
    ...typeIssues(step, file).map((found) => ({ ...found, path: ['steps', name, ...found.path] })),
  ]);
}

function needIssues(name: string, { said }: StepInput, { names }: ReadWorkflow): WorkflowIssue[] {
  return (said.needs ?? []).flatMap((needed, index) => {
    const path = ['steps', name, 'needs', index];
    if (needed === name) return [issueAt(path, 'a step cannot need itself')];
    return names.has(needed) ? [] : [unknownName(path, 'there is no step', needed, names)];
  });
}

function outputIssues(name: string, { said, type }: StepInput): WorkflowIssue[] {
  if (!('repairs' in said) || said.repairs === undefined) return [];
  const hasOutputs = Object.keys(said.outputs ?? {}).length > 0;
  if (hasOutputs || type === 'script') return [];
  const message = 'there is nothing to repair: the step has no outputs';
  return [issueAt(['steps', name, 'repairs'], message)];
}

function schemaIssues(
  name: string,
  { said }: StepInput,
  { problemsOfSchema }: WorkflowFacts,
): WorkflowIssue[] {
  if (problemsOfSchema === undefined || !('outputs' in said)) return [];
  return Object.entries(said.outputs ?? {}).flatMap(([output, plan]) => {
    const schema = 'schema' in plan ? plan.schema : undefined;
    const path = ['steps', name, 'outputs', output, 'schema'];
    const problems = schema === undefined ? [] : problemsOfSchema(schema);
    return problems.map((problem) => issueAt(path, problem.replace(/\.$/, '')));
  });
}

function typeIssues(step: StepInput, file: ReadWorkflow): WorkflowIssue[] {
  switch (step.type) {
    case 'sequence':
      return gateIssues(step.said);
    case 'route':
      return routeIssues(step, step.said, file);
    case 'human':
      return humanIssues(step.said);
    case 'todo':
      return todoIssues(step.said);
    default:
      return [];
  }
}

function gateIssues({ messages }: StepInputs['sequence']): WorkflowIssue[] {
  return messages.flatMap((message, index) => {
    if (!('validate' in message)) return [];
    const before = index === 0 ? undefined : messages[index - 1];
    const path = ['messages', index];
    if (before === undefined) return [issueAt(path, 'there is no message before it that it could be for')];
    if ('validate' in before)
      return [issueAt(path, 'the message before it has one already; join both commands with &&')];
    return [];
  });
}

function routeIssues(step: StepInput, said: StepInputs['route'], { names }: ReadWorkflow): WorkflowIssue[] {
  const { prompt, value, cases, otherwise, agent } = said;
  const issues: WorkflowIssue[] = [];
  if ((prompt === undefined) === (value === undefined))
    issues.push(issueAt([], 'a route chooses by exactly one of prompt and value'));
  if (value !== undefined && agent !== undefined)
    issues.push(issueAt(['agent'], 'no agent is asked where value chooses'));
  if (Object.keys(cases).length === 0) issues.push(issueAt(['cases'], 'needs at least one case'));
  if (otherwise !== undefined && !Object.hasOwn(cases, otherwise))
    issues.push(unknownName(['otherwise'], 'there is no case', otherwise, Object.keys(cases)));
  for (const [name, chosen] of casesOf(step))
    for (const [index, each] of chosen.entries())
      if (!names.has(each)) issues.push(unknownName(['cases', name, index], 'there is no step', each, names));
  return issues;
}

function humanIssues(said: StepInputs['human']): WorkflowIssue[] {
  const { choices = [], declines = [], otherwise, timeout } = said;
  const isFree = choices.length === 0;
  const unknown = (path: (string | number)[], answer: string): WorkflowIssue[] =>
    isFree || choices.includes(answer) ? [] : [unknownName(path, 'there is no choice', answer, choices)];
  return [
    ...declines.flatMap((answer, index) => unknown(['declines', index], answer)),
    ...(otherwise === undefined ? [] : unknown(['otherwise'], otherwise)),
    ...(otherwise !== undefined && timeout === undefined
      ? [issueAt(['otherwise'], 'is never used: without timeout the question waits for as long as it takes')]
      : []),
    ...(!isFree && choices.every((answer) => declines.includes(answer))
      ? [issueAt(['declines'], 'with every choice the step fails; one of them must let it go on')]
      : []),
  ];
}

function todoIssues({ agents = {}, generic }: StepInputs['todo']): WorkflowIssue[] {
  if (generic !== false || Object.keys(agents).length > 0) return [];
  return [issueAt(['generic'], 'without agents and without call_generic_agent it can give out no work')];
}
