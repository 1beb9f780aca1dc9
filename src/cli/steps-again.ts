import type { Run } from '../contract/run.ts';
import type { WorkflowStep } from '../contract/workflow.ts';
import type { CliContext } from './context.ts';
import type { End } from './live-view.ts';
import { plainLine } from '../words/text.ts';

/** How many steps are named. */
const mostNames = 12;

/** Where a run is to begin again: at a step, or at an index; without either at what has not succeeded. */
interface Again {
  readonly from?: number | string;
  readonly only?: boolean;
}

/**
 * What a run of a workflow does again, and what it keeps, judged by what it was before. Undefined where that is for others to
 * say: it is no run of a workflow, or not all of its steps are here.
 */
export function stepsAgain({ workflow }: Run, { from, only = false }: Again): string | undefined {
  if (!workflow || workflow.nextCursor !== undefined) return undefined;
  const { steps, name, group, outcome } = workflow;
  // What scores it goes on alone: by itself where the workflow has succeeded, or at a step that is its own.
  if (from === undefined && outcome === 'succeeded') return undefined;
  if (typeof from === 'string' && !steps.some((step) => step.name === from)) return undefined;
  const title = ` with workflow ${plainLine(group === undefined ? name : `${name} (${group})`)}`;
  if (typeof from === 'number')
    return from === 0 ? `${title}, all of it` : ` with the evaluation of ${plainLine(name)}`;
  const behind = from === undefined ? new Set<string>() : only ? new Set([from]) : needing(steps, from);
  const isDone = ({ name: step, state }: WorkflowStep): boolean =>
    behind.has(step) || (!only && state !== 'succeeded');
  const done = steps.filter(isDone).map((step) => step.name);
  const kept = steps.filter((step) => !isDone(step) && step.state === 'succeeded').map((step) => step.name);
  if (done.length === 0) return `${title}: nothing is left to be done`;
  return `${title}: ${listed(done)}${kept.length === 0 ? '' : `; kept: ${listed(kept)}`}`;
}

/** A step and everything that needs it. */
function needing(steps: readonly WorkflowStep[], from: string): Set<string> {
  const found = new Set([from]);
  for (let size = 0; size < found.size; ) {
    size = found.size;
    for (const { name, needs } of steps) if (needs.some((needed) => found.has(needed))) found.add(name);
  }
  return found;
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, mostNames).map(plainLine).join(', ');
  return names.length > mostNames ? `${shown} and ${names.length - mostNames} more` : shown;
}

/** Tells a person where the steps of a run of a workflow are shown, and what to do with one that failed. */
export function sayStepsOf(context: CliContext, runId: string, { outcome, isWorkflow = false }: End): void {
  if (context.isJson || !isWorkflow) return;
  context.talk(`  its steps:   stemma workflow show ${runId}`);
  if (outcome !== 'succeeded')
    context.talk(
      `  go on where it failed:   stemma resume ${runId}   (one step again: stemma rerun ${runId} --from STEP)`,
    );
}
