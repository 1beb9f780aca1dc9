import { isAbsolute, relative, sep } from 'node:path';
import type { Budget } from '../ledger/execution.ts';
import type { GraphSettings, WorkflowCall } from '../ledger/graph.ts';
import type { Retry } from '../ledger/planned-message.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { PlannedMessage } from '../ledger/session.ts';

/** What is said of a run of a workflow beside the workflow. */
export interface RootOptions {
  /** Where it works, as it was made ready; absolute. */
  readonly cwd: string;
  /** Absent: as the file says. */
  readonly timeoutMs?: number | undefined;
  readonly retry?: Retry | undefined;
}

/**
 * The plan of a run of a workflow: the workflow, and behind it the evaluation that it declares, which begins when the
 * workflow is closed, also when that has failed.
 */
export function rootPlan(call: WorkflowCall, options: RootOptions): PlannedMessage[] {
  const { evaluation, cwd } = call.graph.settings;
  const work: PlannedMessage = {
    ...entryOf(workflowTitle(call), inDirectory(call, options.cwd), options.timeoutMs),
    onFailure: evaluation ? 'continue' : 'stop',
    ...(options.retry === undefined ? {} : { retry: options.retry }),
  };
  if (!evaluation) return [work];
  // One that says where it works stays there.
  const place = evaluation.graph.settings.cwd === cwd ? options.cwd : evaluation.graph.settings.cwd;
  const name = `evaluation ${evaluation.workflow}`;
  return [work, entryOf(name, inDirectory(evaluation, place))];
}

/** How people call a workflow that is launched: `workflow nightly (eu)`. */
export function workflowTitle({ workflow, group }: Pick<WorkflowCall, 'workflow' | 'group'>): string {
  return `workflow ${workflow}${group === null ? '' : ` (${group})`}`;
}

function entryOf(text: string, of: WorkflowCall, timeoutMs = of.timeoutMs): PlannedMessage {
  const call = { ...of, timeoutMs };
  return {
    text,
    // Of texts; a workflow has the time that its call says, or as long as it takes.
    timeoutMs: timeoutMs ?? defaultTimeoutMs,
    onFailure: 'stop',
    join: 'own',
    check: null,
    background: 'wait',
    ...budgetOf(call.budget),
    workflow: call,
  };
}

function budgetOf(budget: Budget | null): { readonly budget?: Budget } {
  return budget === null ? {} : { budget };
}

/** The same in another directory; what scores it is an entry of its own. */
function inDirectory(call: WorkflowCall, cwd: string): WorkflowCall {
  const { settings } = call.graph;
  const moved = { ...settings, cwd, base: baseOf(settings, cwd), evaluation: null };
  return { ...call, graph: { ...call.graph, settings: moved } };
}

/** Where the workflows that it begins are at home: in a checkout at the same place, above it or not, else where it works itself. */
function baseOf({ base, cwd: before }: GraphSettings, cwd: string): string {
  if (base === undefined || cwd === before) return base ?? cwd;
  const way = relative(base, before);
  const isBelow = way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
  return isBelow && cwd.endsWith(`${sep}${way}`) ? cwd.slice(0, -way.length - 1) : cwd;
}
