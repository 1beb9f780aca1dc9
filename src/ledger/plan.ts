import type { Json } from '../base/json.ts';
import type { RunId } from '../base/ids.ts';
import type { PlannedMessage, Run } from './session.ts';

/** One row of a run: what `{{row.COLUMN}}` in its messages stands for. */
export type RunRow = Readonly<Record<string, Json>>;

/** Where a run with rows is: the row, and the message of the plan, both from 0. Without rows `row` is null. */
export interface Place {
  readonly row: number | null;
  readonly entry: number;
}

/** The rows of a new run: themselves, or those of another run, which has as many. */
export type RowsOfRun =
  | { readonly count: number; readonly rows: readonly RunRow[]; readonly from?: undefined }
  | { readonly count: number; readonly from: RunId };

type Planned = Pick<Run, 'plan' | 'rowCount'>;

/** How many places a run has: its messages, for each row all of them. */
export function lengthOf({ plan, rowCount }: Planned): number {
  return plan.length * (rowCount ?? 1);
}

/**
 * What is said at a place; undefined where there is none. Outputs are what the whole run leaves behind: with rows the gate of the
 * plan's last message has them at the last place only.
 */
export function plannedAt(run: Planned, index: number): PlannedMessage | undefined {
  const length = lengthOf(run);
  if (index < 0 || index >= length) return undefined;
  const planned = run.plan[index % run.plan.length];
  if (!planned?.gate?.outputs || index === length - 1) return planned;
  const { gate, ...rest } = planned;
  return gate.command === null ? rest : { ...rest, gate: { ...gate, outputs: null } };
}

/** Which row and which message a place is. */
export function placeOf({ plan, rowCount }: Planned, index: number): Place {
  if (rowCount === null || plan.length === 0) return { row: null, entry: index };
  return { row: Math.floor(index / plan.length), entry: index % plan.length };
}
