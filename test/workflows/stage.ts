import { stepData } from '../../src/step-data/step-data.ts';
import { noRecords } from './no-records.ts';
import type { ExecutionId } from '../../src/base/ids.ts';
import { Ids } from '../../src/base/ids.ts';
import { Owner } from '../../src/base/lifetime.ts';
import { VirtualClock } from '../../src/base/virtual-clock.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { GraphSettings, GraphStep, WorkflowCall } from '../../src/ledger/graph.ts';
import { launch } from '../../src/ledger/launch.ts';
import { ask } from '../../src/ledger/questions.ts';
import type { StepPlan } from '../../src/ledger/step-plan.ts';
import { Commits } from '../../src/runs/commits.ts';
import type { CommandEnd, RunsContext } from '../../src/runs/ports.ts';
import { stepTexts } from '../../src/runs/step-texts.ts';
import { Steps } from '../../src/runs/steps.ts';
import { Stopping } from '../../src/runs/stopping.ts';
import { wakeHandler } from '../../src/runs/wake-handler.ts';
import { MemoryStore } from '../../src/store/memory/store.ts';
import { localWakeups } from '../../src/wakeups/local.ts';
import { waitFor } from '../e2e/wait-for.ts';
import { graphOf } from '../ledger/workflow.ts';

/** A command that was asked for, and what the test says of its end. */
export interface Asked {
  readonly command: string | readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly end: (end: Partial<CommandEnd>) => void;
}

/**
 * What moves workflows, on a ledger in memory and a clock that the test sets. Commands run in no process: the test says when
 * and how each ends. No agent is there.
 */
export class Stage {
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly ids: Ids;
  readonly asked = new Map<ExecutionId, Asked>();
  readonly reports: string[] = [];
  readonly #owner: Owner;
  readonly #stopping: Stopping;
  readonly #wakeups: ReturnType<typeof localWakeups>;
  readonly #commits: Commits;

  constructor(workflows: Readonly<Record<string, readonly StepPlan[]>> = {}, mostScripts = 16) {
    this.clock = new VirtualClock(Date.UTC(2026, 0, 1));
    this.store = new MemoryStore({ clock: this.clock });
    this.ids = new Ids(
      () => this.clock.now(),
      () => 0.5,
    );
    this.#owner = new Owner('test', (name, error) => this.reports.push(`${name}: ${String(error)}`));
    this.#commits = new Commits(this.store, this.clock);
    const report = (what: string): void => void this.reports.push(what);
    const sources = {
      variable: () => undefined,
      recordOf: (id: string) => `/records/${id}`,
      readFile: async () => ({ ok: false, why: 'there is no such file' }) as const,
    };
    const context: RunsContext = {
      sessions: absent('session'),
      texts: absent('message'),
      workspaces: absent('workspace'),
      store: this.store,
      clock: this.clock,
      ids: this.ids,
      commits: this.#commits,
      owner: this.#owner,
      report,
      commands: this.#commands(),
      steps: {
        node: 'local',
        texts: stepTexts(this.store, sources),
        workflows: { define: async ({ workflow }) => defined(workflow, workflows[workflow]) },
        tells: (name) => (name === 'demo' ? 'cost' : undefined),
        isDirectory: async (path) => !path.includes('missing'),
        mostScripts,
        data: stepData,
        records: noRecords,
      },
    };
    this.#stopping = new Stopping(context);
    const steps = new Steps(context);
    this.#wakeups = localWakeups({ store: this.store, clock: this.clock, report });
    const handle = wakeHandler(context, { stopping: this.#stopping, steps }, nothing, nothing);
    void this.#wakeups.start(handle);
  }

  /** A person launches a workflow of these steps. */
  async launch(steps: readonly StepPlan[], settings: Partial<GraphSettings> = {}): Promise<ExecutionId> {
    const id = this.ids.make('execution');
    const inputs = { day: '2026-12-01', size: 'small' };
    const graph = { ...graphOf(steps, settings), inputs };
    const command = { now: this.clock.now(), id, kind: 'workflow', name: 'nightly', graph } as const;
    await this.store.decide(() => launch({ ...command, caller: { by: 'person' } }));
    return id;
  }

  async step(id: ExecutionId, name: string): Promise<GraphStep> {
    const step = await this.store.read(() => ask('graphStepNamed', id, name));
    if (!step) throw new Error(`no step ${name}`);
    return step;
  }

  async row(id: ExecutionId): Promise<Execution> {
    const row = await this.store.read(() => ask('execution', id));
    if (!row) throw new Error(`no execution ${id}`);
    return row;
  }

  /** The command of the latest attempt of a step, when it has been asked for. */
  async command(id: ExecutionId, name: string): Promise<Asked> {
    const find = async (): Promise<Asked | undefined> => {
      const { currentId, state } = await this.step(id, name);
      return state === 'running' && currentId !== null ? this.asked.get(currentId) : undefined;
    };
    await this.until(`the command of ${name}`, async () => (await find()) !== undefined);
    return (await find()) as Asked;
  }

  /** Waits until a step is in this state. */
  async stepIs(id: ExecutionId, name: string, state: GraphStep['state']): Promise<GraphStep> {
    await this.until(`${name} is ${state}`, async () => (await this.step(id, name)).state === state);
    return this.step(id, name);
  }

  async closed(id: ExecutionId): Promise<Execution> {
    await this.until(`${id} is closed`, async () => (await this.row(id)).closed);
    return this.row(id);
  }

  async until(what: string, isSo: () => Promise<boolean>): Promise<void> {
    await waitFor(what, isSo, { withinMs: 5_000, seen: () => this.reports });
  }

  async cancel(id: ExecutionId): Promise<void> {
    const request = { actor: { kind: 'person' } } as const;
    await this.#stopping.cancelTree({ id, request, verdict: 'CANCELLED', join: false });
  }

  async stop(): Promise<void> {
    await this.#wakeups.stop();
    await this.#owner.stop();
    this.#commits.stop();
  }

  #commands(): RunsContext['commands'] {
    const ends = new Map<string, (end: Partial<CommandEnd>) => void>();
    return {
      run: ({ id }, command, cwd, signal, env = {}) =>
        new Promise((resolve, reject) => {
          const end = (how: Partial<CommandEnd>): void => resolve({ exitCode: 0, output: '', ...how });
          signal?.addEventListener('abort', () => reject(new Error('STOPPING')), { once: true });
          ends.set(id, end);
          this.asked.set(id as ExecutionId, { command, cwd, env, end });
        }),
      end: async (id) => {
        ends.get(id)?.({ exitCode: null, output: 'killed' });
        return 'dead';
      },
      forget: async () => undefined,
      clear: async () => undefined,
    };
  }
}

const nothing = async (): Promise<void> => undefined;

/** What no step without an agent comes to. */
function absent(what: string): never {
  const refuse = (): never => {
    throw new Error(`no ${what} is there`);
  };
  return new Proxy({}, { get: refuse }) as never;
}

function defined(workflow: string, steps: readonly StepPlan[] | undefined) {
  if (!steps) {
    const message = `There is no workflow "${workflow}".`;
    return { ok: false, code: 'NOT_FOUND', message, data: {} } as const;
  }
  const graph = { ...graphOf(steps), workflow };
  const call: WorkflowCall = { workflow, group: null, graph, timeoutMs: null, budget: null };
  const about = { project: 'default', name: workflow, call, isEvaluation: false, agents: [] };
  return { ok: true, value: about } as const;
}
