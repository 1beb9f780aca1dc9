import { ToolClient, type ToolAnswer } from './tool-client.ts';

/** What pi offers to an extension, as far as this one uses it. */
export interface PiExtensionApi {
  on(
    event: 'session_start' | 'before_agent_start',
    handler: (event: unknown, context: PiContext) => void | Promise<void>,
  ): void;
  on(event: 'tool_call', handler: (event: PiToolCall) => PiBlock | undefined): void;
  registerTool(tool: PiTool): void;
  setActiveTools(names: string[]): void;
}

interface PiContext {
  readonly ui: { notify(message: string, type: 'error' | 'warning'): void };
}

interface PiToolCall {
  readonly toolName: string;
}

interface PiBlock {
  readonly block: true;
  readonly reason: string;
}

interface PiTool {
  readonly name: string;
  readonly label: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters: unknown;
  execute(
    callId: string,
    args: unknown,
    signal: AbortSignal | undefined,
  ): Promise<{ content: ToolAnswer['content']; details: object }>;
}

/** What the driver tells the extension. */
export interface ExtensionSettings {
  /** Names the server of the tools; see `ToolClient`. Absent: there are no tools. */
  readonly toolsFile?: string;
  /** Only tools that read, and ours, may be used. */
  readonly readOnly: boolean;
  /** How long the list of tools is waited for. Milliseconds, default 5000. */
  readonly listMs?: number;
}

const readingTools = ['read', 'grep', 'find', 'ls'];

/**
 * The extension of pi through which its conversation has our tools. A loader that is written beside the session's other
 * files exports what this returns, with that session's settings.
 */
export function toolsExtension({
  toolsFile,
  readOnly,
  listMs = 5000,
}: ExtensionSettings): (pi: PiExtensionApi) => Promise<void> {
  return async (pi) => {
    const own = new Set<string>();
    const offer = async (): Promise<string | undefined> => {
      if (toolsFile === undefined || own.size > 0) return undefined;
      const complaint = await offerTools(pi, new ToolClient(toolsFile, listMs), own);
      if (readOnly && complaint === undefined && isStarted) pi.setActiveTools([...readingTools, ...own]);
      return complaint;
    };
    let isStarted = false;
    const complaint = await offer();
    pi.on('session_start', (_event, context) => {
      isStarted = true;
      if (complaint !== undefined) context.ui.notify(complaint, 'error');
      if (readOnly) pi.setActiveTools([...readingTools, ...own]);
    });
    // A server that was not there when pi loaded this may be there by now.
    pi.on('before_agent_start', async (_event, context) => {
      const still = await offer();
      if (still !== undefined) context.ui.notify(still, 'error');
    });
    // With such a handler pi has told of a call before it carries it out; the driver reads the call's turn there.
    pi.on('tool_call', ({ toolName }) => {
      if (!readOnly || readingTools.includes(toolName) || own.has(toolName)) return undefined;
      return { block: true, reason: `This session is read-only; the tool ${toolName} is not allowed.` };
    });
  };
}

/** Registers what the server offers. A sentence when that cannot be had: pi is of use without it. */
async function offerTools(
  pi: PiExtensionApi,
  client: ToolClient,
  own: Set<string>,
): Promise<string | undefined> {
  try {
    for (const tool of await client.list()) {
      own.add(tool.name);
      pi.registerTool({
        name: tool.name,
        label: tool.name,
        description: tool.description,
        parameters: tool.inputSchema,
        execute: async (callId, args, signal) => {
          const answer = await client.call(tool.name, args, callId, signal);
          // pi knows a failed tool by what it throws.
          if (answer.isError) throw new Error(textsOf(answer));
          return { content: answer.content, details: {} };
        },
      });
    }
    return undefined;
  } catch (error) {
    return `pi has none of Stemma's tools: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function textsOf({ content }: ToolAnswer): string {
  return content
    .map(({ text, type }) =>
      typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'data'}]`,
    )
    .join('\n');
}
