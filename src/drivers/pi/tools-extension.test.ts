import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startToolServer, type ToolServer } from '../../../test/real/tool-server.ts';
import { callIdKey } from './tool-client.ts';
import { type PiExtensionApi, toolsExtension } from './tools-extension.ts';

type Tool = Parameters<PiExtensionApi['registerTool']>[0];

/** What pi would do with an extension, as far as this one goes. */
class Host {
  readonly tools = new Map<string, Tool>();
  readonly notices: string[] = [];
  active: string[] | undefined;
  readonly #handlers = new Map<string, (event: never, context: never) => unknown>();
  readonly api = {
    on: (event: string, handler: (event: never, context: never) => unknown) => {
      this.#handlers.set(event, handler);
    },
    registerTool: (tool: Tool) => void this.tools.set(tool.name, tool),
    setActiveTools: (names: string[]) => {
      this.active = names;
    },
  } as PiExtensionApi;

  async fire(event: string, data: object = {}): Promise<unknown> {
    const context = { ui: { notify: (text: string) => void this.notices.push(text) } };
    return this.#handlers.get(event)?.(data as never, context as never);
  }

  call(args: object, signal?: AbortSignal): ReturnType<Tool['execute']> {
    const tool = this.tools.get('slow_echo');
    if (!tool) throw new Error('there is no such tool');
    return tool.execute('call-7', args, signal);
  }
}

describe('the extension that gives pi our tools', () => {
  let server: ToolServer;
  let directory: string;
  let toolsFile: string;
  const pointTo = (url: string): void => writeFileSync(toolsFile, JSON.stringify({ url, token: 'bearer-x' }));

  beforeEach(async () => {
    server = await startToolServer();
    directory = mkdtempSync(join(tmpdir(), 'stemma-pi-extension-'));
    toolsFile = join(directory, 'tools.json');
    pointTo(server.url);
  });
  afterEach(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("offers what the server offers, and passes calls on with the bearer and pi's id of the call", async () => {
    const host = new Host();
    await toolsExtension({ toolsFile, readOnly: false })(host.api);
    expect([...host.tools.keys()]).toEqual(['slow_echo']);
    expect(host.tools.get('slow_echo')?.parameters).toMatchObject({
      type: 'object',
      required: ['secs', 'text'],
    });
    expect(await host.call({ secs: 0, text: 'hey' })).toMatchObject({
      content: [{ type: 'text', text: 'echo hey' }],
    });
    expect(server.calls).toMatchObject([
      { text: 'hey', bearer: 'bearer-x', meta: { [callIdKey]: 'call-7' } },
    ]);
    await expect(host.call({ secs: 'no number' })).rejects.toThrow('secs');
    expect(await host.fire('tool_call', { toolName: 'bash' })).toBeUndefined();
    expect(host.active).toBeUndefined();
  });

  it('takes everything that writes away in a read-only session', async () => {
    const host = new Host();
    await toolsExtension({ toolsFile, readOnly: true })(host.api);
    await host.fire('session_start');
    expect(host.active).toEqual(['read', 'grep', 'find', 'ls', 'slow_echo']);
    expect(await host.fire('tool_call', { toolName: 'bash' })).toMatchObject({ block: true });
    expect(await host.fire('tool_call', { toolName: 'slow_echo' })).toBeUndefined();
  });

  it('finds the next server, wherever that listens, and stops waiting when the call is cancelled', async () => {
    const host = new Host();
    await toolsExtension({ toolsFile, readOnly: false })(host.api);
    const next = await startToolServer();
    try {
      pointTo('http://127.0.0.1:1/mcp');
      const waiting = host.call({ secs: 0, text: 'moved' });
      const cancel = new AbortController();
      const cancelled = host.call({ secs: 0, text: 'never' }, cancel.signal);
      cancel.abort();
      await expect(cancelled).rejects.toThrow();
      pointTo(next.url);
      expect(await waiting).toMatchObject({ content: [{ text: 'echo moved' }] });
      expect(next.calls.map(({ text }) => text)).toEqual(['moved']);
    } finally {
      await next.close();
    }
  });

  it('says that a call whose connection broke may have been carried out, and does not repeat it', async () => {
    const host = new Host();
    await toolsExtension({ toolsFile, readOnly: false })(host.api);
    server.onCall = () => server.close();
    await expect(host.call({ secs: 5, text: 'broken' })).rejects.toThrow('may have been carried out');
    expect(server.calls).toHaveLength(1);
  });

  it('tries again before a turn when there was no server', async () => {
    rmSync(toolsFile);
    const host = new Host();
    await toolsExtension({ toolsFile, readOnly: false, listMs: 200 })(host.api);
    await host.fire('session_start');
    expect(host.notices).toEqual([expect.stringContaining("none of Stemma's tools")]);
    pointTo(server.url);
    await host.fire('before_agent_start');
    expect([...host.tools.keys()]).toEqual(['slow_echo']);
    expect(host.notices).toHaveLength(1);
  }, 20_000);
});
