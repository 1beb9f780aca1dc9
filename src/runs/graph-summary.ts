import type { Json } from '../base/json.ts';
import type { Execution } from '../ledger/execution.ts';
import type { GraphStep } from '../ledger/graph.ts';

/** A step with its last attempt, if it had one. */
export interface EndedStep {
  readonly step: GraphStep;
  readonly attempt: Execution | undefined;
}

/** Most steps that have a line of their own; those that did not succeed come first. */
const mostLines = 60;
const longestLine = 300;
const longestOutput = 500;
const mostOutputs = 20;

/** What people and agents read of a workflow that has ended, bounded: a line a step, then what it gives. */
export function summaryOf(steps: readonly EndedStep[], outputs: Readonly<Record<string, Json>>): string {
  const bad = steps.filter(({ step }) => step.state !== 'succeeded');
  const shown = steps.length <= mostLines ? steps : [...bad, ...steps.filter((each) => !bad.includes(each))];
  const lines = shown.slice(0, mostLines).map(lineOf);
  if (steps.length > mostLines) lines.push(`… and ${steps.length - mostLines} more steps`);
  const given = Object.entries(outputs);
  if (given.length > 0) lines.push('Outputs:');
  for (const [name, value] of given.slice(0, mostOutputs)) lines.push(`${name}: ${shorten(value)}`);
  if (given.length > mostOutputs) lines.push(`… and ${given.length - mostOutputs} more outputs`);
  return lines.join('\n');
}

function lineOf({ step, attempt }: EndedStep): string {
  const { name } = step.plan;
  const why = step.reason === null ? '' : ` (${step.reason})`;
  const again = step.tries > 1 ? ` after ${step.tries} attempts` : '';
  const error = step.state === 'failed' ? (attempt?.error?.message ?? '') : '';
  const last = error.trim().split('\n').at(-1) ?? '';
  return cut(`${name}: ${step.state}${why}${again}${last === '' ? '' : `: ${last}`}`, longestLine);
}

function shorten(value: Json): string {
  return cut(typeof value === 'string' ? value : JSON.stringify(value), longestOutput);
}

/** Half a character at the end would be another one. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
