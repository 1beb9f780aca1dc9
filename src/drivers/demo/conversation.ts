import type {
  AgentContext,
  JsonRpcId,
  McpServer,
  PromptResponse,
  SessionNotification,
} from '@agentclientprotocol/sdk';
import { methods, RequestError } from '@agentclientprotocol/sdk';
import type { Clock } from '../../base/clock.ts';
import { type History, saveHistory } from './history.ts';
import { pauseOrThrow } from '../../base/pause.ts';
import { chunk, play, type Stage } from './play.ts';
import type { Action, DemoScript, Rule } from './script.ts';
import type { Values } from './templates.ts';
import { DemoTools } from './tools.ts';
import type { Wire } from './wire.ts';

/** What every conversation of the process shares. */
export interface World {
  readonly script: DemoScript;
  readonly clock: Clock;
  readonly wire: Wire;
  readonly home: string;
  /** Counts tool calls over all conversations, so that their ids differ. */
  readonly nextId: () => number;
}

/** Why a list of actions stopped early. */
const cancelled = Symbol('cancelled by the client');

/** One conversation: it takes a prompt at a time, and remembers on disk what was said. */
export class DemoConversation {
  readonly #world: World;
  readonly #history: History;
  readonly #client: AgentContext;
  readonly #tools: DemoTools;
  readonly #late = new Set<AbortController>();
  #running: { readonly abort: AbortController; deaf: boolean } | undefined;

  constructor(world: World, history: History, client: AgentContext, servers: readonly McpServer[]) {
    this.#world = world;
    this.#history = history;
    this.#client = client;
    this.#tools = new DemoTools(servers, world.clock);
  }

  /** Answers one prompt; a second one meanwhile is refused, since ACP does not say what it would mean. */
  async prompt(text: string, requestId: JsonRpcId): Promise<PromptResponse> {
    if (this.#running) throw RequestError.invalidRequest(undefined, 'a prompt is running in this session');
    const running = { abort: new AbortController(), deaf: false };
    this.#running = running;
    const { actions, groups } = this.#choose(text);
    const turn = { prompt: text, answer: '' };
    this.#history.turns.push(turn);
    saveHistory(this.#world.home, this.#history);
    const afterwards: (() => void)[] = [];
    const values: Values = { text, groups, saved: new Map() };
    const stage = this.#stage(values, running.abort.signal, turn, (list, ms) =>
      afterwards.push(() => this.#goOn(list, ms, values)),
    );
    try {
      const own = {
        ...stage,
        ignoreCancel: () => void (running.deaf = true),
        respond: (reason: string, id?: string) => this.#respond(id ?? requestId, reason),
      };
      return { stopReason: (await play(actions, own)) ?? 'end_turn' };
    } catch (error) {
      if (error === cancelled) return { stopReason: 'cancelled' };
      throw error;
    } finally {
      this.#running = undefined;
      saveHistory(this.#world.home, this.#history);
      for (const goOn of afterwards) goOn();
    }
  }

  /** Plays a list that no prompt asked for: what the script does around opening the conversation. */
  async aside(actions: readonly Action[]): Promise<void> {
    const afterwards: (() => void)[] = [];
    const values: Values = { text: '', groups: [], saved: new Map() };
    const later = (list: readonly Action[], ms: number): void =>
      void afterwards.push(() => this.#goOn(list, ms, values));
    await play(actions, this.#stage(values, new AbortController().signal, { answer: '' }, later));
    for (const goOn of afterwards) goOn();
  }

  /** Stops whatever is going on, unless the script said to ignore it. */
  cancel(): void {
    if (this.#running && !this.#running.deaf) this.#running.abort.abort(cancelled);
    for (const abort of this.#late) abort.abort(cancelled);
  }

  /** Tells the client everything that was said before, as `session/load` demands. */
  async replay(): Promise<void> {
    for (const turn of this.#history.turns) {
      await this.#update(chunk('user_message_chunk', turn.prompt));
      if (turn.answer !== '') await this.#update(chunk('agent_message_chunk', turn.answer));
    }
  }

  #choose(text: string): { actions: readonly Action[]; groups: (string | undefined)[] } {
    const { rules, otherwise } = this.#world.script;
    for (const [index, rule] of rules.entries()) {
      const match = this.#unused(rule, index) ? rule.when.exec(text) : null;
      if (!match) continue;
      this.#history.used[index] = (this.#history.used[index] ?? 0) + 1;
      return { actions: rule.actions, groups: [...match] };
    }
    if (otherwise.length > 0) return { actions: otherwise, groups: [text] };
    const firstLine = text.split('\n', 1)[0] ?? '';
    return {
      actions: [{ verb: 'say', text: `The script has no answer to: ${firstLine}`, afterMs: 0 }],
      groups: [text],
    };
  }

  #unused(rule: Rule, index: number): boolean {
    return (this.#history.used[index] ?? 0) < rule.times;
  }

  #goOn(actions: readonly Action[], afterMs: number, values: Values): void {
    const abort = new AbortController();
    this.#late.add(abort);
    const stage = this.#stage(values, abort.signal, { answer: '' }, (list, ms) =>
      this.#goOn(list, ms, values),
    );
    pauseOrThrow(this.#world.clock, afterMs, abort.signal)
      .then(() => play(actions, stage))
      .catch((error: unknown) => {
        if (error !== cancelled) process.stderr.write(`late actions stopped: ${String(error)}\n`);
      })
      .finally(() => this.#late.delete(abort));
  }

  #stage(values: Values, signal: AbortSignal, turn: { answer: string }, later: Stage['later']): Stage {
    const { clock, wire, nextId } = this.#world;
    return {
      clock,
      signal,
      values,
      later,
      nextId,
      update: (update, session) => {
        if (update['sessionUpdate'] === 'agent_message_chunk') turn.answer += textOf(update['content']);
        return this.#update(update, session);
      },
      call: (tool, args) => this.#tools.call(tool, args, signal),
      ask: (question, toolCallId) => this.#ask(question, toolCallId, signal),
      ignoreCancel: () => undefined,
      respond: (reason, id) => this.#respond(id ?? 'nobody', reason),
      raw: (line) => wire.raw(line),
      stopReading: () => wire.stopReading(),
    };
  }

  #update(update: Readonly<Record<string, unknown>>, session = this.#history.sessionId): Promise<void> {
    // A script may say updates that no ACP type knows, to see whether the client survives them.
    const params = { sessionId: session, update } as unknown as SessionNotification;
    return this.#client.notify(methods.client.session.update, params);
  }

  async #ask(question: string, toolCallId: string, signal: AbortSignal): Promise<boolean> {
    const answer = await this.#client.request(
      methods.client.session.requestPermission,
      {
        sessionId: this.#history.sessionId,
        toolCall: { toolCallId, title: question, kind: 'execute', status: 'pending' },
        options: [
          { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
          { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
          { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
        ],
      },
      { cancellationSignal: signal },
    );
    signal.throwIfAborted();
    return answer.outcome.outcome === 'selected' && answer.outcome.optionId !== 'deny';
  }

  #respond(id: JsonRpcId, stopReason: string): Promise<void> {
    return this.#world.wire.raw(JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason } }));
  }
}

function textOf(content: unknown): string {
  return typeof content === 'object' && content !== null && 'text' in content ? String(content.text) : '';
}
