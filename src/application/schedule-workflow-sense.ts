import type { InputIssue } from '../contract/issues.ts';
import { joinPath } from '../contract/issues.ts';
import type { ScheduleInput } from '../contract/schedule-input.ts';
import type { Refusal } from '../ledger/decision.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { budgetOf } from '../workflows/planned-message.ts';
import { definitionOf } from './schedule-definition.ts';
import type { SchedulingContext } from './scheduling-context.ts';
import { refusalOfStepBudgets } from './workflow-commands.ts';

/** Whose schedules are looked at, and what the paths of their issues begin with. */
interface Place {
  readonly project: string;
  readonly known: readonly Schedule[];
  readonly root: '' | 'schedules';
}

/**
 * What is wrong with the workflows that schedules name, as far as it can be known before they run. One that a schedule
 * has already is no mistake of whoever says the same again: a file that is being edited keeps no server from its schedules,
 * and what is due meanwhile is skipped, with a notification.
 */
export async function workflowIssues(
  context: SchedulingContext,
  said: Readonly<Record<string, ScheduleInput>>,
  { project, known, root }: Place,
): Promise<InputIssue[]> {
  const before = new Map(known.map(({ name, definition }) => [name, JSON.stringify(definition.workflow)]));
  const found: InputIssue[] = [];
  for (const [name, schedule] of Object.entries(said)) {
    const { workflow } = definitionOf(schedule);
    if (workflow === undefined || before.get(name) === JSON.stringify(workflow)) continue;
    const issue = await issueOf(context, project, schedule);
    if (!issue) continue;
    const path = root === '' ? issue.path : [root, name, ...issue.path];
    found.push({ ...issue, path: joinPath(path) });
  }
  return found;
}

type Found = Omit<InputIssue, 'path'> & { readonly path: readonly string[] };

async function issueOf(
  context: SchedulingContext,
  project: string,
  { workflow, cwd, budget }: ScheduleInput,
): Promise<Found | undefined> {
  if (workflow === undefined) return undefined;
  const { name, group, inputs, evaluation } = workflow;
  const defined = await context.workflows.define({
    workflow: name,
    project,
    cwd,
    instant: context.clock.now(),
    ...(group === undefined ? {} : { group }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(evaluation === undefined ? {} : { evaluation }),
  });
  if (!defined.ok) return isToBeFilledIn(defined, inputs) ? undefined : refusedAs(defined);
  if (defined.value.isEvaluation)
    return {
      path: ['workflow'],
      message: `${name} scores runs of other workflows, and is not run by itself`,
    };
  const refused = refusalOfStepBudgets(context.agents, defined.value, budget && budgetOf(budget));
  return refused && { path: ['budget'], message: refused.message.replace(/\.$/, '') };
}

/** `inputs.day: …` and `group: …` name the field that is wrong. */
const field = /^(group|inputs\.[^:\s]+): (.*)$/s;

// What a template stands for is known when a run begins, and looked at then.
function isToBeFilledIn({ message }: Refusal, inputs: Readonly<Record<string, unknown>> = {}): boolean {
  const name = field.exec(message)?.[1]?.slice('inputs.'.length) ?? '';
  const value = Object.hasOwn(inputs, name) ? inputs[name] : undefined;
  return typeof value === 'string' && value.includes('{{');
}

function refusedAs({ message, data }: Refusal): Found {
  const [, name, words = message] = field.exec(message) ?? [];
  const { nearest } = data;
  return {
    path: name === undefined ? ['workflow'] : ['workflow', ...name.split('.')],
    message: words.replace(/\.$/, ''),
    ...(typeof nearest === 'string' ? { nearest } : {}),
  };
}
