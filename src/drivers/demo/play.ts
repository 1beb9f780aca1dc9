import { existsSync } from 'node:fs';
import { RequestError, type StopReason } from '@agentclientprotocol/sdk';
import { assertNever } from '../../base/assert-never.ts';
import type { Clock } from '../../base/clock.ts';
import { pauseOrThrow } from '../../base/pause.ts';
import type { Action, Misbehaviour } from './script.ts';
import { fill, type Values } from './templates.ts';
import type { ToolAnswer } from './tools.ts';

/** What the actions of one prompt act on. */
export interface Stage {
  readonly clock: Clock;
  /** Aborts when the client cancels. */
  readonly signal: AbortSignal;
  readonly values: Values;
  /** Says something to the client as a session/update; resolves when it is written. */
  update(update: Readonly<Record<string, unknown>>, session?: string): Promise<void>;
  /** A tool of the conversation's MCP servers. */
  call(tool: string, args: Record<string, unknown>): Promise<ToolAnswer>;
  /** Asks for permission; false when it was denied or the client cancelled. */
  ask(question: string, toolCallId: string): Promise<boolean>;
  /** Plays the list once this prompt has been answered. */
  later(actions: readonly Action[], afterMs: number): void;
  /** From now on a cancel changes nothing for this prompt. */
  ignoreCancel(): void;
  /** Writes a response past the protocol; without an id it is for this prompt. */
  respond(reason: StopReason, id: string | undefined): Promise<void>;
  /** Writes any line past the protocol; resolves when it is written. */
  raw(line: string): Promise<void>;
  /** Reads nothing more, for ever. */
  stopReading(): void;
  /** A number that no other tool call of this process has. */
  nextId(): number;
}

/**
 * Plays the list. Returns the reason of the `end` it came to, or undefined at the end of the list. Throws a RequestError
 * for `fail`, `limit` and `login`, and the signal's reason when the client cancels.
 */
export async function play(actions: readonly Action[], stage: Stage): Promise<StopReason | undefined> {
  for (const action of actions) {
    stage.signal.throwIfAborted();
    const ended = await playOne(fill(action, stage.values), stage);
    if (ended) return ended;
  }
  return undefined;
}

async function playOne(action: Action, stage: Stage): Promise<StopReason | undefined> {
  switch (action.verb) {
    case 'end':
      return action.reason;
    case 'parallel':
      return (await Promise.all(action.actions.map((inner) => play([inner], stage)))).find(
        (ended) => ended !== undefined,
      );
    case 'ask': {
      const allowed = await stage.ask(action.question, `ask-${stage.nextId()}`);
      return play(allowed ? action.allowed : action.denied, stage);
    }
    default:
      await act(action, stage);
      return undefined;
  }
}

async function act(
  action: Exclude<Action, { verb: 'end' | 'parallel' | 'ask' }>,
  stage: Stage,
): Promise<void> {
  switch (action.verb) {
    case 'say':
      await pauseOrThrow(stage.clock, action.afterMs, stage.signal);
      return stage.update(chunk('agent_message_chunk', action.text));
    case 'think':
      return stage.update(chunk('agent_thought_chunk', action.text));
    case 'wait':
      return pauseOrThrow(stage.clock, action.ms, stage.signal);
    case 'until':
      return untilExists(action.file, stage);
    case 'call':
      return callTool(action, stage);
    case 'work':
      return work(action, stage);
    case 'fail':
      throw new RequestError(action.code, action.message, action.data);
    case 'limit': {
      const reset =
        action.resetsInMs === undefined ? {} : { resetsAt: stage.clock.now() + action.resetsInMs };
      throw new RequestError(-32603, action.message, { errorKind: 'rate_limit', ...reset });
    }
    case 'login':
      // RequestError.authRequired puts words of its own before the message.
      throw new RequestError(RequestError.authRequired().code, action.message);
    default:
      return misbehave(action, stage);
  }
}

async function misbehave(action: Misbehaviour, stage: Stage): Promise<void> {
  switch (action.verb) {
    case 'later':
      return stage.later(action.actions, action.afterMs);
    case 'ignoreCancel':
      return stage.ignoreCancel();
    case 'respond':
      return stage.respond(action.reason, action.id);
    case 'garbage':
      return stage.raw(action.line);
    case 'bigLine':
      return stage.update(chunk('agent_message_chunk', 'x'.repeat(action.bytes)));
    case 'update':
      return stage.update(action.update, action.session);
    case 'hang':
      return new Promise<void>(() => undefined);
    case 'exit':
      process.exit(action.code);
      break;
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return new Promise<void>(() => undefined);
    case 'stopReading':
      return stage.stopReading();
    default:
      assertNever(action);
  }
}

/** How often a script looks for the file that it waits for, in milliseconds. */
const lookEveryMs = 10;

async function untilExists(file: string, stage: Stage): Promise<void> {
  while (!existsSync(file)) await pauseOrThrow(stage.clock, lookEveryMs, stage.signal);
}

async function callTool(action: Extract<Action, { verb: 'call' }>, stage: Stage): Promise<void> {
  await pauseOrThrow(stage.clock, action.afterMs, stage.signal);
  const toolCallId = `call-${stage.nextId()}`;
  if (!action.silent) {
    const begun = {
      toolCallId,
      title: action.tool,
      kind: 'other',
      status: 'in_progress',
      rawInput: action.args,
    };
    await stage.update({ sessionUpdate: 'tool_call', ...begun });
  }
  const answer = await stage.call(action.tool, { ...action.args });
  if (action.saveAs !== undefined) stage.values.saved.set(action.saveAs, answer);
  if (!action.silent)
    await stage.update(toolEnd(toolCallId, answer.failed ? 'failed' : 'completed', answer.text));
}

async function work(action: Extract<Action, { verb: 'work' }>, stage: Stage): Promise<void> {
  const toolCallId = `work-${stage.nextId()}`;
  await stage.update({
    sessionUpdate: 'tool_call',
    toolCallId,
    title: action.title,
    kind: 'execute',
    status: 'pending',
  });
  await pauseOrThrow(stage.clock, action.ms, stage.signal);
  await stage.update(toolEnd(toolCallId, 'completed', action.output));
}

function toolEnd(toolCallId: string, status: 'completed' | 'failed', text: string): Record<string, unknown> {
  const content = [{ type: 'content', content: { type: 'text', text } }];
  return { sessionUpdate: 'tool_call_update', toolCallId, status, content };
}

/** A piece of text as ACP streams it. */
export function chunk(sessionUpdate: string, text: string): Record<string, unknown> {
  return { sessionUpdate, content: { type: 'text', text } };
}
