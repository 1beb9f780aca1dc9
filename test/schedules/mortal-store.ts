import type { WholeStore } from '../../src/store/whole-store.ts';

/** How long a process still lives: so many decisions, the last of which is committed or not. */
export interface Death {
  decisions: number;
  readonly isCommitted: boolean;
}

/** A store whose process dies at a decision: before its commit or right behind it. Whatever is asked after that fails. */
export class MortalStore implements WholeStore {
  /** Undefined: it lives. */
  death: Death | undefined;
  readonly #store: WholeStore;

  constructor(store: WholeStore) {
    this.#store = store;
  }

  readonly decide: WholeStore['decide'] = async (rule) => {
    const { death } = this;
    if (!death) return this.#store.decide(rule);
    death.decisions--;
    if (death.decisions > 0) return this.#store.decide(rule);
    if (death.decisions === 0 && death.isCommitted) await this.#store.decide(rule);
    throw new Error('died');
  };

  readonly finishWake: WholeStore['finishWake'] = async (wake, next) => {
    if (this.death && this.death.decisions <= 0) throw new Error('died');
    return this.#store.finishWake(wake, next);
  };

  readonly read: WholeStore['read'] = (asking) => this.#store.read(asking);
  readonly onCommit: WholeStore['onCommit'] = (listener) => this.#store.onCommit(listener);
  readonly dueWakes: WholeStore['dueWakes'] = (after, until) => this.#store.dueWakes(after, until);
  readonly nextWake: WholeStore['nextWake'] = (after) => this.#store.nextWake(after);
  readonly close: WholeStore['close'] = () => this.#store.close();

  get databaseId(): string {
    return this.#store.databaseId;
  }

  get views(): WholeStore['views'] {
    return this.#store.views;
  }

  get recovery(): WholeStore['recovery'] {
    return this.#store.recovery;
  }

  get events(): WholeStore['events'] {
    return this.#store.events;
  }

  get records(): WholeStore['records'] {
    return this.#store.records;
  }
}
