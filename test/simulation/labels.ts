import type { Execution } from '../../src/ledger/execution.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { Truth } from './truth.ts';

/**
 * The rows of the ledger under the labels of the history. The product calls a step that was asked for alone by its workflow, and a
 * review or an evaluation by what it is about, so several of them can have one name; a history tells them apart by the workflow that
 * was made up for each, and by the kind of the review.
 */
export class Labels {
  readonly #truth: Truth;
  readonly #renamed = new WeakMap<Execution, Execution>();
  /** How many graphs were looked at: there are only ever more. */
  #graphs = 0;
  #executions = 0;

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  /** The same state, in which every execution is called by its label. */
  apply(state: MemorySnapshot): MemorySnapshot {
    const { labels } = this.#truth;
    const { executions, graphs } = state;
    if (graphs.length !== this.#graphs || executions.length !== this.#executions) {
      for (const { id, workflow } of graphs) labels.set(id, workflow);
      for (const { id, kind, name } of executions)
        if (kind === 'review') labels.set(id, name.split(' ', 1)[0] ?? name);
      this.#graphs = graphs.length;
      this.#executions = executions.length;
    }
    if (labels.size === 0) return state;
    return { ...state, executions: executions.map((row) => this.#labelled(row)) };
  }

  #labelled(row: Execution): Execution {
    const label = this.#truth.labels.get(row.id);
    if (label === undefined || label === row.name) return row;
    const known = this.#renamed.get(row);
    if (known) return known;
    const renamed = { ...row, name: label };
    this.#renamed.set(row, renamed);
    return renamed;
  }
}
