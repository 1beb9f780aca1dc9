import type { Clock } from '../base/clock.ts';
import type { ExecutionId } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { keyOfEvaluation } from '../ledger/graph-evaluation.ts';
import type { WorkflowCall } from '../ledger/graph.ts';
import type { Launched } from '../ledger/launch.ts';
import { ask } from '../ledger/questions.ts';
import { keyOfStep, keyOfWorkflow } from '../ledger/running-step.ts';
import type { Session } from '../ledger/session.ts';
import type { UsageTold } from '../ledger/spending.ts';
import { refusalOfBudget } from '../ledger/spending.ts';
import type { Decided, LedgerStore } from '../ledger/store.ts';
import type { ListedWorkflow, WorkflowDefinition, WorkflowSource } from '../workflows/port.ts';
import { baseDirectory } from './base-directory.ts';
import type { LaunchCaller, Launcher } from './launcher.ts';

/** What the launches of workflows need. */
export interface WorkflowLaunchingContext {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly launcher: Launcher;
  readonly workflows: WorkflowSource;
  /** What the agent of this name tells of its usage; undefined when none is configured. */
  readonly tells: (name: string) => UsageTold | undefined;
  /** Where the workflows of the server lie, and where it keeps what it makes; absolute. */
  readonly configDirectory: string;
  readonly dataDir: string;
}

/** A workflow, as somebody asks for it. */
export interface WantedWorkflow {
  readonly caller: LaunchCaller;
  /** Its name, or `project/name`. */
  readonly workflow: string;
  readonly group?: string;
  readonly inputs?: Readonly<Record<string, Json>>;
}

/** What scores, and the workflow that was named instead of it, if so: then only its runs are scored. */
export interface Scorer {
  readonly by: ListedWorkflow;
  readonly scored: string | null;
}

/** What is to score the run of a workflow. */
export interface WantedEvaluation {
  readonly caller: LaunchCaller;
  readonly scorer: Scorer;
  /** The execution of the workflow that is scored. */
  readonly of: ExecutionId;
}

/**
 * Launches workflows below whoever asks. What the file says is had first, so that one with mistakes begins nothing; then the
 * launcher registers it, and it is answered at once.
 */
export class WorkflowLaunches {
  readonly #context: WorkflowLaunchingContext;

  constructor(context: WorkflowLaunchingContext) {
    this.#context = context;
  }

  /** All steps of a workflow. `evaluation: false`: nothing scores it. */
  async full(wanted: WantedWorkflow & { readonly evaluation?: boolean }): Promise<Decided<Launched>> {
    const defined = await this.#define(wanted);
    if (!defined.ok) return defined;
    const { call, isEvaluation, name } = defined.value;
    if (isEvaluation) {
      const message = `workflow: "${name}" scores other workflows (of: run); ask for an evaluation.`;
      return invalid(message, 'workflow');
    }
    const key = keyOfWorkflow(call);
    return this.#launch(wanted.caller, { kind: 'workflow', name: nameOf(call), key, call });
  }

  /** One step alone; if it runs in the open trees of the session that asks, that one. */
  async step(wanted: WantedWorkflow & { readonly step: string }): Promise<Decided<Launched>> {
    const { step } = wanted;
    const defined = await this.#define({ ...wanted, evaluation: false });
    if (!defined.ok) return defined;
    const { call } = defined.value;
    const joins = { workflow: call.workflow, group: call.group, step };
    const name = `${call.workflow}/${step}${call.group === null ? '' : ` (${call.group})`}`;
    return this.#launch(wanted.caller, { kind: 'step', name, key: keyOfStep(joins), call, joins });
  }

  /** What scores, by the name of one that does or of one that is scored. */
  async scorer(caller: LaunchCaller, workflow: string): Promise<Decided<Scorer>> {
    const session = await this.#sessionOf(caller);
    const all = await this.#context.workflows.list();
    const listed = namedIn(all, workflow, session?.project);
    if (!listed || listed.problems.length > 0) {
      // Only to say why: the nearest name, or the mistakes of the file.
      const defined = await this.#define({ caller, workflow });
      return defined.ok
        ? invalid(`workflow: "${workflow}" is being changed; try again.`, 'workflow')
        : defined;
    }
    if (listed.isEvaluation) return { ok: true, value: { by: listed, scored: null } };
    const { name, evaluation, project } = listed;
    const by = evaluation === null ? undefined : namedIn(all, evaluation, project);
    if (by) return { ok: true, value: { by, scored: name } };
    const message = `workflow: nothing says what scores "${name}"; write "evaluation: NAME" into its file, or name a workflow of "of: run" here.`;
    return invalid(message, 'workflow');
  }

  /** Scores `of` when that is closed; with the group of it, where what scores has one of that name. */
  async evaluation({ caller, scorer, of }: WantedEvaluation): Promise<Decided<Launched>> {
    const target = await this.#context.store.read(() => ask('graph', of));
    if (!target) {
      const message = `run: ${of} is no workflow; only runs of workflows are scored.`;
      return { ok: false, code: 'ILLEGAL_STATE', message, data: { executionId: of } };
    }
    const { by, scored } = scorer;
    if (scored !== null && target.workflow !== scored)
      return invalid(`run: ${of} is a run of "${target.workflow}", not of "${scored}".`, 'run');
    const group = by.groups.find((name) => name === target.group);
    const workflow = `${by.project}/${by.name}`;
    const defined = await this.#define({ caller, workflow, ...(group === undefined ? {} : { group }) });
    if (!defined.ok) return defined;
    const { call } = defined.value;
    const key = keyOfEvaluation(call.workflow, call.group);
    return this.#launch(caller, {
      kind: 'evaluation',
      name: `${call.workflow} of ${target.workflow}`,
      key,
      call,
      of,
    });
  }

  async #define(
    wanted: WantedWorkflow & { readonly step?: string; readonly evaluation?: boolean },
  ): Promise<Decided<WorkflowDefinition>> {
    const { workflows, clock } = this.#context;
    const { caller, workflow, group, inputs, step, evaluation } = wanted;
    const session = await this.#sessionOf(caller);
    const cwd = session && baseDirectory(session.cwd, this.#context);
    const defined = await workflows.define({
      workflow,
      instant: clock.now(),
      ...(session === undefined ? {} : { project: session.project }),
      ...(group === undefined ? {} : { group }),
      ...(inputs === undefined ? {} : { inputs }),
      ...(step === undefined ? {} : { step }),
      ...(evaluation === undefined ? {} : { evaluation }),
      ...(cwd === undefined ? {} : { cwd }),
    });
    return defined.ok ? (this.#refusal(defined.value) ?? defined) : defined;
  }

  /** A budget that could not be kept is refused before anything begins. */
  #refusal({ call, agents }: WorkflowDefinition): Decided<never> | undefined {
    if (!call.budget) return undefined;
    for (const { agent } of agents) {
      const tells = this.#context.tells(agent);
      const refused = tells && refusalOfBudget(agent, tells, call.budget);
      if (refused) return refused;
    }
    return undefined;
  }

  async #launch(caller: LaunchCaller, what: Launchable): Promise<Decided<Launched>> {
    const { kind, name, key, call, of, joins } = what;
    const graph = of === undefined ? call.graph : { ...call.graph, of };
    const { timeoutMs, budget } = call;
    return this.#context.launcher.launch({
      caller,
      kind,
      name,
      key,
      graph,
      timeoutMs,
      budget,
      ...(of === undefined ? {} : { after: of }),
      ...(joins === undefined ? {} : { joins }),
    });
  }

  async #sessionOf(caller: LaunchCaller): Promise<Session | undefined> {
    return caller.by === 'session'
      ? this.#context.store.read(() => ask('session', caller.sessionId))
      : undefined;
  }
}

interface Launchable {
  readonly kind: 'workflow' | 'step' | 'evaluation';
  readonly name: string;
  readonly key: string;
  readonly call: WorkflowCall;
  readonly of?: ExecutionId;
  readonly joins?: { readonly workflow: string; readonly group: string | null; readonly step: string };
}

function nameOf({ workflow, group }: Pick<WorkflowCall, 'workflow' | 'group'>): string {
  return group === null ? workflow : `${workflow} (${group})`;
}

/** `project/name`, or a name: of this project, or the only one of it. */
function namedIn(
  all: readonly ListedWorkflow[],
  wanted: string,
  project: string | undefined,
): ListedWorkflow | undefined {
  const fitting = all.filter((one) => one.name === wanted || `${one.project}/${one.name}` === wanted);
  return fitting.find((one) => one.project === project) ?? (fitting.length === 1 ? fitting[0] : undefined);
}

function invalid(message: string, field: string): Decided<never> {
  return { ok: false, code: 'INVALID_INPUT', message, data: { field } };
}
