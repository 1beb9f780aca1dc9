import { pageOf } from './page.ts';
import { runAnswer } from './requests.ts';
import { at, get, post, type RouteSpec } from './route-spec.ts';
import { run } from './run.ts';
import { stepAttemptQuery, stepAttemptView } from './step-attempt.ts';
import * as workflows from './workflow.ts';

/** The routes of workflows. A workflow is named as a schedule is: alone, or as `project/name`. */
export const workflowRoutes = {
  listWorkflows: {
    ...get,
    path: at('/workflows'),
    summary: 'The workflow files of the server, by project and name; also those that cannot be run, and why',
    query: workflows.workflowsQuery,
    answer: pageOf(workflows.workflow),
  },
  runWorkflow: {
    ...post,
    path: at('/workflows/:name/run'),
    aliases: [at('/workflows/:project/:name/run')],
    summary: 'Begin a run of a workflow, as its file says it now',
    body: workflows.workflowRunBody,
    status: 202,
    answer: runAnswer,
    launches: true,
  },
  listWorkflowRuns: {
    ...get,
    path: at('/workflows/:name/runs'),
    aliases: [at('/workflows/:project/:name/runs')],
    summary: 'The runs of a workflow, newest first; with steps= each with its steps and its evaluation',
    query: workflows.workflowRunsQuery,
    answer: pageOf(run),
  },
  getWorkflowOf: {
    ...get,
    path: at('/executions/:id/workflow'),
    summary: 'The workflow whose execution this is: its steps and their attempts',
    also: ['execution', 'session'],
    query: workflows.workflowViewQuery,
    answer: workflows.workflowView,
  },
  getStepAttempt: {
    ...get,
    path: at('/executions/:id/attempt'),
    summary:
      'The attempt of a step that this execution is: what it was told, what came of it, and its record',
    also: ['execution', 'session'],
    query: stepAttemptQuery,
    answer: stepAttemptView,
  },
} as const satisfies Record<string, RouteSpec>;
