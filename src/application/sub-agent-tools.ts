import type { ErrorCode } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { isId } from '../base/ids.ts';
import { findNearest } from '../base/nearest.ts';
import type { ToolArguments, ToolName } from '../contract/tools.ts';
import { orchestrationOf } from '../ledger/batch.ts';
import type { Execution } from '../ledger/execution.ts';
import { ask } from '../ledger/questions.ts';
import { defaultTimeoutMs } from '../ledger/registration.ts';
import type { Session } from '../ledger/session.ts';
import type { Orchestration } from '../ledger/step-plan.ts';
import type { CallMeta, ToolAnswer, ToolResults } from '../mcp/ports.ts';
import { withSubAgents } from '../workflows/orchestrator-text.ts';
import { plannedMessage } from '../workflows/planned-message.ts';
import type { ApplicationContext } from './context.ts';
import { toExecution } from './wire.ts';

/** The tools of an agent that gives out work. */
export type SubAgentTool = 'call_sub_agent' | 'call_generic_agent' | 'query_sub_agent' | 'stop_sub_agent';

/** What these tools need of the services. */
export type SubAgentContext = Pick<ApplicationContext, 'store' | 'launcher' | 'stopping' | 'views'>;

/** One call, and the conversation that it came from. */
interface Call {
  readonly session: Session;
  readonly todo: Orchestration;
  readonly meta: CallMeta;
}

type Handler<Name extends SubAgentTool> = (
  context: SubAgentContext,
  call: Call,
  args: ToolArguments<Name>,
) => Promise<ToolAnswer<ToolResults[Name]>>;

const handlers: { readonly [Name in SubAgentTool]: Handler<Name> } = {
  call_sub_agent: callSubAgent,
  call_generic_agent: callGenericAgent,
  query_sub_agent: querySubAgent,
  stop_sub_agent: stopSubAgent,
};

/** Whether it is a tool of those that give out work. */
export function isSubAgentTool(tool: ToolName): tool is SubAgentTool {
  return Object.hasOwn(handlers, tool);
}

/** Those that the agent of a session has: none, unless it gives out work. */
export async function allowedSubAgentTools(
  context: SubAgentContext,
  sessionId: SessionId,
): Promise<SubAgentTool[]> {
  const found = await orchestratorOf(context, sessionId);
  if (!found) return [];
  return (Object.keys(handlers) as SubAgentTool[]).filter((tool) => mayCall(found.todo, tool));
}

/** Carries out a call of an agent that gives out work. */
export async function callSubAgentTool<Name extends SubAgentTool>(
  context: SubAgentContext,
  sessionId: SessionId,
  tool: Name,
  args: ToolArguments<Name>,
  meta: CallMeta,
): Promise<ToolAnswer<ToolResults[Name]>> {
  const found = await orchestratorOf(context, sessionId);
  if (!found) {
    const message = `${tool} is for conversations that give out work, and this is none. Start work with run_in_background.`;
    return no('FORBIDDEN', message);
  }
  if (!mayCall(found.todo, tool)) return no('FORBIDDEN', `This work has no ${tool}. ${namesIn(found.todo)}`);
  const handler = handlers[tool] as Handler<Name>;
  return handler(context, { ...found, meta }, args);
}

async function orchestratorOf(
  { store }: SubAgentContext,
  id: SessionId,
): Promise<Omit<Call, 'meta'> | undefined> {
  return store.read(function* () {
    const session = yield* ask('session', id);
    const todo = session?.delivery === 'controller' ? yield* orchestrationOf(session) : null;
    return session && todo ? { session, todo } : undefined;
  });
}

function mayCall(todo: Orchestration, tool: SubAgentTool): boolean {
  if (tool === 'call_generic_agent') return todo.generic;
  return tool !== 'call_sub_agent' || Object.keys(todo.agents).length > 0;
}

function namesIn(todo: Orchestration): string {
  const names = Object.keys(todo.agents);
  return names.length === 0
    ? 'call_generic_agent calls an agent.'
    : `call_sub_agent can call: ${names.join(', ')}.`;
}

function no(code: ErrorCode, message: string): { ok: false; code: ErrorCode; message: string } {
  return { ok: false, code, message };
}

async function callSubAgent(
  context: SubAgentContext,
  call: Call,
  args: ToolArguments<'call_sub_agent'>,
): Promise<ToolAnswer<ToolResults['call_sub_agent']>> {
  const { agents } = call.todo;
  const plan = Object.hasOwn(agents, args.agent) ? agents[args.agent] : undefined;
  if (!plan) {
    const nearest = findNearest(args.agent, Object.keys(agents));
    const hint = nearest === undefined ? namesIn(call.todo) : `Did you mean "${nearest}"?`;
    return no('INVALID_INPUT', `agent: there is no sub-agent ${JSON.stringify(args.agent)}. ${hint}`);
  }
  const told = [plan.prompt, args.instruction].filter((part) => part !== null).join('\n\n');
  return launch(context, call, {
    name: nameOf(args.name, args.agent, args.instruction),
    key: args.name,
    text: plan.todo ? withSubAgents(told, plan.todo) : told,
    agent: { name: plan.agent, cwd: plan.cwd, todo: plan.todo },
  });
}

async function callGenericAgent(
  context: SubAgentContext,
  call: Call,
  args: ToolArguments<'call_generic_agent'>,
): Promise<ToolAnswer<ToolResults['call_generic_agent']>> {
  return launch(context, call, {
    name: nameOf(args.name, 'agent', args.instruction),
    key: args.name,
    text: args.instruction,
    agent: { name: args.agent ?? null, cwd: null, todo: null },
  });
}

/** How much of an instruction stands for a name, in characters. */
const shownOfInstruction = 40;

/** A name for people: the one that was given, or whom the call was to and how its instruction begins. */
function nameOf(given: string | undefined, agent: string, instruction: string): string {
  if (given !== undefined) return given;
  const line = instruction.trim().replace(/\s+/g, ' ');
  return `${agent}: ${line.length > shownOfInstruction ? `${line.slice(0, shownOfInstruction)}…` : line}`;
}

interface SubAgent {
  readonly name: string;
  /** Two calls with one name are attempts of one thing; without a name each is a thing of its own. */
  readonly key: string | undefined;
  readonly text: string;
  readonly agent: {
    readonly name: string | null;
    readonly cwd: string | null;
    readonly todo: Orchestration | null;
  };
}

async function launch(
  { launcher }: SubAgentContext,
  { session, meta }: Call,
  { name, key, text, agent }: SubAgent,
): Promise<ToolAnswer<ToolResults['call_sub_agent']>> {
  const launched = await launcher.launch({
    caller: { by: 'session', sessionId: session.id, meta },
    kind: 'agent',
    name,
    ...(key === undefined ? {} : { key: `agent:${key}` }),
    agent: {
      plan: [plannedMessage({ text, timeout: defaultTimeoutMs })],
      ...(agent.name === null ? {} : { name: agent.name }),
      ...(agent.cwd === null ? {} : { cwd: agent.cwd }),
      todo: agent.todo,
    },
  });
  if (!launched.ok) return no(launched.code, launched.message);
  const { id, rootId, parentId, state } = launched.value.execution;
  return { ok: true, result: { executionId: id, rootId, parentId, state } };
}

async function querySubAgent(
  context: SubAgentContext,
  call: Call,
  { id }: ToolArguments<'query_sub_agent'>,
): Promise<ToolAnswer<ToolResults['query_sub_agent']>> {
  const found = await findChild(context, call.session.id, id);
  return found.ok ? { ok: true, result: toExecution(found.row) } : found;
}

async function stopSubAgent(
  context: SubAgentContext,
  call: Call,
  args: ToolArguments<'stop_sub_agent'>,
): Promise<ToolAnswer<ToolResults['stop_sub_agent']>> {
  const { store, stopping } = context;
  const found = await findChild(context, call.session.id, args.id);
  if (!found.ok) return found;
  const { id } = found.row;
  const request = {
    actor: { kind: 'agent' as const, name: call.session.id },
    reason: 'asked for by its parent',
  };
  const cancelled = await stopping.cancelTree({ id, request, verdict: 'CANCELLED', join: true });
  if (!cancelled.ok) return no(cancelled.code, cancelled.message);
  const row = await store.read(() => ask('execution', id));
  const { state = 'cancelled', closed = false } = row ?? {};
  return { ok: true, result: { executionId: id, state, closed } };
}

/** A sub-agent that this very conversation started, by its id or the beginning of it. */
async function findChild(
  { store, views }: SubAgentContext,
  sessionId: SessionId,
  idOrPrefix: string,
): Promise<{ ok: true; row: Execution } | { ok: false; code: ErrorCode; message: string }> {
  const ids = isId('execution', idOrPrefix)
    ? [idOrPrefix]
    : await views.resolvePrefix('execution', idOrPrefix, 20);
  const own: Execution[] = [];
  for (const id of ids) {
    const row = await store.read(() => ask('execution', id));
    if (row?.mode === 'batch' && row.reportsTo === sessionId) own.push(row);
  }
  const [row] = own;
  if (!row)
    return no(
      'NOT_FOUND',
      `id: this conversation started no sub-agent ${idOrPrefix}; list_executions shows them.`,
    );
  if (own.length === 1) return { ok: true, row };
  return no('AMBIGUOUS_ID', `id: ${idOrPrefix} fits ${own.map(({ id }) => id).join(', ')}; give more of it.`);
}
