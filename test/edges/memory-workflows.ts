import { StemmaError } from '../../src/base/errors.ts';
import type { RunId } from '../../src/base/ids.ts';
import type { Answer, Call, WorkflowCommands, WorkflowQueries } from '../../src/api/ports.ts';
import type { Page } from '../../src/contract/page.ts';
import type { Run } from '../../src/contract/run.ts';
import type { StepAttemptView } from '../../src/contract/step-attempt.ts';
import type { Workflow, WorkflowRunBody, WorkflowView } from '../../src/contract/workflow.ts';
import type { MemoryLedger } from './memory-ledger.ts';

/** Workflows in memory: which there are, what was asked of them, and how those that were launched are shown. */
export class MemoryWorkflows implements WorkflowQueries, WorkflowCommands {
  readonly listed: Workflow[] = [];
  readonly views = new Map<string, WorkflowView>();
  readonly attempts = new Map<string, StepAttemptView>();
  /** The run that the next one that is begun is. */
  next: RunId | undefined;
  readonly #ledger: MemoryLedger;

  constructor(ledger: MemoryLedger) {
    this.#ledger = ledger;
  }

  forget(): void {
    this.listed.length = 0;
    this.views.clear();
    this.attempts.clear();
    this.next = undefined;
  }

  async list({ project }: { readonly project?: string | undefined }): Promise<Page<Workflow>> {
    return { items: this.listed.filter((one) => project === undefined || one.project === project) };
  }

  async of(id: string): Promise<WorkflowView | undefined> {
    return this.views.get(id);
  }

  async attempt(id: string): Promise<StepAttemptView | undefined> {
    return this.attempts.get(id);
  }

  async runs(name: string): Promise<Page<Run>> {
    const items = [...this.#ledger.runs.values()].filter(({ workflow }) => workflow?.name.endsWith(name));
    if (items.length > 0 || this.#find(name)) return { items };
    throw new StemmaError('NOT_FOUND', `There is no workflow "${name}".`, { id: name });
  }

  async run(name: string, body: WorkflowRunBody, call: Call): Promise<Answer<{ readonly runId: RunId }>> {
    this.#ledger.calls.push({ what: `runWorkflow ${name}`, call, body });
    const isThere = body.file !== undefined || this.#find(name) !== undefined;
    const message = `There is no workflow "${name}"; did you mean "nightly"?`;
    if (!isThere) return { ok: false, code: 'NOT_FOUND', message, data: { id: name, nearest: 'nightly' } };
    return { ok: true, value: { runId: this.next ?? this.#ledger.ids.make('run') } };
  }

  #find(name: string): Workflow | undefined {
    return this.listed.find((one) => one.name === name || `${one.project}/${one.name}` === name);
  }
}
