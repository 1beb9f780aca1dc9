import type { Json } from '../base/json.ts';
import type { Execution, Failure, Outcome } from './execution.ts';
import type { Asking } from './questions.ts';
import { ask } from './questions.ts';
import { plannedAt } from './plan.ts';
import type { Gate } from './planned-message.ts';
import type { PlannedMessage, Run } from './session.ts';

/** The key of the check of a message of a run: with each attempt of the message it is another attempt of the same thing. */
export function keyOfCheck({ runId, runIndex }: Pick<Execution, 'runId' | 'runIndex'>): string | null {
  return runId === null ? null : `check:${runId}/${runIndex}`;
}

/** The check of a message of a run, if it came to one. */
export function* checkOfMessage(message: Execution): Asking<Execution | undefined> {
  const key = keyOfCheck(message);
  return key === null ? undefined : yield* ask('keyed', message.id, key, message.attempt);
}

/** With which codes a gate refuses: what it says can be mended. */
const mendable: ReadonlySet<string | null> = new Set(['CHECK_FAILED', 'OUTPUT_INVALID']);

/** How much of what was wrong goes back to the agent, in UTF-16 units. */
const longestReason = 8_000;

/**
 * What a message is checked by, in one text: it stands in `check` of its execution, for people, and says that there is a check
 * at all. Null: nothing.
 */
export function checkOf({ check, gate }: PlannedMessage): string | null {
  if (check !== null || !gate) return check;
  if (gate.command !== null) return gate.command;
  const names = Object.keys(gate.outputs ?? {});
  return names.length === 0 ? null : `outputs: ${names.join(', ')}`;
}

/** Whether what the gate refused goes back into the same conversation once more, at once. */
export function mayRepair(
  planned: PlannedMessage | undefined,
  run: Pick<Run, 'repairs'>,
  last: { readonly outcome: Outcome; readonly code: string | null } | undefined,
): planned is PlannedMessage & { readonly gate: Gate } {
  return last?.outcome === 'failed' && mendable.has(last.code) && run.repairs < (planned?.gate?.repairs ?? 0);
}

/** What the check of a message said when it refused it. */
export function* refusalOfGate(message: Execution): Asking<Failure | null> {
  return (yield* checkOfMessage(message))?.error ?? null;
}

/** What goes to the agent so that it mends what it left: marked as ours, and bounded. `said` goes before what was wrong. */
export function repairText(
  said: string | null,
  gate: Gate,
  run: Pick<Run, 'repairs'>,
  refusal: Failure | null,
): string {
  const why = (refusal?.message ?? 'The check did not say yes.').trim();
  const cut = why.length > longestReason ? `[… cut …]\n${whole(why.slice(-longestReason))}` : why;
  const ask = said ?? 'What you left is not yet what was asked for. Mend it, then answer again.';
  return `[stemma repair ${run.repairs + 1} of ${gate.repairs}] ${ask}\n\nWhat is wrong:\n${cut}`;
}

/** Half of a character would not survive the way to the agent. */
function whole(text: string): string {
  return text.replace(/^[\uDC00-\uDFFF]/, '');
}

/** With which code a check that did not say yes fails its message. */
export function codeOfRefusal(error: Failure | null | undefined): 'CHECK_FAILED' | 'OUTPUT_INVALID' {
  return error?.code === 'OUTPUT_INVALID' ? 'OUTPUT_INVALID' : 'CHECK_FAILED';
}

/** What was found of the outputs of a run, by the check of its last message; nothing where none was found. */
export function* outputsOfRun(run: Run): Asking<Readonly<Record<string, Json>>> {
  const message = run.currentId === null ? undefined : yield* ask('execution', run.currentId);
  const hasOutputs = plannedAt(run, message?.runIndex ?? -1)?.gate?.outputs;
  const check = message && hasOutputs ? yield* checkOfMessage(message) : undefined;
  if (check?.state !== 'succeeded' || check.result === null) return {};
  return JSON.parse(check.result) as Readonly<Record<string, Json>>;
}

/** How an agent says that it could not do what was asked: the beginning of the last line of its answer. */
export const failureMark = '[stemma failed]';

/** How much of a self-reported reason is kept, in UTF-16 units. */
const longestReport = 2_000;

/** What an answer reports of itself: undefined when its last line is no report of a failure. */
export function selfReport(answer: string): Failure | undefined {
  const last = answer.trimEnd().split('\n').at(-1)?.trim() ?? '';
  if (!last.startsWith(failureMark)) return undefined;
  const said = last.slice(failureMark.length).trim().slice(0, longestReport);
  return {
    code: 'SELF_REPORTED',
    message: said === '' ? 'The agent said that it failed, and not why.' : said,
  };
}

/** The message of a step's program that an execution is, or handles results of: undefined where it is none of them. */
export function* messageOfStep(row: Execution): Asking<Execution | undefined> {
  let message: Execution | undefined = row;
  while (message?.kind === 'continuation')
    message = message.parentId === null ? undefined : yield* ask('execution', message.parentId);
  if (message?.kind !== 'message' || message.runId === null || message.parentId === null) return undefined;
  const host = yield* ask('execution', message.parentId);
  return host?.kind === 'step' ? message : undefined;
}
