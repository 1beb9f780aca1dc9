import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { inZone } from '../base/zoned-time.ts';
import type { Execution } from '../ledger/execution.ts';
import { outcomeOf } from '../ledger/execution.ts';
import { outputsOfRun } from '../ledger/gate.ts';
import type { Graph } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { StepPlan } from '../ledger/step-plan.ts';
import { placeOfAttempt } from './outputs.ts';
import type { RunsContext } from './ports.ts';
import type { AttemptPlace, AttemptRecord } from './step-ports.ts';

/** How many messages of a sequence are told in the prompt of its record, and how long that is at most, in UTF-16 units. */
const mostMessages = 1_000;
const longestPrompt = 1_000_000;

/**
 * Writes what is kept of an attempt of a step that has closed; what is no attempt is left alone. Called again, after a crash between
 * say, it finds what is there and adds what is missing. Never rejects because of the disk.
 */
export async function recordAttempt(
  { store, steps }: Pick<RunsContext, 'store' | 'steps'>,
  id: ExecutionId,
): Promise<void> {
  const known = await store.read(() => recordOf(id));
  if (known) await steps.records.writeAttempt(known.place, known.record);
}

/** Writes what a workflow was asked to do, and what it came to: before it settles, so that whoever is told finds it there. */
export async function recordEnd(
  { store, steps }: Pick<RunsContext, 'store' | 'steps'>,
  graph: Graph,
  end: { readonly result: string; readonly outputs: Readonly<Record<string, Json>> },
): Promise<void> {
  const ended = await store.read(() => ask('graphSteps', graph.id));
  const { id, workflow, project, group, inputs, outcome, outcomeCode, error, of, resumes } = graph;
  const plans = ended.map(({ plan }) => plan as unknown as Json);
  await steps.records.begin(id, { workflow: { project, workflow, group, steps: plans }, inputs });
  const rows = ended.map(({ plan, state, reason, tries, reused }) => ({
    name: plan.name,
    state,
    reason,
    tries,
    reused,
  }));
  const failure = error ? { ...error } : null;
  const about = { executionId: id, of, resumes, outcome, code: outcomeCode, error: failure };
  await steps.records.end(id, { ...about, ...end, steps: rows });
}

function* recordOf(
  id: ExecutionId,
): Asking<{ readonly place: AttemptPlace; readonly record: AttemptRecord } | undefined> {
  const row = yield* ask('execution', id);
  const place = row && (yield* placeOfAttempt(row));
  if (!row || !place) return undefined;
  const step = yield* ask('graphStepNamed', place.workflowId, place.step);
  const isAgent = row.runsIn !== null;
  const answer =
    row.result === null ? null : ({ by: isAgent ? 'agent' : 'script', text: row.result } as const);
  const prompt = isAgent ? yield* promptOf(id) : commandOf(step?.plan);
  const outputs = step?.currentId === id ? (step.programEnd?.outputs ?? step.outputs) : {};
  const run = isAgent ? yield* ask('runOwnedBy', id) : undefined;
  const left = run ? yield* outputsOfRun(run) : outputs;
  const record = { prompt, answer, sessionId: row.runsIn, outputs: left, result: resultOf(row) };
  return { place, record };
}

/** What went to the agent, message by message. */
function* promptOf(id: ExecutionId): Asking<string | null> {
  const run = yield* ask('runOwnedBy', id);
  const messages = run ? yield* ask('messagesOfRun', run.id, mostMessages + 1) : [];
  const parts: string[] = [];
  let length = 0;
  for (const message of messages.slice(0, mostMessages)) {
    const text = (yield* ask('sentText', message.id)) ?? '(not sent)';
    const isOnly = messages.length === 1;
    parts.push(
      isOnly ? text : `# Message ${(message.runIndex ?? 0) + 1}, attempt ${message.attempt}\n\n${text}`,
    );
    length += text.length;
    if (length > longestPrompt) break;
  }
  if (messages.length > parts.length) parts.push('(There are more; the transcript has them.)');
  return parts.length === 0 ? null : `${parts.join('\n\n').trimEnd()}\n`;
}

function commandOf(plan: StepPlan | undefined): string | null {
  const does = plan?.does;
  if (does?.type === 'human') return does.question;
  if (does?.type !== 'script') return null;
  return typeof does.run === 'string' ? does.run : does.run.join('\n');
}

function resultOf(row: Execution): Json {
  const { outcome, code } = outcomeOf(row);
  const instant = (at: number | null): string | null => (at === null ? null : inZone(at, 'UTC'));
  return {
    executionId: row.id,
    attempt: row.attempt,
    state: row.state,
    outcome,
    code,
    error: row.error ? { ...row.error } : null,
    createdAt: instant(row.createdAt),
    startedAt: instant(row.startedAt),
    endedAt: instant(row.endedAt),
    closedAt: instant(row.closedAt),
    sessionId: row.runsIn,
    usage: row.usage ? { ...row.usage } : null,
    spent: row.spent ? { ...row.spent } : null,
  };
}
