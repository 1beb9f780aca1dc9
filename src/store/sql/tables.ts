import type { TableName } from '../apply.ts';
import type { RowOf } from '../apply.ts';
import type { Columns } from './columns.ts';
import {
  admissionColumns,
  dispatchColumns,
  executionColumns,
  inputColumns,
  noticeColumns,
  notificationColumns,
  occurrenceColumns,
  runColumns,
  scheduleColumns,
  sessionColumns,
  steerColumns,
  turnColumns,
  workspaceColumns,
} from './columns.ts';
import { graphColumns, graphStepColumns } from './graph-columns.ts';

/** What a table is called and made of. */
export interface TableShape<Row> {
  readonly table: string;
  readonly key: string & keyof Row;
  readonly columns: Columns<Row>;
  /** The field whose text may be long. */
  readonly longText?: keyof Row;
}

/** Every table whose rows effects insert and patch. */
export const tableShapes: { readonly [Name in TableName]: TableShape<RowOf[Name]> } = {
  execution: { table: 'executions', key: 'id', columns: executionColumns, longText: 'result' },
  notice: { table: 'notices', key: 'id', columns: noticeColumns },
  session: { table: 'sessions', key: 'id', columns: sessionColumns },
  turn: { table: 'turns', key: 'id', columns: turnColumns, longText: 'text' },
  input: { table: 'inputs', key: 'executionId', columns: inputColumns, longText: 'text' },
  steer: { table: 'steers', key: 'id', columns: steerColumns, longText: 'text' },
  run: { table: 'runs', key: 'id', columns: runColumns },
  schedule: { table: 'schedules', key: 'id', columns: scheduleColumns },
  occurrence: { table: 'occurrences', key: 'id', columns: occurrenceColumns },
  notification: { table: 'notifications', key: 'id', columns: notificationColumns },
  dispatch: { table: 'dispatches', key: 'id', columns: dispatchColumns },
  admission: { table: 'admissions', key: 'sessionId', columns: admissionColumns },
  workspace: { table: 'workspaces', key: 'runId', columns: workspaceColumns },
  graph: { table: 'graphs', key: 'id', columns: graphColumns },
  graphStep: { table: 'graph_steps', key: 'ref', columns: graphStepColumns, longText: 'result' },
};
