import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { defaultMessages, type StepAttemptQuery, type StepAttemptView } from '../contract/step-attempt.ts';
import type { Execution } from '../ledger/execution.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import { checkOf, checkOfMessage } from '../ledger/gate.ts';
import { lengthOf, placeOf, plannedAt } from '../ledger/plan.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Run } from '../ledger/session.ts';
import { leftByAttempt, saidByStep } from '../runs/attempt-record.ts';
import { placeOfAttempt } from '../runs/outputs.ts';
import type { AttemptPlace } from '../runs/step-ports.ts';
import type { RunWithMessages } from '../store/views.ts';
import type { ApplicationContext } from './context.ts';
import { invalidCursor } from './list-filters.ts';
import { at, present } from './wire.ts';
import { cutTo, shownOutputs, toAttempt } from './wire-workflow.ts';

/** How much of an answer, of a message and of the outputs is shown, in UTF-16 units; the record has all of each. */
const longestResult = 100_000;
const longestText = 20_000;
/** How many messages one answer shows at most: a place may have been tried, and mended, many times. */
const mostMessages = 200;
const longestAnswer = 4_000;
const longestOutputs = 200_000;

type Context = Pick<ApplicationContext, 'store' | 'views' | 'recordPlaces' | 'stepTexts'>;

/** The attempt of a step that an execution is, whole but bounded; undefined when it is none. */
export async function attemptView(
  context: Context,
  id: ExecutionId,
  query: StepAttemptQuery,
): Promise<StepAttemptView | undefined> {
  const { store, recordPlaces, stepTexts } = context;
  if (query.cursor !== undefined && !/^\d{1,9}$/.test(query.cursor)) throw invalidCursor(query.cursor);
  const found = await store.read(() => foundAttempt(id));
  if (!found) return undefined;
  const { row, place, step, graph, outputs, run } = found;
  const said = await saidByStep({ texts: stepTexts }, graph, step.plan);
  const { type } = step.plan.does;
  return {
    ...toAttempt(step, row, recordPlaces),
    workflowId: place.workflowId,
    step: place.step,
    type,
    ...present({
      command: type === 'script' ? said : null,
      question: type === 'human' ? said : null,
      result: row.result === null ? null : cutTo(row.result, longestResult),
    }),
    ...(row.result !== null && row.result.length > longestResult ? { resultCut: true } : {}),
    ...shownOutputs(outputs, longestOutputs),
    ...(run ? await messagesOf(context, run, query) : {}),
    files: await recordPlaces.files(place),
  };
}

interface FoundAttempt {
  readonly row: Execution;
  readonly place: AttemptPlace;
  readonly step: GraphStep;
  readonly graph: Graph;
  readonly outputs: Readonly<Record<string, Json>>;
  /** What it says to its agent, if it has one. */
  readonly run: Run | undefined;
}

function* foundAttempt(id: ExecutionId): Asking<FoundAttempt | undefined> {
  const row = yield* ask('execution', id);
  const place = row && (yield* placeOfAttempt(row));
  if (!row || !place) return undefined;
  const step = yield* ask('graphStepNamed', place.workflowId, place.step);
  const graph = yield* ask('graph', place.workflowId);
  if (!step || !graph) return undefined;
  const run = row.runsIn === null ? undefined : yield* ask('runOwnedBy', id);
  return { row, place, step, graph, outputs: yield* leftByAttempt(row, step), run };
}

type ShownMessage = NonNullable<StepAttemptView['messages']>[number];
type Messages = Pick<StepAttemptView, 'messages' | 'messagesCount' | 'nextCursor'>;

async function messagesOf(
  { store, views }: Context,
  { id }: Run,
  { cursor = '0', limit = defaultMessages }: StepAttemptQuery,
): Promise<Messages> {
  const found = await views.run(id, { from: Number(cursor), limit });
  if (!found) return {};
  const shown = placesWithin(found.messages, mostMessages);
  const next = shown.next ?? found.from + found.count;
  const total = lengthOf(found.run);
  return {
    messages: await store.read(() => sentMessages({ ...found, messages: shown.messages })),
    messagesCount: total,
    ...(next < total ? { nextCursor: String(next) } : {}),
  };
}

/** Of rows in the order of their places: those of as many whole places as fit, at least one; and the place that follows. */
export function placesWithin<T extends Pick<Execution, 'runIndex'>>(
  rows: readonly T[],
  most: number,
): { readonly messages: T[]; readonly next?: number } {
  const past = rows[most]?.runIndex;
  if (past === undefined || past === null) return { messages: [...rows] };
  const whole = rows.filter(({ runIndex }) => (runIndex ?? 0) < past);
  // One place with more attempts than that shows its latest.
  if (whole.length > 0) return { messages: whole, next: past };
  return { messages: rows.filter(({ runIndex }) => runIndex === past).slice(-most), next: past + 1 };
}

/** What the message has to pass, and what came of it; undefined where nothing is asked of it. */
function* gateOf(run: Run, message: Execution): Asking<ShownMessage['gate']> {
  const planned = plannedAt(run, message.runIndex ?? 0);
  const says = planned && checkOf(planned);
  if (typeof says !== 'string') return undefined;
  const check = yield* checkOfMessage(message);
  return {
    says: cutTo(says, longestAnswer),
    ...present({
      executionId: check?.id,
      state: check?.state,
      startedAt: at(check?.startedAt ?? null),
      endedAt: at(check?.endedAt ?? null),
      error: check?.error && { ...check.error, message: cutTo(check.error.message, longestAnswer) },
    }),
  };
}

function* sentMessages({ run, messages }: RunWithMessages): Asking<ShownMessage[]> {
  const shown: ShownMessage[] = [];
  for (const row of messages) {
    const text = yield* ask('sentText', row.id);
    const index = row.runIndex ?? 0;
    const gate = yield* gateOf(run, row);
    shown.push({
      index,
      executionId: row.id,
      attempt: row.attempt,
      state: row.state,
      closed: row.closed,
      ...present({
        row: placeOf(run, index).row,
        gate,
        text: text === undefined ? null : cutTo(text, longestText),
        result: row.result === null ? null : cutTo(row.result, longestAnswer),
        error: row.error,
        usage: row.spent ?? row.usage,
        startedAt: at(row.startedAt),
        endedAt: at(row.endedAt),
      }),
      ...(text !== undefined && text.length > longestText ? { textCut: true } : {}),
      ...(row.result !== null && row.result.length > longestAnswer ? { resultCut: true } : {}),
    });
  }
  return shown;
}
