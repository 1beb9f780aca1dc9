import { StemmaError } from '../base/errors.ts';
import { findReadable } from './execution-handlers.ts';
import { valueOf } from './problems.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';

type Names = 'listWorkflows' | 'runWorkflow' | 'listWorkflowRuns' | 'getWorkflowOf' | 'getStepAttempt';

/** The routes about workflows. */
export function workflowHandlers({ ports }: HandlerContext): HandlersOf<Names> {
  const { workflows, workflowQueries: queries } = ports;
  return {
    listWorkflows: async ({ query }) => queries.list(query),
    runWorkflow: async ({ parameter, body, call }) => valueOf(await workflows.run(parameter, body, call)),
    listWorkflowRuns: async ({ parameter, query }) => queries.runs(parameter, query),
    getWorkflowOf: async ({ parameter, query, call }) => {
      const id = await findReadable(ports, parameter, call.caller);
      const found = await queries.of(id, query);
      if (found) return found;
      const message = `${id} is no workflow: it has no steps. GET /executions/${id} shows what it is.`;
      throw new StemmaError('NOT_FOUND', message, { id });
    },
    getStepAttempt: async ({ parameter, query, call }) => {
      const id = await findReadable(ports, parameter, call.caller);
      const found = await queries.attempt(id, query);
      if (found) return found;
      const message = `${id} is no attempt of a step of a workflow. GET /executions/${id} shows what it is.`;
      throw new StemmaError('NOT_FOUND', message, { id });
    },
  };
}
