import type { SessionId } from '../base/ids.ts';
import type { ToolArguments, ToolName } from '../contract/tools.ts';
import type { Launched } from '../ledger/launch.ts';
import type { Decided } from '../ledger/store.ts';
import type { CallMeta, ToolAnswer, ToolResults } from '../mcp/ports.ts';
import type { ApplicationContext } from './context.ts';
import { launchReview } from './reviews.ts';
import { findTarget } from './workflow-targets.ts';

/** The tools that launch workflows and what is made of their runs. */
export type WorkflowTool = 'run_full_workflow' | 'run_full_evaluation' | 'execute_step' | 'start_review';

/** What they need of the server. */
export type WorkflowToolsContext = Pick<
  ApplicationContext,
  'store' | 'views' | 'launcher' | 'workflowLaunches' | 'reviews'
>;

type Handler<Name extends ToolName> = (
  context: WorkflowToolsContext,
  sessionId: SessionId,
  args: ToolArguments<Name>,
  meta: CallMeta,
) => Promise<ToolAnswer<ToolResults[Name]>>;

/** Each answers when what it launches is registered, never when it is done. */
export const workflowTools: { readonly [Name in WorkflowTool]: Handler<Name> } = {
  async run_full_workflow({ workflowLaunches }, sessionId, args, meta) {
    const { workflow, disable_evaluation: disabled, ...rest } = args;
    const launched = await workflowLaunches.full({
      caller: { by: 'session', sessionId, meta },
      workflow,
      ...present(rest),
      ...(disabled === true ? { evaluation: false } : {}),
    });
    return launchAnswer(launched);
  },
  async execute_step({ workflowLaunches }, sessionId, { workflow, step, ...rest }, meta) {
    const caller = { by: 'session', sessionId, meta } as const;
    return launchAnswer(await workflowLaunches.step({ caller, workflow, step, ...present(rest) }));
  },
  async run_full_evaluation(context, sessionId, { workflow, run }, meta) {
    const { workflowLaunches } = context;
    const caller = { by: 'session', sessionId, meta } as const;
    const scorer = await workflowLaunches.scorer(caller, workflow);
    if (!scorer.ok) return scorer;
    const { scored } = scorer.value;
    const found = await findTarget(context, {
      sessionId,
      run,
      fits: (graph) => scored === null || graph.workflow === scored,
      what: scored === null ? 'workflow' : `workflow "${scored}"`,
    });
    if (!found.ok) return found;
    return launchAnswer(await workflowLaunches.evaluation({ caller, scorer: scorer.value, of: found.id }));
  },
  async start_review(context, sessionId, { kind, run }, meta) {
    const caller = { by: 'session', sessionId, meta } as const;
    const what = { sessionId, run, fits: () => true, what: 'workflow' };
    const found = await findTarget(context, what);
    if (!found.ok) return found;
    return launchAnswer(await launchReview(context, { caller, kind, of: found.id }));
  },
};

/** What a launch is answered with. */
export function launchAnswer(launched: Decided<Launched>): ToolAnswer<ToolResults['run_full_workflow']> {
  if (!launched.ok) return { ok: false, code: launched.code, message: launched.message };
  const { id, rootId, parentId, state } = launched.value.execution;
  return { ok: true, result: { executionId: id, rootId, parentId, state } };
}

function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
