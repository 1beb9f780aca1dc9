import { reach } from '../base/faults.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import type { Execution, Failure } from '../ledger/execution.ts';
import { isSettled } from '../ledger/execution.ts';
import type { OutputPlan } from '../ledger/planned-message.ts';
import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { CommandEnd, RunsContext } from './ports.ts';
import type { AttemptPlace } from './step-ports.ts';

type OutputsContext = Pick<RunsContext, 'commands' | 'steps' | 'store'>;

/** What is to be looked at, and for whom: commands of outputs are run as parts of `id`, from 100 on. */
export interface OutputsWanted {
  readonly id: ExecutionId;
  readonly outputs: Readonly<Record<string, OutputPlan>>;
  readonly cwd: string;
  readonly answer: string | null;
  /** What its commands have in their environment; absent: nothing of a workflow. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** An abort lets go of its commands, which run on. */
  readonly signal: AbortSignal;
  /** Where copies of files belong; null: none are made. */
  readonly place: AttemptPlace | null;
}

/** Whether a command of an execution may begin still: one that was cancelled meanwhile begins nothing. */
export function mayStart({ store }: Pick<RunsContext, 'store'>, id: ExecutionId): () => Promise<boolean> {
  return async () => {
    const row = await store.read(() => ask('execution', id));
    return row !== undefined && !isSettled(row.state) && row.cancelRequested === null;
  };
}

/** The values of outputs, or `OUTPUT_INVALID` with all that is wrong, a line each. */
export type OutputsFound =
  | { readonly ok: true; readonly values: Readonly<Record<string, Json>> }
  | { readonly ok: false; readonly error: Failure };

const firstPart = 100;

/**
 * Runs the commands of outputs one after the other and looks at all that was to be left behind. A repetition after a restart finds the
 * commands that ended, and runs none twice, until `commands.forget(id)`. Rejects with `STOPPING` when aborted, and never otherwise.
 */
export async function checkOutputs(context: OutputsContext, wanted: OutputsWanted): Promise<OutputsFound> {
  const { id, outputs, cwd, answer, place, env, signal } = wanted;
  const printed: Record<string, { isYes: boolean; text: string }> = {};
  for (const [i, [name, plan]] of Object.entries(outputs).entries()) {
    if (plan.from !== 'command') continue;
    const subject = { id, part: firstPart + i, mayStart: mayStart(context, id) };
    const end = await context.commands.run(subject, plan.command, cwd, signal, env);
    reach('check.ran');
    const isYes = end.exitCode === 0;
    printed[name] = { isYes, text: isYes ? end.output : refusalOf(plan.command, end) };
  }
  const keep = (name: string, file: { path: string; bytes: number }): Promise<string> =>
    place ? context.steps.records.keepFile(place, name, file) : Promise.resolve(file.path);
  const found = await context.steps.data.outputs({ outputs, cwd, answer, printed, keep });
  if (found.ok) return found;
  return { ok: false, error: { code: 'OUTPUT_INVALID', message: found.mistakes.join('\n') } };
}

/** Which attempt of which step an execution is; null: it is none of a workflow. */
export function* placeOfAttempt(row: Execution): Asking<AttemptPlace | null> {
  const name = row.key?.startsWith('step:') ? row.key.slice('step:'.length) : undefined;
  if (name === undefined || row.parentId === null) return null;
  const workflow = yield* ask('graph', row.parentId);
  return workflow ? { workflowId: workflow.id, step: name, attempt: row.attempt } : null;
}

/** How much of what a command printed is told with its refusal: the end of it, where the reason usually is. */
const toldLines = 5;
const toldChars = 600;

/** Why the end of a command is a no, in a line or a few. */
export function refusalOf(command: string, { exitCode, output }: CommandEnd): string {
  const how = exitCode === null ? 'it left no exit code' : `exit code ${exitCode}`;
  const said = output.trim().split('\n').slice(-toldLines).join('\n').slice(-toldChars);
  return said === '' ? `${command}: ${how}` : `${command}: ${how}: ${said}`;
}
