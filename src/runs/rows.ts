import { reach } from '../base/faults.ts';
import type { Failure } from '../ledger/execution.ts';
import type { Graph, GraphStep } from '../ledger/graph.ts';
import type { RunRow } from '../ledger/plan.ts';
import { ask } from '../ledger/questions.ts';
import type { RowsPlan, StepPlan } from '../ledger/step-plan.ts';
import { refusalOf } from './outputs.ts';
import type { RunsContext } from './ports.ts';

type RowsContext = Pick<RunsContext, 'commands' | 'steps' | 'store'>;

/** A step that is about to begin, and the workflow that it is one of. */
export interface RowsOf {
  readonly graph: Graph;
  readonly step: Pick<GraphStep, 'plan' | 'index' | 'tries' | 'ref' | 'moves'>;
}

/** How much a command of rows may print, in bytes. It is less than is kept of it, so that what is read here is whole. */
const mostPrinted = 1_000_000;
/** How long such a command may take if its step does not say, in milliseconds. */
const usualTimeMs = 600_000;

/** Rows, or why a step that is to go through them cannot begin. */
export type RowsFound =
  | { readonly ok: true; readonly rows: readonly RunRow[] }
  | { readonly ok: false; readonly error: Failure };

/**
 * The rows of a step that is about to begin, or why it cannot. Rejects with `STOPPING` when aborted, and never otherwise: then its
 * command runs on, and the next server goes on listening to it.
 */
export async function readRows(
  context: RowsContext,
  of: RowsOf,
  from: RowsPlan,
  cwd: string,
  signal: AbortSignal,
): Promise<RowsFound> {
  const printed = from.from === 'command' ? await printedBy(context, of, from, cwd, signal) : { text: '' };
  const read =
    'text' in printed
      ? await context.steps.data.rows(from, cwd, printed.text)
      : { ok: false as const, ...printed };
  if (read.ok) return read;
  const { code = 'INVALID_INPUT' } = printed as Partial<Failure>;
  return { ok: false, error: { code, message: `foreach of step "${of.step.plan.name}": ${read.message}` } };
}

/** Whether the rows of a step come from a command, which may take its time. */
export function hasRowsCommand({ does }: StepPlan): boolean {
  return does.type === 'sequence' && does.foreach?.from === 'command';
}

/** What was committed of a step, or that it never begins, is all there is to know: what is kept of the command of its rows goes. */
export async function forgetRows(
  { commands }: Pick<RunsContext, 'commands'>,
  { graph, step }: RowsOf,
): Promise<void> {
  if (hasRowsCommand(step.plan)) await commands.clear(graph.id, partOf(step));
}

/** What it printed, whole; or why that cannot be had. There is no attempt yet, so the command belongs to the workflow. */
async function printedBy(
  context: RowsContext,
  { graph, step }: RowsOf,
  { command, timeoutMs: limitMs = usualTimeMs }: Extract<RowsPlan, { from: 'command' }>,
  cwd: string,
  signal: AbortSignal,
): Promise<{ readonly text: string } | Failure> {
  const said = await context.steps.texts.environment(graph, {});
  if (!said.ok) return { code: 'TEMPLATE_FAILED', message: said.message };
  const subject = { id: graph.id, part: partOf(step), limitMs, mayStart: mayBegin(context, step) };
  reach('rows.before');
  const end = await context.commands.run(subject, command, cwd, signal, said.env);
  reach('rows.ran');
  if (end.isOverdue) {
    const message = `${command}: it was not over in ${limitMs / 1_000} s, and was ended; a "timeout" beside it says how long it may take.`;
    return { code: 'TIMED_OUT', message };
  }
  if (end.exitCode !== 0) return { code: 'INVALID_INPUT', message: refusalOf(command, end) };
  if (Buffer.byteLength(end.output) <= mostPrinted) return { text: end.output };
  const message = `${command} prints more than ${mostPrinted} bytes; let a step before it write a file, and name that.`;
  return { code: 'INVALID_INPUT', message };
}

/** Whether the command of the rows may begin still: a step that was moved, or skipped, meanwhile begins nothing. */
function mayBegin({ store }: RowsContext, { ref, moves }: RowsOf['step']): () => Promise<boolean> {
  return () =>
    store.read(function* () {
      const step = yield* ask('graphStep', ref);
      const owner = step && (yield* ask('execution', step.graphId));
      return step?.moves === moves && owner !== undefined && owner.cancelRequested === null;
    });
}

/** More often than this no step is tried. */
const mostTries = 1_000_000;

/** Each attempt of each step has rows of its own: a number that no other one of the workflow has. */
function partOf({ index, tries }: RowsOf['step']): number {
  return 1 + index * mostTries + tries;
}
