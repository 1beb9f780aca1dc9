import type { ErrorCode } from '../base/errors.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import type { ToolArguments, ToolName } from '../contract/tools.ts';
import { enqueueBelow } from '../ledger/enqueue.ts';
import type { Execution } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { CallMeta, ShownExecution, ToolAnswer, ToolCalls, ToolResults } from '../mcp/ports.ts';
import { shownExecution } from './brief-steps.ts';
import { plannedMessage } from '../workflows/planned-message.ts';
import type { ApplicationContext } from './context.ts';
import type { ScheduleServices, ScheduleTool } from './schedule-tools.ts';
import { allowedScheduleTools, callScheduleTool, isScheduleTool } from './schedule-tools.ts';
import type { SubAgentTool } from './sub-agent-tools.ts';
import { allowedSubAgentTools, callSubAgentTool, isSubAgentTool } from './sub-agent-tools.ts';
import { launchAnswer, workflowTools } from './workflow-tools.ts';

/** Most executions that one listing shows. */
const listLimit = 200;

type Handler<Name extends ToolName> = (
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<Name>,
  meta: CallMeta,
) => Promise<ToolAnswer<ToolResults[Name]>>;

type OwnTool = Exclude<ToolName, ScheduleTool | SubAgentTool>;

const handlers: { readonly [Name in OwnTool]: Handler<Name> } = {
  run_in_background: runInBackground,
  ...workflowTools,
  list_executions: listExecutions,
  get_execution: getExecution,
  send_to_execution: sendToExecution,
  cancel_execution: cancelExecution,
};

/** The tools of agents. A call sees and touches only what the calling session's own trees hold. */
export function createToolCalls(context: ApplicationContext, schedules: ScheduleServices): ToolCalls {
  return {
    allowed: async (sessionId) => [
      ...(Object.keys(handlers) as (keyof typeof handlers)[]),
      ...(await allowedScheduleTools(context, sessionId)),
      ...(await allowedSubAgentTools(context, sessionId)),
    ],
    call: <Name extends ToolName>(
      sessionId: SessionId,
      tool: Name,
      args: ToolArguments<Name>,
      meta: CallMeta,
    ): Promise<ToolAnswer<ToolResults[Name]>> => {
      // The table is read by name, so its types meet here without their names.
      const any = args as never;
      if (isSubAgentTool(tool))
        return callSubAgentTool(context, sessionId, tool, any, meta) as Promise<
          ToolAnswer<ToolResults[Name]>
        >;
      const answer = isScheduleTool(tool)
        ? callScheduleTool(context, schedules, sessionId, tool, any)
        : handlers[tool as OwnTool](context, sessionId, any, meta);
      return answer as Promise<ToolAnswer<ToolResults[Name]>>;
    },
  };
}

function no(code: ErrorCode, message: string): { ok: false; code: ErrorCode; message: string } {
  return { ok: false, code, message };
}

async function runInBackground(
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<'run_in_background'>,
  meta: CallMeta,
): Promise<ToolAnswer<ToolResults['run_in_background']>> {
  const plan = [{ text: args.instruction, timeout: defaultTimeoutMs }, ...(args.messages ?? [])].map(
    plannedMessage,
  );
  const launched = await context.launcher.launch({
    caller: { by: 'session', sessionId, meta },
    kind: 'agent',
    name: args.name,
    key: `agent:${args.name}`,
    agent: { plan, ...(args.agent === undefined ? {} : { name: args.agent }) },
  });
  return launchAnswer(launched);
}

async function listExecutions(
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<'list_executions'>,
): Promise<ToolAnswer<ToolResults['list_executions']>> {
  const own = await context.views.executions({ sessionId, limit: listLimit });
  const roots = [...new Set(own.items.filter((row) => !row.closed).map((row) => row.rootId))];
  const found: Execution[] = [];
  for (const root of roots) {
    const tree = await context.views.tree(root, { limit: listLimit });
    for (const row of tree?.executions ?? []) {
      if (args.state !== undefined && row.state !== args.state) continue;
      if (await isOwn(context, row, sessionId)) found.push(row);
    }
  }
  const items: ShownExecution[] = [];
  for (const row of found.slice(0, listLimit)) items.push(await shownExecution(context, row));
  return { ok: true, result: { items } };
}

async function getExecution(
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<'get_execution'>,
): Promise<ToolAnswer<ToolResults['get_execution']>> {
  const found = await findOwn(context, sessionId, args.id);
  return found.ok ? { ok: true, result: await shownExecution(context, found.row) } : found;
}

async function sendToExecution(
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<'send_to_execution'>,
): Promise<ToolAnswer<ToolResults['send_to_execution']>> {
  const { store, clock, ids } = context;
  const found = await findOwn(context, sessionId, args.id);
  if (!found.ok) return found;
  const target = found.row;
  if ((target.kind !== 'agent' && target.kind !== 'review') || target.runsIn === null) {
    return no('ILLEGAL_STATE', `${target.id} is no background agent; only those take messages.`);
  }
  const message = { id: ids.make('execution'), sessionId: target.runsIn, text: args.text, parent: target };
  const sent = await store.decide(() => enqueueBelow({ now: clock.now(), message, parentId: target.id }));
  if (!sent.ok) return no(sent.code, sent.message);
  return { ok: true, result: { executionId: message.id, disposition: sent.value.disposition } };
}

async function cancelExecution(
  context: ApplicationContext,
  sessionId: SessionId,
  args: ToolArguments<'cancel_execution'>,
): Promise<ToolAnswer<ToolResults['cancel_execution']>> {
  const { stopping, store } = context;
  const found = await findOwn(context, sessionId, args.id);
  if (!found.ok) return found;
  const { id } = found.row;
  // Its own turn is part of what it would wait for when the target runs in this very session.
  const join = found.row.runsIn !== sessionId;
  const request = { actor: { kind: 'agent' as const, name: sessionId }, reason: 'asked for by its parent' };
  const cancelled = await stopping.cancelTree({ id, request, verdict: 'CANCELLED', join });
  if (!cancelled.ok) return no(cancelled.code, cancelled.message);
  const row = await store.read(() => ask('execution', id));
  return {
    ok: true,
    result: { executionId: id, state: row?.state ?? 'cancelled', closed: row?.closed ?? false },
  };
}

async function findOwn(
  context: ApplicationContext,
  sessionId: SessionId,
  idOrPrefix: string,
): Promise<{ ok: true; row: Execution } | { ok: false; code: ErrorCode; message: string }> {
  const ids = isId('execution', idOrPrefix)
    ? [idOrPrefix]
    : await context.views.resolvePrefix('execution', idOrPrefix, 20);
  const own: Execution[] = [];
  for (const id of ids) {
    const row = await context.store.read(() => ask('execution', id));
    if (row && (await isOwn(context, row, sessionId))) own.push(row);
  }
  const [row] = own;
  if (!row)
    return no(
      'NOT_FOUND',
      `No execution ${idOrPrefix} in the trees of this session; list_executions shows them.`,
    );
  if (own.length === 1) return { ok: true, row };
  return no('AMBIGUOUS_ID', `${idOrPrefix} fits ${own.map(({ id }) => id).join(', ')}; give more of it.`);
}

/** Whether the execution, or something above it, runs in the session: a child session never sees its parent's tree. */
async function isOwn(context: ApplicationContext, row: Execution, sessionId: SessionId): Promise<boolean> {
  let current: Execution | undefined = row;
  while (current) {
    if (current.runsIn === sessionId) return true;
    const parentId: ExecutionId | null = current.parentId;
    current = parentId === null ? undefined : await context.store.read(() => ask('execution', parentId));
  }
  return false;
}
