import type { McpServer } from '@agentclientprotocol/sdk';
import type { Client } from '@modelcontextprotocol/client';
import type { Clock } from '../../base/clock.ts';
import { parseJson } from '../../base/parse-json.ts';
import { pauseOrThrow } from '../../base/pause.ts';

/** What a tool answered. A tool that failed is an answer too. */
export interface ToolAnswer {
  readonly text: string;
  readonly data: unknown;
  readonly failed: boolean;
}

/** How long a server that is away (it refuses, or says that it is still recovering) is tried again. */
const awayMs = 15_000;
const retryMs = 100;
const callTimeoutMs = 3_600_000;

/** The MCP servers that a conversation was given. Connections are made on first use and made again when lost. */
export class DemoTools {
  readonly #endpoints: Endpoint[];
  readonly #clock: Clock;

  constructor(servers: readonly McpServer[], clock: Clock) {
    this.#clock = clock;
    this.#endpoints = servers.flatMap((server) => {
      if (!('type' in server) || server.type !== 'http') return [];
      return [new Endpoint(server.url, Object.fromEntries(server.headers.map((h) => [h.name, h.value])))];
    });
  }

  /**
   * Calls the tool on the first server that has it. Waits for a server that is away, as a client with a patient
   * transport does; rejects when `signal` aborts, and with the server's error otherwise.
   */
  async call(tool: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer> {
    if (this.#endpoints.length === 0) return failure('this conversation was given no tools');
    const until = this.#clock.monotonic() + awayMs;
    for (;;) {
      try {
        const endpoint = await this.#having(tool);
        return await endpoint.call(tool, args, signal);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        const tryAgain = neverArrived(error) && this.#clock.monotonic() < until;
        if (!tryAgain) return failure(error instanceof Error ? error.message : String(error));
        await pauseOrThrow(this.#clock, retryMs, signal);
      }
    }
  }

  async #having(tool: string): Promise<Endpoint> {
    for (const endpoint of this.#endpoints) {
      if (this.#endpoints.length === 1 || (await endpoint.has(tool))) return endpoint;
    }
    const [first] = this.#endpoints;
    if (!first) throw new Error('no tools');
    return first;
  }
}

/** One MCP server. */
class Endpoint {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  #client: Promise<Client> | undefined;

  constructor(url: string, headers: Record<string, string>) {
    this.#url = url;
    this.#headers = headers;
  }

  async call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<ToolAnswer> {
    const client = await this.#connected();
    try {
      const result = await client.callTool({ name, arguments: args }, { signal, timeout: callTimeoutMs });
      const text = result.content
        .map((block) => (block.type === 'text' ? block.text : `[${block.type}]`))
        .join('\n');
      return { text, data: result.structuredContent ?? parseJson(text), failed: result.isError === true };
    } catch (error) {
      // A server that restarted knows neither this connection nor its session.
      if (neverArrived(error)) await this.#drop();
      throw error;
    }
  }

  async has(tool: string): Promise<boolean> {
    const { tools } = await (await this.#connected()).listTools();
    return tools.some((known) => known.name === tool);
  }

  async #drop(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    this.#client = undefined;
    await client?.close().catch(() => undefined);
  }

  #connected(): Promise<Client> {
    this.#client ??= this.#connect().catch((error: unknown) => {
      this.#client = undefined;
      throw error;
    });
    return this.#client;
  }

  async #connect(): Promise<Client> {
    // Loaded when a tool is first called: it is half of the time that this program takes to start.
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const client = new Client({ name: 'stemma-demo-agent', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(this.#url), {
      requestInit: { headers: this.#headers },
    });
    // The SDK declares `sessionId?: string` where exactOptionalPropertyTypes wants `string | undefined`.
    await client.connect(transport as Parameters<Client['connect']>[0]);
    return client;
  }
}

/** Whether the request certainly had no effect: nobody listened, or the server refused before looking at it. */
function neverArrived(error: unknown): boolean {
  // SdkHttpError has the status; what fetch throws has the reason as its cause.
  if (error instanceof Error && 'status' in error) return error.status === 503 || error.status === 404;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && cause.code === 'ECONNREFUSED') return true;
  }
  return false;
}

function failure(text: string): ToolAnswer {
  return { text, data: undefined, failed: true };
}
