import type { ExecutionId } from '../../src/base/ids.ts';
import type { Execution } from '../../src/ledger/execution.ts';
import type { Notice } from '../../src/ledger/notice.ts';
import type { Input, Run, Session } from '../../src/ledger/session.ts';
import type { Steer, Turn, TurnOwner } from '../../src/ledger/turn.ts';

/** One whole durable state, as far as the observer looks at it. */
export interface LedgerState {
  readonly executions: readonly Execution[];
  readonly notices: readonly Notice[];
  readonly holds: readonly { readonly executionId: ExecutionId; readonly holderId: ExecutionId }[];
  readonly sessions: readonly Session[];
  readonly turns: readonly Turn[];
  readonly owners: readonly TurnOwner[];
  readonly inputs: readonly Input[];
  readonly steers: readonly Steer[];
  readonly runs: readonly Run[];
}
