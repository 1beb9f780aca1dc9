import type { Budget } from '../contract/budget.ts';
import type { StepInput, StepInputs } from '../contract/workflow-steps.ts';
import type { SubAgentInput } from '../contract/workflow-todo.ts';
import type { WorkflowFacts, WorkflowOutline } from './facts.ts';
import { issueAt, issuesOfEach, unknownName } from './issue.ts';
import type { ReadWorkflow, WorkflowIssue } from './read-file.ts';

type Path = readonly (string | number)[];

/** What of a workflow makes no sense together with what else there is: agents, other workflows, what scores it. */
export function checkCalls(file: ReadWorkflow, facts: WorkflowFacts): WorkflowIssue[] {
  return [
    ...agentIssues(file, facts),
    ...evaluationIssues(file, facts),
    ...[...file.steps].flatMap(([name, step]) =>
      step.type === 'workflow' ? callIssues(['steps', name], step.said, facts) : [],
    ),
  ];
}

/** The steps that an agent does, with what they say of it. */
function usesAgent(step: StepInput): boolean {
  const { type, said } = step;
  if (type === 'route') return said.prompt !== undefined;
  return type === 'agent' || type === 'sequence' || type === 'todo';
}

function agentIssues({ head, broken, steps }: ReadWorkflow, facts: WorkflowFacts): WorkflowIssue[] {
  const known = (path: Path, name: string | undefined): WorkflowIssue[] =>
    name === undefined || facts.agents === undefined || facts.agents.includes(name)
      ? []
      : [unknownName(path, 'there is no agent', name, facts.agents)];
  return [
    ...known(['agent'], head.agent),
    ...issuesOfEach(steps, ([name, step]) => {
      if (!usesAgent(step)) return [];
      const own = 'agent' in step.said ? step.said.agent : undefined;
      const agent = own ?? head.agent;
      if (agent === undefined && !broken.has('agent'))
        return [issueAt(['steps', name], 'has no agent; say which here, or at the top of the file')];
      return [
        ...known(['steps', name, 'agent'], own),
        ...(step.type === 'todo' ? subAgentIssues(['steps', name], step.said.agents ?? {}, known) : []),
        ...budgetIssues(['steps', name], step, agent, facts),
      ];
    }),
  ];
}

function subAgentIssues(
  path: Path,
  agents: Readonly<Record<string, SubAgentInput>>,
  known: (path: Path, name: string | undefined) => WorkflowIssue[],
): WorkflowIssue[] {
  return Object.entries(agents).flatMap(([name, agent]) => {
    const at = [...path, 'agents', name];
    return [...known([...at, 'agent'], agent.agent), ...subAgentIssues(at, agent.agents ?? {}, known)];
  });
}

function budgetIssues(
  path: Path,
  step: StepInput,
  agent: string | undefined,
  { refusalOfBudget }: WorkflowFacts,
): WorkflowIssue[] {
  if (agent === undefined || refusalOfBudget === undefined) return [];
  const refused = (at: Path, budget: Budget | undefined): WorkflowIssue[] => {
    const message = budget && refusalOfBudget(agent, budget);
    return message === undefined ? [] : [issueAt([...path, ...at], message.replace(/\.$/, ''))];
  };
  const own = 'budget' in step.said ? refused(['budget'], step.said.budget) : [];
  if (step.type !== 'sequence') return own;
  const ofMessages = step.said.messages.flatMap((message, index) =>
    'text' in message ? refused(['messages', index, 'budget'], message.budget) : [],
  );
  return [...own, ...ofMessages];
}

function evaluationIssues({ head }: ReadWorkflow, { workflows, name }: WorkflowFacts): WorkflowIssue[] {
  const { evaluation } = head;
  if (evaluation === undefined) return [];
  const path = ['evaluation'];
  if (head.of !== undefined) return [issueAt(path, 'this is an evaluation itself; nothing scores it')];
  if (evaluation === name) return [issueAt(path, 'a workflow cannot score itself')];
  const called = workflows?.get(evaluation);
  if (workflows && !called) return [unknownName(path, 'there is no workflow', evaluation, workflows.keys())];
  if (!called?.isWhole) return [];
  if (!called.isEvaluation)
    return [issueAt(path, `"${evaluation}" is no evaluation; its file would say "of: run"`)];
  const needed = [...called.inputs].find(([, { mustBeGiven }]) => mustBeGiven);
  return needed
    ? [
        issueAt(
          path,
          `"${evaluation}" must be given "${needed[0]}", and nobody would give it; it needs a default there`,
        ),
      ]
    : [];
}

function callIssues(path: Path, said: StepInputs['workflow'], facts: WorkflowFacts): WorkflowIssue[] {
  const { workflows, name } = facts;
  const at = [...path, 'workflow'];
  const called = workflows?.get(said.workflow);
  if (workflows && !called) return [unknownName(at, 'there is no workflow', said.workflow, workflows.keys())];
  const circle = workflows ? circleThrough(said.workflow, name, workflows) : undefined;
  if (circle)
    return [issueAt(at, `these workflows begin each other in a circle: ${[name, ...circle].join(', ')}`)];
  if (!called?.isWhole) return [];
  if (called.isEvaluation)
    return [
      issueAt(
        at,
        `"${said.workflow}" is an evaluation; it is named by "evaluation", and begun when a run is closed`,
      ),
    ];
  return [...groupIssues(path, said, called), ...inputIssues(path, said, called)];
}

function groupIssues(
  path: Path,
  { group, workflow }: StepInputs['workflow'],
  called: WorkflowOutline,
): WorkflowIssue[] {
  if (group === undefined || group.includes('{{') || called.groups.includes(group)) return [];
  if (called.groups.length === 0)
    return [issueAt([...path, 'group'], `"${workflow}" has no groups; leave "group" out`)];
  return [unknownName([...path, 'group'], `"${workflow}" has no group`, group, called.groups)];
}

function inputIssues(
  path: Path,
  { inputs = {}, workflow }: StepInputs['workflow'],
  called: WorkflowOutline,
): WorkflowIssue[] {
  const unknown = Object.keys(inputs)
    .filter((name) => !called.inputs.has(name))
    .map((name) =>
      unknownName([...path, 'inputs', name], `"${workflow}" has no input`, name, called.inputs.keys()),
    );
  const missing = [...called.inputs]
    .filter(([name, { mustBeGiven }]) => mustBeGiven && !Object.hasOwn(inputs, name))
    .map(([name]) => issueAt([...path, 'workflow'], `"${workflow}" must be given the input "${name}"`));
  return [...unknown, ...missing];
}

/** The workflows on the way from one back to `own`; undefined when there is no such way. */
function circleThrough(
  first: string,
  own: string,
  workflows: ReadonlyMap<string, WorkflowOutline>,
): readonly string[] | undefined {
  const from = new Map<string, string | null>([[first, null]]);
  for (const name of from.keys()) {
    if (name === own) return wayTo(name, from);
    for (const next of workflows.get(name)?.calls ?? []) if (!from.has(next)) from.set(next, name);
  }
  return undefined;
}

function wayTo(name: string, from: ReadonlyMap<string, string | null>): string[] {
  const way: string[] = [];
  for (let at: string | null = name; at !== null; at = from.get(at) ?? null) way.unshift(at);
  return way;
}
