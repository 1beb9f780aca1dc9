import type { TableName } from '../apply.ts';
import { demand } from '../demand.ts';
import type { MemoryState } from './state.ts';

/** A field that names a row of another table. */
type Reference = readonly [field: string, to: TableName];

/** Checked when the row is written. */
const references: { readonly [Name in TableName]: readonly Reference[] } = {
  execution: [
    ['parentId', 'execution'],
    ['rootId', 'execution'],
    ['reportsTo', 'session'],
    ['cancelledBy', 'session'],
    ['runId', 'run'],
  ],
  notice: [
    ['executionId', 'execution'],
    ['rootId', 'execution'],
    ['countedOn', 'execution'],
    ['sessionId', 'session'],
    ['continuationId', 'execution'],
  ],
  session: [['lastTurn', 'turn']],
  turn: [['sessionId', 'session']],
  input: [
    ['executionId', 'execution'],
    ['sessionId', 'session'],
  ],
  steer: [
    ['sessionId', 'session'],
    ['turnId', 'turn'],
    ['messageId', 'execution'],
  ],
  run: [
    ['sessionId', 'session'],
    ['ownerId', 'execution'],
    ['currentId', 'execution'],
    ['scheduleId', 'schedule'],
    ['occurrenceId', 'occurrence'],
  ],
  schedule: [['sessionId', 'session']],
  occurrence: [
    ['scheduleId', 'schedule'],
    ['runId', 'run'],
  ],
  notification: [
    ['rootId', 'execution'],
    ['sessionId', 'session'],
    ['runId', 'run'],
    ['scheduleId', 'schedule'],
  ],
  dispatch: [
    ['notificationId', 'notification'],
    ['leadId', 'dispatch'],
  ],
  admission: [['sessionId', 'session']],
  workspace: [['runId', 'run']],
  graph: [
    ['id', 'execution'],
    ['of', 'execution'],
    ['resumes', 'execution'],
  ],
  graphStep: [
    ['graphId', 'graph'],
    ['currentId', 'execution'],
    ['reused', 'execution'],
  ],
};

/** Checked when the decision is done, since two rows of it may name each other. */
const deferredReferences: { readonly [Name in TableName]?: readonly Reference[] } = {
  execution: [['runsIn', 'session']],
  notice: [['steerId', 'steer']],
  session: [
    ['hostedBy', 'execution'],
    ['laneTurn', 'turn'],
    ['wakeTurn', 'turn'],
  ],
  input: [['steerId', 'steer']],
};

/** Everything that a row names must exist when it is written. Its own table may already hold it. */
export function checkReferences(state: MemoryState, table: TableName, row: object): void {
  follow(state, references[table], row);
}

/** Everything that a row names must exist in the end. */
export function checkDeferredReferences(state: MemoryState, table: TableName, row: object): void {
  follow(state, deferredReferences[table] ?? [], row);
}

function follow(state: MemoryState, names: readonly Reference[], row: object): void {
  for (const [field, to] of names) {
    const id = (row as Record<string, unknown>)[field];
    if (typeof id === 'string')
      demand(state.rows(to).has(id), `${field} names ${id}, which does not exist`, to);
  }
}
