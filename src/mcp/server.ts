import type { CallToolResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { Logger } from 'pino';
import { toStemmaError } from '../base/errors.ts';
import type { SessionId } from '../base/ids.ts';
import { parseInput, sayIssues } from '../contract/issues.ts';
import { findNearest } from '../base/nearest.ts';
import type { ToolArguments } from '../contract/tools.ts';
import { toolArguments } from '../contract/tools.ts';
import type { CallMeta, ToolAnswer, ToolCalls, ToolResults } from './ports.ts';
import { instructions, isToolName, sayResult, toolList, toolNames } from './tools.ts';

/** What a server of one exchange is made of. */
export interface ServerParts {
  readonly sessionId: SessionId;
  readonly toolCalls: ToolCalls;
  /** The agent is about to have the list of tools; must not throw. */
  readonly onListed: (sessionId: SessionId) => void;
  readonly log: Logger;
  readonly version: string;
  /** `_meta` of a request, as it was sent. */
  readonly metaOf: (requestId: string | number) => CallMeta;
}

/** A protocol server for one exchange: no state survives it, so an agent's connection survives our restarts. */
export function createExchangeServer(parts: ServerParts): Server {
  const server = new Server(
    { name: 'stemma', version: parts.version },
    { capabilities: { tools: {} }, instructions },
  );
  server.setRequestHandler('tools/list', async () => {
    parts.onListed(parts.sessionId);
    const allowed: readonly string[] = await parts.toolCalls.allowed(parts.sessionId);
    return { tools: toolList.filter(({ name }) => allowed.includes(name)) };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const { name } = params;
    if (!isToolName(name)) throw unknownTool(name);
    const parsed = parseInput(toolArguments[name], params.arguments ?? {});
    if (!parsed.ok) {
      return failure('INVALID_INPUT', `The arguments of ${name} are not valid: ${sayIssues(parsed.issues)}.`);
    }
    const meta = parts.metaOf(context.mcpReq.id);
    return carryOut(parts, name, parsed.value as ToolArguments<typeof name>, meta);
  });
  return server;
}

async function carryOut<Name extends keyof ToolResults>(
  { toolCalls, sessionId, log }: ServerParts,
  name: Name,
  args: ToolArguments<Name>,
  meta: CallMeta,
): Promise<CallToolResult> {
  try {
    const answer: ToolAnswer<ToolResults[Name]> = await toolCalls.call(sessionId, name, args, meta);
    if (!answer.ok) return failure(answer.code, answer.message);
    const structuredContent = { ...answer.result } as Record<string, unknown>;
    return { content: [{ type: 'text', text: sayResult(name, answer.result) }], structuredContent };
  } catch (thrown) {
    const error = toStemmaError(thrown);
    if (error.code === 'INTERNAL')
      log.error({ err: thrown, sessionId, tool: name }, 'a tool call failed by a bug');
    return failure(error.code, error.message);
  }
}

// A failed tool is a result, so that the model reads why; an error of the protocol would stay with its client.
function failure(code: string, message: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: `${code}: ${message}` }] };
}

function unknownTool(name: string): ProtocolError {
  const shown = name.slice(0, 100);
  const nearest = findNearest(shown, toolNames);
  const hint = nearest === undefined ? `There are: ${toolNames.join(', ')}.` : `Did you mean ${nearest}?`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${JSON.stringify(shown)}. ${hint}`);
}
