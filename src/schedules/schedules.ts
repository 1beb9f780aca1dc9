import { FreshIds, idAs } from '../base/ids.ts';
import type { OccurrenceId, RunId, ScheduleId } from '../base/ids.ts';
import type { Rule } from '../ledger/decision.ts';
import { Draft } from '../ledger/decision.ts';
import type { Wake } from '../ledger/effects.ts';
import type { Occurrence } from '../ledger/occurrence.ts';
import type { ScheduleSession, WorkspaceMode } from '../ledger/schedule-definition.ts';
import type { Schedule } from '../ledger/schedule.ts';
import { fullName } from '../ledger/schedule.ts';
import type { PlannedMessage } from '../ledger/session.ts';
import type { PreparedWorkspace } from '../ledger/workspace.ts';
import type { WorkflowCall } from '../ledger/graph.ts';
import { rootPlan } from '../workflows/root-plan.ts';
import { begin, giveUp } from './begin.ts';
import { claim } from './claim.ts';
import { materialise } from './materialise.ts';
import type { SchedulesContext } from './ports.ts';
import { Preconditions } from './preconditions.ts';
import { defineWorkflow } from './scheduled-workflow.ts';

/** A wake-up of a schedule or of an occurrence. */
export type ScheduleWake = Wake & { readonly kind: 'schedule' | 'occurrence' };

/** How long after a failure of ours an occurrence is begun again, in milliseconds. */
const againMs = 60_000;

/**
 * Handles the wake-ups of schedules and occurrences. Both are idempotent. What takes long, a precondition or a directory,
 * is done beside them: an occurrence that is claimed is begun once at a time, and again after a restart.
 */
export class Schedules {
  readonly #context: SchedulesContext;
  readonly #preconditions: Preconditions;
  readonly #beginning = new Set<OccurrenceId>();

  constructor(context: SchedulesContext) {
    this.#context = context;
    this.#preconditions = new Preconditions(context);
  }

  /** Goes on with what was being begun when the last server ended, and looks at every schedule: the clock may have been set. */
  async start(): Promise<void> {
    for (const occurrence of await this.#context.claimed()) await this.#lookAt(occurrence.id);
    await this.lookAtAll();
  }

  /** Owes every schedule its wake-up. */
  async lookAtAll(): Promise<void> {
    const { store, clock, all } = this.#context;
    const ids = await all();
    await store.decide(() => owing(clock.now(), 'schedule', ids, 0));
  }

  async handle(wake: ScheduleWake): Promise<void> {
    if (wake.kind === 'occurrence') return this.#lookAt(wake.target as OccurrenceId);
    const { store, clock, ids } = this.#context;
    const fresh = new FreshIds(ids);
    const id = wake.target as ScheduleId;
    // What is still behind owes itself another wake-up.
    await store.decide(() => materialise({ now: clock.now(), id, fresh }));
  }

  /** Ends the precondition of an occurrence that was given up. */
  async endPrecondition(id: OccurrenceId): Promise<void> {
    await this.#context.commands.end(id);
  }

  async #lookAt(id: OccurrenceId): Promise<void> {
    const { store, clock } = this.#context;
    const decided = await store.decide(() => claim({ now: clock.now(), id }));
    if (!decided.ok) return;
    if (decided.value.next === 'begin') this.#beginBeside(decided.value.occurrence, decided.value.schedule);
    else for (const runId of decided.value.cancel) this.#cancelFor(runId);
  }

  #cancelFor(runId: RunId): void {
    const { stopping, owner } = this.#context;
    const request = {
      actor: { kind: 'system', name: 'overlap' },
      reason: 'another run takes its place',
    } as const;
    owner.start(async () => void (await stopping.cancelRun(runId, request)));
  }

  #beginBeside(occurrence: Occurrence, schedule: Schedule): void {
    const { owner, report } = this.#context;
    const { id } = occurrence;
    if (this.#beginning.has(id)) return;
    this.#beginning.add(id);
    owner.start(async (signal) => {
      try {
        await this.#begin(occurrence, schedule, signal);
      } catch (error) {
        if (signal.aborted) return;
        report('occurrence.failed', { occurrenceId: id, error: String(error) });
        await this.#owe(id, this.#context.clock.now() + againMs);
      } finally {
        this.#beginning.delete(id);
      }
    });
  }

  async #begin(occurrence: Occurrence, schedule: Schedule, signal: AbortSignal): Promise<void> {
    const { store, clock, node } = this.#context;
    const { id } = occurrence;
    const prepared = await this.#prepare(occurrence, schedule, signal);
    if (prepared === undefined) return;
    if ('reason' in prepared) {
      await store.decide(() => giveUp({ now: clock.now(), id, reason: prepared.reason }));
      return this.#preconditions.clear(occurrence, schedule.definition);
    }
    const { workspace, plan } = prepared;
    const command = { id, revision: schedule.revision, node, workspace, ...(plan ? { plan } : {}) };
    const begun = await store.decide(() => begin({ ...command, now: clock.now() }));
    await this.#preconditions.clear(occurrence, schedule.definition);
    // By what it says now, from the beginning.
    if (begun.ok && begun.value.as === 'changed') await this.#owe(id, 0);
  }

  /** Where it works; or why it does not begin; undefined when the server stops meanwhile. */
  async #prepare(
    occurrence: Occurrence,
    schedule: Schedule,
    signal: AbortSignal,
  ): Promise<Ready | { readonly reason: string } | undefined> {
    const { definition } = schedule;
    const { agent: name } = definition;
    const agent = name === null ? undefined : this.#context.agents.find(name);
    if (name !== null && !agent)
      return { reason: `dispatch: no agent "${name}" is configured for ${fullName(schedule)}` };
    const refused = await this.#preconditions.refusalOf(occurrence, definition, signal);
    if (signal.aborted) return undefined;
    if (refused !== undefined) return { reason: refused };
    const defined = await this.#define(occurrence, schedule);
    if (defined !== undefined && 'reason' in defined) return defined;
    const how = definition.workspace ?? usualWorkspace(definition.session, agent?.workspace);
    const runId = idAs('run', occurrence.id);
    const cwd = defined?.call.graph.settings.cwd ?? definition.cwd;
    const prepared = await this.#context.workspaces.prepare({ runId, name: schedule.name, how, cwd }, signal);
    if (signal.aborted) return undefined;
    if (!prepared.ok) return { reason: `dispatch: ${prepared.message}` };
    const { workspace } = prepared;
    if (!defined) return { workspace };
    const { timeoutMs, retry } = definition.workflow ?? {};
    return { workspace, plan: rootPlan(defined.call, { cwd: workspace.path, timeoutMs, retry }) };
  }

  /** The workflow that it runs, as its file says it now; undefined where it sends messages. */
  async #define(
    occurrence: Occurrence,
    schedule: Schedule,
  ): Promise<{ readonly call: WorkflowCall } | { readonly reason: string } | undefined> {
    const { workflow } = schedule.definition;
    if (workflow === undefined) return undefined;
    const defined = await defineWorkflow(this.#context, workflow, schedule, occurrence);
    return 'reason' in defined ? defined : { call: defined.definition.call };
  }

  async #owe(id: OccurrenceId, at: number): Promise<void> {
    const { store, clock } = this.#context;
    await store.decide(() => owing(clock.now(), 'occurrence', [id], at));
  }
}

/** What a run is begun with. `plan`: of a workflow; messages are in the definition. */
interface Ready {
  readonly workspace: PreparedWorkspace;
  readonly plan?: readonly PlannedMessage[];
}

/** What the profile says, else a directory alone; a kept conversation has no directory of one run. */
function usualWorkspace({ mode }: ScheduleSession, ofProfile: WorkspaceMode | undefined): WorkspaceMode {
  const isOfRun = ofProfile === 'worktree' || ofProfile === 'scratch';
  return ofProfile === undefined || (mode === 'keep' && isOfRun) ? 'exclusive' : ofProfile;
}

// biome-ignore lint/correctness/useYield: it asks nothing.
function* owing(now: number, kind: ScheduleWake['kind'], targets: readonly string[], at: number): Rule<void> {
  const draft = new Draft(now);
  for (const target of targets) draft.wake(kind, target, at);
  return draft.done(undefined);
}
