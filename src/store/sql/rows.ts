import type { ExecutionId } from '../../base/ids.ts';
import type { Execution } from '../../ledger/execution.ts';
import type { Graph, GraphStep } from '../../ledger/graph.ts';
import type { Admission } from '../../ledger/line.ts';
import type { Notice } from '../../ledger/notice.ts';
import type { Dispatch, Notification } from '../../ledger/notification.ts';
import type { Occurrence } from '../../ledger/occurrence.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { Input, Run, Session } from '../../ledger/session.ts';
import type { Steer, Turn } from '../../ledger/turn.ts';
import type { Workspace } from '../../ledger/workspace.ts';
import type { Param } from './connection.ts';

/** Rows of one table by id, as the transaction sees them. */
export interface Rows<Row> {
  /** Nobody need ask: there was never a row. False where that is not known. */
  readonly isUnused: boolean;
  get(id: string): Row | undefined;
  /** The rows of these ids, in that order. Throws when one is missing. */
  all(ids: readonly string[]): Row[];
  /** Those of these ids that there are, in that order. */
  some(ids: readonly string[]): Row[];
  /** Prepares a read of whole rows: `where` is all that follows the table in the statement. */
  where(where: string): (params: Param[]) => Row[];
}

/** The rows of the ledger. */
export interface LedgerRows {
  readonly executions: Rows<Execution>;
  readonly notices: Rows<Notice>;
  readonly sessions: Rows<Session>;
  readonly turns: Rows<Turn>;
  readonly inputs: Rows<Input>;
  readonly steers: Rows<Steer>;
  readonly runs: Rows<Run>;
  readonly schedules: Rows<Schedule>;
  readonly occurrences: Rows<Occurrence>;
  readonly notifications: Rows<Notification>;
  readonly dispatches: Rows<Dispatch>;
  readonly admissions: Rows<Admission>;
  readonly workspaces: Rows<Workspace>;
  readonly graphs: Rows<Graph>;
  readonly graphSteps: Rows<GraphStep>;
  holdersOf(id: ExecutionId): readonly ExecutionId[];
}
