import type { AgentContext, ContentBlock, InitializeResponse, McpServer } from '@agentclientprotocol/sdk';
import { agent, methods, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { type Clock, systemClock } from '../../base/clock.ts';
import { toStemmaError } from '../../base/errors.ts';
import { DemoConversation, type World } from './conversation.ts';
import { demoHome, type History, loadHistory, saveHistory } from './history.ts';
import { readScript } from './read-script.ts';
import type { DemoScript } from './script.ts';
import { openWire } from './wire.ts';

/**
 * Runs the agent on this process's stdin and stdout until stdin ends: `argv` is `['--script', FILE]`. Resolves with the
 * exit code: 0, 2 for wrong arguments, 5 for a script that cannot be used. Call it once in a process.
 */
export async function runDemoAgent(argv: readonly string[], clock: Clock = systemClock): Promise<number> {
  const [flag, file, ...rest] = argv;
  if (flag !== '--script' || file === undefined || rest.length > 0) {
    process.stderr.write('usage: stemma demo-agent --script FILE.json\n');
    return 2;
  }
  let script: DemoScript;
  try {
    script = readScript(file);
  } catch (error) {
    process.stderr.write(`${toStemmaError(error).message}\n`);
    return 5;
  }
  let count = 0;
  const world: World = {
    script,
    clock,
    wire: openWire(),
    home: demoHome(process.env),
    nextId: () => ++count,
  };
  await serve(world);
  return 0;
}

async function serve(world: World): Promise<void> {
  const { script } = world;
  const conversations = new Conversations(world);
  const app = agent({ name: 'stemma-demo-agent' })
    .onRequest(methods.agent.initialize, async ({ client }) => {
      const history = { sessionId: 'none', turns: [], used: {} };
      await conversations.open(history, client, []).aside(script.onInitialize);
      return declaration(script);
    })
    .onRequest(methods.agent.session.new, async ({ params, client }) => {
      const history = conversations.begin();
      await conversations.open(history, client, params.mcpServers).aside(script.onSession);
      return { sessionId: history.sessionId };
    })
    .onRequest(methods.agent.session.load, async ({ params, client }) => {
      const history = script.offers.load ? loadHistory(world.home, params.sessionId) : undefined;
      if (!history) throw RequestError.sessionNotFound(params.sessionId);
      const conversation = conversations.open(history, client, params.mcpServers);
      await conversation.replay();
      await conversation.aside(script.onLoad);
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, requestId }) => {
      const conversation = conversations.get(params.sessionId);
      if (!conversation) throw RequestError.sessionNotFound(params.sessionId);
      return conversation.prompt(textOf(params.prompt), requestId);
    })
    .onNotification(methods.agent.session.cancel, ({ params }) =>
      conversations.get(params.sessionId)?.cancel(),
    );
  await app.connect(world.wire.stream).closed;
}

function declaration({ name, offers }: DemoScript): InitializeResponse {
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: { loadSession: offers.load, mcpCapabilities: { http: offers.tools } },
    agentInfo: { name: 'stemma-demo-agent', title: name, version: '1' },
    authMethods: [],
  };
}

/** The conversations of this process, by their ids. */
class Conversations {
  readonly #world: World;
  readonly #open = new Map<string, DemoConversation>();

  constructor(world: World) {
    this.#world = world;
  }

  /** A new history, kept from its beginning: what was never prompted can be loaded too. */
  begin(): History {
    const { clock, home } = this.#world;
    const sessionId = `demo-${clock.now().toString(36)}-${process.pid}-${this.#open.size}`;
    const history: History = { sessionId, turns: [], used: {} };
    saveHistory(home, history);
    return history;
  }

  /** Opens a conversation on its history; one of the same id before it is forgotten. */
  open(history: History, client: AgentContext, servers: readonly McpServer[]): DemoConversation {
    const offered = this.#world.script.offers.tools ? servers : [];
    const conversation = new DemoConversation(this.#world, history, client, offered);
    this.#open.set(history.sessionId, conversation);
    return conversation;
  }

  /** The open conversation of this id. */
  get(sessionId: string): DemoConversation | undefined {
    return this.#open.get(sessionId);
  }
}

function textOf(prompt: readonly ContentBlock[]): string {
  return prompt.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('\n');
}
