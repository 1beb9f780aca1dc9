import { reach } from '../base/faults.ts';
import type { ExecutionId } from '../base/ids.ts';
import { FreshIds } from '../base/ids.ts';
import { pause } from '../base/pause.ts';
import { endProgram } from '../ledger/graph-walk.ts';
import type { Graph, GraphStep, ProgramEnd, StepRef } from '../ledger/graph.ts';
import type { ScriptProgram } from '../ledger/step-plan.ts';
import type { CommandEnd, RunsContext } from './ports.ts';
import { checkOutputs, mayStart } from './outputs.ts';
import { directoryOf } from './step-directory.ts';
import { filledStep } from './step-filling.ts';

/** How long until something that could not be stored, say, is tried again. Milliseconds. */
const againMs = 5_000;

/** A script that is to run, as its step says it. */
interface Script {
  readonly id: ExecutionId;
  readonly graph: Graph;
  readonly step: GraphStep;
  readonly program: ScriptProgram;
}

/**
 * The scripts of steps that this server listens to. Their processes outlive it: after a restart the next server goes on
 * listening, and none is run twice. So many run at once, and the steps of more wait in line.
 */
export class Scripts {
  readonly #context: RunsContext;
  readonly #move: (ref: StepRef) => Promise<void>;
  readonly #running = new Set<ExecutionId>();
  /** The steps that have a place, first of all those that are being begun. */
  readonly #taken = new Set<StepRef>();
  readonly #line = new Set<StepRef>();

  /** `move` is called with a step for which there was no place, when there is. */
  constructor(context: RunsContext, move: (ref: StepRef) => Promise<void>) {
    this.#context = context;
    this.#move = move;
  }

  /**
   * Takes a place for the script of a step that is about to begin. False: there is none, and the step is moved again when
   * there is. It is given up by `leave`, or with the end of the script.
   */
  take(ref: StepRef): boolean {
    if (this.#taken.has(ref)) return true;
    if (this.#taken.size < this.#context.steps.mostScripts) {
      this.#taken.add(ref);
      return true;
    }
    this.#line.add(ref);
    return false;
  }

  /** The script of this step does not run: whoever waits the longest is next. */
  async leave(ref: StepRef): Promise<void> {
    if (!this.#taken.delete(ref)) return;
    for (const next of this.#line) {
      if (this.#taken.size >= this.#context.steps.mostScripts) return;
      this.#line.delete(next);
      await this.#moveNext(next);
    }
  }

  /** A step that could not be moved gives its place up, and is moved again in a while. */
  async #moveNext(ref: StepRef): Promise<void> {
    const { owner, clock, report } = this.#context;
    try {
      await this.#move(ref);
    } catch (error) {
      this.#taken.delete(ref);
      report('step.unmoved', { step: ref, error: String(error) });
      owner.start(async (signal) => {
        await pause(clock, againMs, signal);
        if (!signal.aborted) await this.#moveNext(ref);
      });
    }
  }

  /** Runs the script, or goes on listening to it. */
  listen(script: Script): void {
    const { owner } = this.#context;
    const { ref } = script.step;
    // What an earlier server began takes a place too, beyond those that there are.
    this.#taken.add(ref);
    if (this.#running.has(script.id) || owner.signal.aborted) return;
    this.#running.add(script.id);
    owner.start(async (signal) => {
      await this.#untilEnded(script, signal);
      this.#running.delete(script.id);
      await this.leave(ref);
    });
  }

  async #untilEnded(script: Script, signal: AbortSignal): Promise<void> {
    const { clock, report } = this.#context;
    while (!signal.aborted) {
      try {
        return await this.#run(script, signal);
      } catch (error) {
        if (signal.aborted) return;
        report('script.unfinished', { executionId: script.id, error: String(error) });
        await pause(clock, againMs, signal);
      }
    }
  }

  async #run(script: Script, signal: AbortSignal): Promise<void> {
    const { store, clock, ids, commands } = this.#context;
    const prepared = await this.#prepare(script);
    // It may run already, begun by an earlier server when all was there.
    if (!prepared.ok && (await commands.end(script.id)) === 'unkillable')
      throw new Error('it cannot be ended');
    reach('script.before');
    const subject = { id: script.id, mayStart: mayStart(this.#context, script.id) };
    const end = prepared.ok
      ? await withOutputs(
          this.#context,
          script,
          prepared,
          endOf(await commands.run(subject, prepared.command, prepared.cwd, signal, prepared.env)),
          signal,
        )
      : failed(prepared.code, prepared.message);
    reach('script.ended');
    const fresh = new FreshIds(ids);
    const ended = await store.decide(() => endProgram({ now: clock.now(), id: script.id, end, fresh }));
    // What it left in its process group is nobody's any more, unless something that it registered is at work there.
    if (!ended.ok || ended.value !== 'open') await commands.clear(script.id);
  }

  async #prepare({ graph, program }: Script): Promise<Prepared> {
    const { texts } = this.#context.steps;
    const directory = await directoryOf(this.#context, graph, program.cwd);
    if (!directory.ok) return directory;
    const said = await texts.environment(graph, program.env);
    if (!said.ok) return { ok: false, code: 'TEMPLATE_FAILED', message: said.message };
    const about = { ok: true, cwd: directory.path, env: said.env } as const;
    if (typeof program.run === 'string') return { ...about, command: program.run };
    const command: string[] = [];
    for (const part of program.run) {
      const filled = await texts.fill(graph, part);
      if (!filled.ok) return { ok: false, code: 'TEMPLATE_FAILED', message: filled.message };
      command.push(filled.text);
    }
    return { ...about, command };
  }
}

/** A script that ended well must have left its outputs behind. */
async function withOutputs(
  context: RunsContext,
  { id, graph, step }: Script,
  { cwd, env }: Extract<Prepared, { ok: true }>,
  end: ProgramEnd,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const { name } = step.plan;
  if (end.state !== 'succeeded' || Object.keys(step.plan.outputs).length === 0) return end;
  const filled = await filledStep(context, graph, step.plan);
  if (!filled.ok) return { ...failed('TEMPLATE_FAILED', filled.message), result: end.result };
  const { outputs } = filled.plan;
  const place = { workflowId: graph.id, step: name, attempt: step.tries };
  const found = await checkOutputs(context, {
    ...{ id, outputs, cwd, env, place, signal },
    answer: end.result,
  });
  if (found.ok) return { ...end, outputs: found.values };
  return { ...failed(found.error.code, found.error.message), result: end.result };
}

type Prepared =
  | {
      readonly ok: true;
      readonly command: string | readonly string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** How much of what a script printed is told with its failure: the end of it, where the reason usually is. */
const toldLines = 5;
const toldChars = 600;

function endOf({ exitCode, output, isUnstarted }: CommandEnd): ProgramEnd {
  const result = withoutLastBreaks(output);
  if (exitCode === 0) return { state: 'succeeded', result, error: null, outputs: {} };
  const how = exitCode === null ? 'it left no exit code' : `exit code ${exitCode}`;
  const said = output.trim().split('\n').slice(-toldLines).join('\n').slice(-toldChars);
  const message = isUnstarted ? `it could not be started: ${said}` : said === '' ? how : `${how}: ${said}`;
  return { ...failed('SCRIPT_FAILED', message), result };
}

/** As a shell takes what a command prints: what is compared with it, or put into a prompt, is one line where it is meant so. */
function withoutLastBreaks(output: string): string {
  let end = output.length;
  while (output[end - 1] === '\n' || output[end - 1] === '\r') end--;
  return output.slice(0, end);
}

function failed(code: string, message: string): ProgramEnd {
  return { state: 'failed', result: null, error: { code, message }, outputs: {} };
}
