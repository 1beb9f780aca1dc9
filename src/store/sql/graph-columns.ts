import type { Graph, GraphStep } from '../../ledger/graph.ts';
import type { Columns } from './columns.ts';
import { column, integer, json, seldom, text } from './columns.ts';

const count = column('integer', 0);

export const graphColumns: Columns<Graph> = {
  id: text('id'),
  project: text('project'),
  workflow: text('workflow'),
  group: seldom.text('variables_of'),
  inputs: json('inputs'),
  settings: json('settings'),
  of: seldom.text('of_id'),
  resumes: seldom.text('resumes_id'),
  left: integer('left_count'),
  failed: count('failed_count'),
  state: text('state'),
  outcome: seldom.text('outcome'),
  outcomeCode: seldom.text('outcome_code'),
  error: seldom.json('error'),
  isStopping: column('flag', false)('is_stopping'),
  createdAt: integer('created_at'),
  endedAt: seldom.integer('ended_at'),
};

export const graphStepColumns: Columns<GraphStep> = {
  ref: text('ref'),
  graphId: text('graph_id'),
  index: integer('place'),
  plan: json('plan'),
  dependents: json('dependents'),
  state: text('state'),
  blockedBy: count('blocked_by'),
  failedNeeds: count('failed_needs'),
  deadNeeds: count('dead_needs'),
  tries: count('tries'),
  retryAt: seldom.integer('retry_at'),
  currentId: seldom.text('current_id'),
  programEnd: seldom.json('program_end'),
  result: seldom.text('result'),
  outputs: json('outputs'),
  reason: seldom.text('reason'),
  reused: seldom.text('reused_id'),
  moves: count('moves'),
};
