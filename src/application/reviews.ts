import type { ExecutionId } from '../base/ids.ts';
import { findNearest } from '../base/nearest.ts';
import type { LaunchCaller } from '../launching/launcher.ts';
import type { Launched } from '../ledger/launch.ts';
import { ask } from '../ledger/questions.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { Decided } from '../ledger/store.ts';
import type { ApplicationContext, ReviewKind } from './context.ts';

/** What there is without being configured. */
const general: ReviewKind = {
  prompt: [
    'Review what a run of a workflow did. You change nothing: you read and judge.',
    'Its record has the prompt, the transcript, the outputs and the times of every attempt of every step.',
    'Say what went well, what went wrong and why, what was wasted, and what to change. Name the step and the file of the record for each point.',
  ].join('\n'),
};

/** Begins a review of a run, below whoever asks: an agent in a conversation of its own, with one message. */
export async function launchReview(
  { store, launcher, reviews }: Pick<ApplicationContext, 'store' | 'launcher' | 'reviews'>,
  wanted: { readonly caller: LaunchCaller; readonly kind: string; readonly of: ExecutionId },
): Promise<Decided<Launched>> {
  const { caller, kind, of } = wanted;
  const all: Readonly<Record<string, ReviewKind>> = { general, ...reviews };
  const review = Object.hasOwn(all, kind) ? all[kind] : undefined;
  if (!review) {
    const nearest = findNearest(kind, Object.keys(all));
    const hint =
      nearest === undefined ? `there are ${Object.keys(all).join(', ')}` : `did you mean "${nearest}"?`;
    const message = `kind: there is no review "${kind}"; ${hint}`;
    return { ok: false, code: 'INVALID_INPUT', message, data: { field: 'kind' } };
  }
  const graph = await store.read(() => ask('graph', of));
  if (!graph) {
    const message = `run: ${of} is no workflow; only runs of workflows have a record to review.`;
    return { ok: false, code: 'ILLEGAL_STATE', message, data: { executionId: of } };
  }
  const text = `${review.prompt.trim()}\n\nRecord: {{of.directory}}\n\n{{of.summary}}`;
  const message = { timeoutMs: defaultTimeoutMs, onFailure: 'stop', join: 'own' } as const;
  return launcher.launch({
    caller,
    kind: 'review',
    name: `${kind} review of ${graph.workflow}`,
    key: `review:${kind}`,
    agent: {
      plan: [{ ...message, text, check: null, background: 'wait', templates: true, of }],
      ...(review.agent === undefined ? {} : { name: review.agent }),
    },
    after: of,
  });
}
