import { StemmaError } from '../base/errors.ts';
import type { ExecutionId, SessionId } from '../base/ids.ts';
import type { Execution } from '../contract/execution.ts';
import type { QueryBody } from '../contract/requests.ts';
import { defaultWaitMs } from '../contract/requests.ts';
import { find, listFilter } from './finding.ts';
import type { HandlerContext, HandlersOf } from './route-request.ts';
import type { ApiPorts, Principal } from './ports.ts';
import { present, valueOf } from './problems.ts';

type OutsideNames = 'registerExecution' | 'settleExecution' | 'heartbeatExecution';
type Names =
  | 'query'
  | 'listExecutions'
  | 'getExecution'
  | 'getTree'
  | 'waitExecution'
  | 'cancelExecution'
  | 'answerExecution'
  | 'detachExecution';

/** The routes about executions. */
export function executionHandlers({ ports }: HandlerContext): HandlersOf<Names> {
  const { executions, queries, ids } = ports;
  const read = async (id: ExecutionId): Promise<Execution> => present(await queries.execution(id), id);
  return {
    query: async ({ body, call }) => valueOf(await executions.query(await withSession(ports, body), call)),
    listExecutions: async ({ query }) => queries.executions(await listFilter(ports, query)),
    getExecution: async ({ parameter, call }) => read(await findReadable(ports, parameter, call.caller)),
    getTree: async ({ parameter, query, call }) => {
      const id = await findReadable(ports, parameter, call.caller);
      return present(await queries.tree(id, { brief: query.brief === 'true' }), id);
    },
    waitExecution: async ({ parameter, query, call, signal }) => {
      const id = await findReadable(ports, parameter, call.caller);
      const timeoutMs = query.timeoutMs ?? defaultWaitMs;
      return valueOf(await ports.waiting.waitClosed(id, { timeoutMs, caller: call.caller, signal }));
    },
    cancelExecution: async ({ parameter, body, call }) => {
      const id = await find(ids, 'execution', parameter);
      valueOf(await executions.cancel(id, body, call));
      return read(id);
    },
    answerExecution: async ({ parameter, body, call }) => {
      const id = await find(ports.ids, 'execution', parameter);
      return read(valueOf(await executions.answer(id, body, call)));
    },
    detachExecution: async ({ parameter, body, call }) => {
      const id = await find(ids, 'execution', parameter);
      valueOf(await executions.detach(id, body.reason, call));
      return read(id);
    },
  };
}

/** The routes by which a program that runs elsewhere has its work in the tree. */
export function outsideWorkHandlers({ ports }: HandlerContext): HandlersOf<OutsideNames> {
  const { executions, queries } = ports;
  const read = async (id: ExecutionId): Promise<Execution> => present(await queries.execution(id), id);
  return {
    registerExecution: async ({ body, call }) => {
      const { executionId, token } = valueOf(await executions.register(body, call));
      return { ...(await read(executionId)), ...(token === undefined ? {} : { token }) };
    },
    settleExecution: async ({ parameter, body, call }) => {
      const id = await findChild(ports, parameter, call.caller);
      valueOf(await executions.settle(id, body, call));
      return read(id);
    },
    heartbeatExecution: async ({ parameter, call }) => {
      const id = await findChild(ports, parameter, call.caller);
      return valueOf(await executions.heartbeat(id, call));
    },
  };
}

async function withSession(
  ports: ApiPorts,
  body: QueryBody,
): Promise<Omit<QueryBody, 'sessionId'> & { readonly sessionId?: SessionId }> {
  const { sessionId, ...rest } = body;
  return sessionId === undefined ? rest : { ...rest, sessionId: await find(ports.ids, 'session', sessionId) };
}

/**
 * The execution that `text` names, if the caller may read it: an execution token reads its own tree and nothing else, a
 * session's token what that session set in motion. Throws as `find` does, and `FORBIDDEN`.
 */
export async function findReadable(ports: ApiPorts, text: string, caller: Principal): Promise<ExecutionId> {
  const id = await find(ports.ids, 'execution', text);
  if (caller.kind === 'session' && !(await isOfSession(ports, id, caller.sessionId)))
    throw notYours(id, 'is in no tree of the session of this token');
  if (caller.kind !== 'execution' || caller.executionId === id) return id;
  const [own, other] = await Promise.all([
    ports.queries.execution(caller.executionId),
    ports.queries.execution(id),
  ]);
  if (own === undefined || own.rootId !== other?.rootId)
    throw notYours(id, 'is not in the tree of this token');
  return id;
}

/** Whether the execution, or something above it, runs in the session or reports to it. */
async function isOfSession({ queries }: ApiPorts, id: string, sessionId: SessionId): Promise<boolean> {
  for (let current: string | null = id; current !== null; ) {
    const row: Execution | undefined = await queries.execution(current as ExecutionId);
    if (row?.runsIn === sessionId || row?.reportsTo?.sessionId === sessionId) return true;
    current = row?.parentId ?? null;
  }
  return false;
}

// An execution token speaks for its children and for nobody else, itself included: its program's exit speaks for it.
async function findChild(ports: ApiPorts, text: string, caller: Principal): Promise<ExecutionId> {
  const id = await find(ports.ids, 'execution', text);
  if (caller.kind !== 'execution') return id;
  const execution = present(await ports.queries.execution(id), id);
  if (execution.parentId !== caller.executionId)
    throw notYours(id, 'is no child of the execution of this token');
  return id;
}

function notYours(id: ExecutionId, why: string): StemmaError {
  return new StemmaError('FORBIDDEN', `${id} ${why}. Use an API token.`, { needs: 'operate' });
}
