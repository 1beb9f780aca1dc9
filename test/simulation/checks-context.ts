import type { ExecutionId } from '../../src/base/ids.ts';
import type { MemorySnapshot } from '../../src/store/memory/state.ts';
import type { World } from './world.ts';

/** What a check of one commit looks at. */
export interface CommitContext {
  readonly world: World;
  readonly before: MemorySnapshot;
  readonly after: MemorySnapshot;
  /** Labels of the results that each continuation was registered for, over the whole history. */
  readonly continuations: ReadonlyMap<ExecutionId, ReadonlySet<string>>;
}
