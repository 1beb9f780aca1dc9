import type { ExecutionId } from '../base/ids.ts';
import type { Execution, ExecutionUsage } from '../ledger/execution.ts';
import { outcomeOf } from '../ledger/execution.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import { addUsage, describeUsage } from '../ledger/spending.ts';
import type { LedgerStore } from '../ledger/store.ts';

/** Most steps that have a line of their own; those that did not succeed come first. */
const mostSteps = 100;
/** Of how many messages of a step, at most, it is told what they used. */
const mostMessages = 10_000;
/** How long a line of the summary, and the result of the whole, may be; in characters. */
const longestLine = 300;
const longestResult = 4_000;

/** What `{{of.NAME}}` stands for in the message of a review. */
const reviewNames = ['directory', 'outcome', 'result', 'runId', 'summary'] as const;

/**
 * Fills in what a message says of the run that it is about, as that is when the message is sent: closed. In one pass, so
 * that what a result says is never read as a template; everything else stays as it is.
 */
export async function aboutRun(
  store: LedgerStore,
  text: string,
  of: ExecutionId,
  directory: (of: ExecutionId) => string,
): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly message: string }> {
  const values = await store.read(() => valuesOf(of));
  if (!values) return { ok: false, message: `there is no run ${of} any more` };
  const all: Readonly<Record<(typeof reviewNames)[number], string>> = {
    ...values,
    directory: directory(of),
  };
  const names = new RegExp(`\\{\\{\\s*of\\.(${reviewNames.join('|')})\\s*\\}\\}`, 'g');
  return { ok: true, text: text.replace(names, (_, name: (typeof reviewNames)[number]) => all[name]) };
}

function* valuesOf(of: ExecutionId) {
  const row = yield* ask('execution', of);
  const graph = yield* ask('graph', of);
  if (!row || !graph) return undefined;
  const { outcome } = outcomeOf(row);
  const summary = yield* summaryOfRun(row, graph);
  return { outcome, result: cut(row.result ?? '', longestResult), runId: row.runId ?? row.id, summary };
}

/** What a run did, bounded: each step with how it ended, how often it was tried, how long it took and what it used. */
function* summaryOfRun(row: Execution, graph: Graph): Asking<string> {
  const { outcome, code } = outcomeOf(row);
  const name = graph.group === null ? graph.workflow : `${graph.workflow} (${graph.group})`;
  const head = [`${name}: ${outcome}${code === null ? '' : ` (${code})`}`, ...measuresOf(row, row.spent)];
  const steps = yield* ask('graphSteps', graph.id);
  const bad = steps.filter(({ state }) => state !== 'succeeded');
  const shown = [...bad, ...steps.filter(({ state }) => state === 'succeeded')].slice(0, mostSteps);
  const lines = [head.join(', ')];
  for (const step of shown.sort((a, b) => a.index - b.index)) lines.push(yield* lineOf(step));
  if (steps.length > shown.length) lines.push(`… and ${steps.length - shown.length} more steps`);
  return lines.map((line) => cut(line, longestLine)).join('\n');
}

function* lineOf({ plan, state, reason, tries, currentId }: GraphStep): Asking<string> {
  const attempt = currentId === null ? undefined : yield* ask('execution', currentId);
  const parts = [`- ${plan.name} (${plan.does.type}): ${state}${reason === null ? '' : ` (${reason})`}`];
  if (tries > 1) parts.push(`${tries} attempts`);
  if (attempt) parts.push(...measuresOf(attempt, attempt.spent ?? (yield* usedBy(attempt))), attempt.id);
  if (state === 'failed' && attempt?.error) parts.push(attempt.error.message.trim().split('\n').at(-1) ?? '');
  return parts.join(', ');
}

/** What the messages of an agent used that an execution hosts; of very many what the first ones used. */
function* usedBy(attempt: Execution): Asking<ExecutionUsage | null> {
  const run = yield* ask('runOwnedBy', attempt.id);
  let used: ExecutionUsage | null = null;
  for (const message of run ? yield* ask('messagesOfRun', run.id, mostMessages) : [])
    if (message.usage) used = addUsage(used, message.usage);
  return used;
}

function measuresOf(row: Execution, used: ExecutionUsage | null): string[] {
  const parts: string[] = [];
  if (row.startedAt !== null && row.endedAt !== null)
    parts.push(`${((row.endedAt - row.startedAt) / 1000).toFixed(1)} s`);
  if (used) parts.push(`used ${describeUsage(used)}`);
  return parts;
}

/** Half a character at the end would be another one. */
function cut(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
