import type { ExecutionId } from '../../src/base/ids.ts';
import type { TurnLimits } from '../../src/ledger/line.ts';
import type { StoredEvent } from '../../src/ledger/store.ts';
import type { Call, CommandOf, LedgerRuleName } from './calls.ts';
import type { State } from './state.ts';

/** What a call came to. `thrown` is always a bug: rules refuse, they do not throw. */
export type Came =
  | { readonly as: 'decided'; readonly value: unknown }
  | { readonly as: 'refused'; readonly code: string }
  | { readonly as: 'thrown'; readonly error: Error };

/** One decision: the states around it, the call, and what was told. */
export interface Moment {
  readonly before: State;
  readonly after: State;
  readonly call: Call;
  readonly came: Came;
  /** UTC milliseconds. */
  readonly now: number;
  readonly events: readonly StoredEvent[];
  /** How many turns may run at once, as the server was told last. */
  readonly limits: TurnLimits | undefined;
  readonly facts: Facts;
}

/** What the test itself remembers of a history, since no state says it. */
export interface Facts {
  /** The number of the step in which an execution was registered. */
  readonly bornAt: Map<ExecutionId, number>;
  /** The code that the outcome of an execution must carry whatever its turn says: `CANCELLED`, or that of a failure. */
  readonly verdicts: Map<ExecutionId, string>;
  /** How often `execution.closed` was told of it. */
  readonly closedTold: Map<string, number>;
  /** Texts that were composed: a notice and the number of its hand-over. */
  readonly texts: Set<string>;
}

/** A named invariant. It answers what is wrong, or nothing. */
export interface Property {
  readonly name: string;
  readonly check: (moment: Moment) => string | undefined;
}

/** Nothing remembered yet. */
export function noFacts(): Facts {
  return {
    bornAt: new Map(),
    verdicts: new Map(),
    closedTold: new Map(),
    texts: new Set(),
  };
}

/** The command of the moment if it called this rule. */
export function commandIf<Name extends LedgerRuleName>(
  moment: Moment,
  name: Name,
): CommandOf<Name> | undefined {
  return moment.call.rule === name ? (moment.call.command as CommandOf<Name>) : undefined;
}

/** The rows that are not what they were: with what they were, if they were at all. */
export function changed<Id, Row>(
  before: ReadonlyMap<Id, Row>,
  after: ReadonlyMap<Id, Row>,
): { readonly was: Row | undefined; readonly row: Row }[] {
  const found: { was: Row | undefined; row: Row }[] = [];
  for (const [id, row] of after) {
    const was = before.get(id);
    if (was !== row) found.push({ was, row });
  }
  return found;
}

/** The first complaint of a list of rows. */
export function firstOf<Row>(
  rows: Iterable<Row>,
  complaint: (row: Row) => string | undefined,
): string | undefined {
  for (const row of rows) {
    const why = complaint(row);
    if (why !== undefined) return why;
  }
  return undefined;
}
