import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { inZone } from '../base/zoned-time.ts';
import type { Execution } from '../ledger/execution.ts';
import { outcomeOf } from '../ledger/execution.ts';
import { outputsOfRun } from '../ledger/gate.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { StepPlan } from '../ledger/step-plan.ts';
import { placeOfAttempt } from './outputs.ts';
import type { RunsContext, StepTexts } from './ports.ts';
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
  if (!known) return;
  const { place, graph, plan, record } = known;
  const said = graph && plan && (await saidByStep(steps, graph, plan));
  await steps.records.writeAttempt(place, { ...record, prompt: record.prompt ?? said ?? null });
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

interface Recorded {
  readonly place: AttemptPlace;
  readonly graph: Graph | undefined;
  readonly plan: StepPlan | undefined;
  readonly record: AttemptRecord;
}

function* recordOf(id: ExecutionId): Asking<Recorded | undefined> {
  const row = yield* ask('execution', id);
  const place = row && (yield* placeOfAttempt(row));
  if (!row || !place) return undefined;
  const step = yield* ask('graphStepNamed', place.workflowId, place.step);
  const isAgent = row.runsIn !== null;
  const answer =
    row.result === null ? null : ({ by: isAgent ? 'agent' : 'script', text: row.result } as const);
  const prompt = isAgent ? yield* promptOf(id) : null;
  const outputs = yield* leftByAttempt(row, step);
  const record = { prompt, answer, sessionId: row.runsIn, outputs, result: resultOf(row) };
  return { place, graph: yield* ask('graph', place.workflowId), plan: step?.plan, record };
}

/** The outputs of an attempt, as far as it has them. */
export function* leftByAttempt(
  row: Execution,
  step: GraphStep | undefined,
): Asking<Readonly<Record<string, Json>>> {
  const run = row.runsIn === null ? undefined : yield* ask('runOwnedBy', row.id);
  if (run) return yield* outputsOfRun(run);
  return step?.currentId === row.id ? (step.programEnd?.outputs ?? step.outputs) : {};
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

/**
 * The command of a script, a line for each of its arguments, or the question of a step that asks. Templates are filled in, but not
 * those of the environment: they may be secrets. What cannot be filled in stays a template. Null: it says neither.
 */
export async function saidByStep(
  { texts }: { readonly texts: Pick<StepTexts, 'fill'> },
  graph: Graph,
  { does }: Pick<StepPlan, 'does'>,
): Promise<string | null> {
  const filled = async (text: string): Promise<string> => {
    const said = /\{\{\s*env\./.test(text) ? undefined : await texts.fill(graph, text);
    return said?.ok ? said.text : text;
  };
  if (does.type === 'human') return filled(does.question);
  if (does.type !== 'script') return null;
  // What a shell reads has no templates.
  if (typeof does.run === 'string') return does.run;
  return (await Promise.all(does.run.map(filled))).join('\n');
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
