import type { GraphStep } from '../../ledger/graph.ts';
import type { Run } from '../../ledger/session.ts';
import type { Schedule } from '../../ledger/schedule.ts';
import type { TableName } from '../apply.ts';
import type { Param } from '../sql/connection.ts';

/** A column that repeats what statements must find inside of a document. */
export interface Derived {
  readonly name: string;
  /** The field of the document: when it changes, so does the column. */
  readonly of: string;
  readonly value: (row: never) => Param;
}

/** They are written beside the fields of a row, and never read. */
export const derivedColumns: { readonly [Name in TableName]?: readonly Derived[] } = {
  run: [{ name: 'workflow', of: 'plan', value: (row: Run) => row.plan[0]?.workflow?.workflow ?? null }],
  schedule: [
    { name: 'labels', of: 'definition', value: (row: Schedule) => JSON.stringify(row.definition.labels) },
  ],
  graphStep: [
    { name: 'step_name', of: 'plan', value: (row: GraphStep) => row.plan.name },
    { name: 'step_does', of: 'plan', value: (row: GraphStep) => row.plan.does.type },
  ],
};
