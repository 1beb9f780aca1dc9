import type { WorkflowStep, WorkflowView } from '../contract/workflow.ts';
import type { TreeStep } from '../contract/step.ts';
import { formatDuration } from './durations.ts';
import { type Span, span, type Tone } from './line.ts';
import { plainLine } from './text.ts';
import { shortId, type Signs } from './tree-words.ts';

/** `3 of 5 steps ended`, `5 of 5 steps ended, 1 failed`. */
export function stepCountWords({ total, ended, failed }: WorkflowView['counts']): string {
  return `${ended} of ${total} steps ended${failed === 0 ? '' : `, ${failed} failed`}`;
}

type ShownStep = Pick<TreeStep, 'state' | 'reason' | 'retryAt' | 'tries' | 'reused'>;

/** The sign of a step, with its tone. */
export function signOfStep({ state }: Pick<TreeStep, 'state'>, signs: Signs): Span {
  const shown: Record<TreeStep['state'], [string, Tone]> = {
    blocked: [signs.queued, 'dim'],
    due: [signs.queued, 'plain'],
    running: [signs.running, 'live'],
    backsOff: [signs.waiting, 'warn'],
    succeeded: [signs.succeeded, 'good'],
    failed: [signs.failed, 'bad'],
    skipped: [signs.cancelled, 'dim'],
    cancelled: [signs.cancelled, 'dim'],
  };
  return span(...shown[state]);
}

/** Where a step is, in words: `skipped: its condition did not hold`, `tried again in 12s (attempt 2)`. */
export function stepStateWords(step: ShownStep, now: number): string {
  const { state, reason, retryAt, tries, reused } = step;
  if (reused !== undefined) return `succeeded before (${shortId(reused)}), not done again`;
  if (state === 'blocked') return 'waits for the steps that it needs';
  if (state === 'due') return 'is about to begin';
  if (state === 'backsOff' && retryAt !== undefined)
    return `failed, tried again in ${formatDuration(Date.parse(retryAt) - now)} (attempt ${tries + 1})`;
  const why = reason === undefined ? '' : reasonWords(reason);
  return why === '' ? state : `${state}: ${why}`;
}

/** Why a step did not run, or failed, in words; an error's code stays what it is. */
function reasonWords(reason: string): string {
  const known: Readonly<Record<string, string>> = {
    upstream: 'a step that it needs failed, or was skipped',
    condition: 'its condition did not hold',
    notChosen: 'its case was not chosen',
    failFast: 'another step failed',
  };
  return Object.hasOwn(known, reason) ? (known[reason] ?? reason) : plainLine(reason);
}

/** The question that a step asks now, if it does. */
export function questionOf({
  attempts,
}: Pick<WorkflowStep, 'attempts'>): WorkflowStep['attempts'][number] | undefined {
  return attempts.findLast(({ closed, waiting }) => !closed && waiting?.for === 'input');
}
