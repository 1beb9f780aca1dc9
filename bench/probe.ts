import type { ExecutionId } from '../src/base/ids.ts';
import type { Wake } from '../src/ledger/effects.ts';
import { newExecution } from '../src/ledger/registration.ts';
import type { Rule } from '../src/ledger/decision.ts';
import { Draft } from '../src/ledger/decision.ts';
import type { Load } from './load.ts';

/** Roots whose closing wakes a handler, and how long that takes. */
export interface Probe {
  /** A new root that owes a wake-up when it closes. Its lag is measured by the next `lagOf`. */
  root(): Promise<ExecutionId>;
  /** Settles the last thing that is open below the newest root; milliseconds from the call to the handler. */
  lagOf(last: ExecutionId): Promise<number>;
  readonly handle: (wake: Wake) => Promise<void>;
}

/** Measures one closing at a time. */
export function closing(load: Load): Probe {
  const called = new Map<string, (at: number) => void>();
  let target = '';
  return {
    async root() {
      const id = load.ids.make('execution');
      target = load.ids.make('run');
      await load.store.decide(() => registration(id, `run:${target}`));
      return id;
    },
    async lagOf(last) {
      const key = target;
      const handled = new Promise<number>((resolve) => called.set(key, resolve));
      const begun = performance.now();
      await load.settle(last);
      return (await handled) - begun;
    },
    async handle({ target: of }) {
      const at = performance.now();
      called.get(of)?.(at);
      called.delete(of);
    },
  };
}

// biome-ignore lint/correctness/useYield: it asks nothing.
function* registration(id: ExecutionId, wakeOnClose: string): Rule<undefined> {
  const draft = new Draft(Date.now());
  draft.register(
    newExecution(draft.now, null, 'none', { id, kind: 'outside', name: 'probe', wakeOnClose }),
    [],
  );
  return draft.done(undefined);
}
