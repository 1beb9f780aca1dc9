import { assertNever } from '../../base/assert-never.ts';
import type { LiveTask } from '../port.ts';
import type { Draft } from './draft.ts';
import { bounded, resultText } from './transcript.ts';
import type { CodexItem, Signal } from './wire.ts';

/*
 * What Codex runs beside the turn: commands that outlive it, and sub-agents, which are threads of their own. While the
 * turn runs they are part of it; at its end, whatever lives is a task.
 */

type ItemSignal = Extract<Signal, { type: 'itemStarted' | 'itemCompleted' }>;
type InThread = Exclude<Signal, { type: 'limits' }>;

const longestName = 200;

/** Remembers a command that runs. */
export function openCommand(draft: Draft, { item, threadId, turnId }: ItemSignal): void {
  if (item.type !== 'commandExecution') return;
  const name = bounded(item.command ?? 'a command', longestName);
  draft.set({ commands: new Map(draft.state.commands).set(item.id, { threadId, turnId, name }) });
}

/** Remembers a command that was found running. Without a turn to belong to, it is background work. */
export function findCommand(draft: Draft, signal: Extract<Signal, { type: 'commandFound' }>): void {
  const { itemId, threadId, turnId } = signal;
  const name = bounded(signal.command, longestName);
  if (!draft.state.commands.has(itemId)) {
    draft.set({ commands: new Map(draft.state.commands).set(itemId, { threadId, turnId, name }) });
  }
  if (!draft.state.turn) startTask(draft, itemId, name);
}

/** Forgets a command that is over, and ends its task if it had become one. */
export function closeCommand(draft: Draft, { item }: ItemSignal): void {
  if (item.type !== 'commandExecution') return;
  draft.set({ commands: without(draft.state.commands, item.id) });
  const status =
    item.status === 'completed' ? 'succeeded' : item.status === 'declined' ? 'cancelled' : 'failed';
  endTask(draft, item.id, status, resultText(item));
}

/** Remembers the threads of sub-agents that the agent launched or spoke to. */
export function noteAgents(draft: Draft, item: CodexItem): void {
  if (item.type !== 'collabAgentToolCall') return;
  const agents = new Map(draft.state.agents);
  for (const threadId of item.receiverThreadIds ?? []) {
    const known = agents.get(threadId);
    if (!known) agents.set(threadId, bounded(`sub-agent: ${item.prompt ?? threadId}`, longestName));
  }
  draft.set({ agents });
}

/**
 * The tasks that live at the end of the main thread's turn: those of before, the commands still open that are not known
 * to be dead, and the sub-agents at work.
 */
export function settleBackground(draft: Draft, dead: ReadonlySet<string> = new Set()): LiveTask[] {
  dropDead(draft, dead);
  const tasks = new Map(draft.state.tasks);
  const atWork = new Set([...draft.state.agentTurns.values()].map((turn) => turn.threadId));
  for (const [itemId, { name, threadId }] of draft.state.commands) {
    // The command of a sub-agent at work is part of that work.
    if (!atWork.has(threadId)) tasks.set(itemId, { taskId: itemId, name });
  }
  for (const [turnId, { threadId }] of draft.state.agentTurns) {
    tasks.set(turnId, { taskId: turnId, name: draft.state.agents.get(threadId) ?? 'sub-agent' });
  }
  draft.set({ tasks });
  return [...tasks.values()];
}

function dropDead(draft: Draft, dead: ReadonlySet<string>): void {
  for (const itemId of dead) {
    draft.set({ commands: without(draft.state.commands, itemId) });
    endTask(draft, itemId, 'cancelled', '');
  }
}

/** A signal of a sub-agent's thread. It says nothing about the main thread's turn. */
export function reduceAgent(
  draft: Draft,
  signal: InThread,
  context: { readonly deadCommands?: ReadonlySet<string> },
): void {
  switch (signal.type) {
    case 'turnStarted':
      return startAgentTurn(draft, signal);
    case 'itemStarted':
      noteAgents(draft, signal.item);
      return openCommand(draft, signal);
    case 'itemCompleted':
      noteAgents(draft, signal.item);
      noteAnswer(draft, signal);
      return closeCommand(draft, signal);
    case 'turnCompleted':
      return endAgentTurn(draft, signal, context.deadCommands);
    case 'commandFound':
      return findCommand(draft, signal);
    case 'turnError':
    case 'usage':
    case 'idle':
    case 'settings':
    case 'requestResolved':
      return;
    default:
      assertNever(signal);
  }
}

function startAgentTurn(draft: Draft, signal: Extract<Signal, { type: 'turnStarted' }>): void {
  const { threadId, turnId, rootTurnId } = signal;
  if (draft.state.agentTurns.has(turnId) || draft.state.endedAgentTurns.includes(turnId)) return;
  const agents = new Map(draft.state.agents);
  if (!agents.has(threadId)) agents.set(threadId, 'sub-agent');
  draft.set({
    agents,
    agentTurns: new Map(draft.state.agentTurns).set(turnId, { threadId, rootTurnId, answer: '' }),
  });
  if (!draft.state.turn) startTask(draft, turnId, agents.get(threadId) ?? 'sub-agent');
}

function noteAnswer(draft: Draft, { item, turnId }: ItemSignal): void {
  const turn = draft.state.agentTurns.get(turnId);
  if (!turn || item.type !== 'agentMessage' || item.phase === 'commentary') return;
  draft.set({
    agentTurns: new Map(draft.state.agentTurns).set(turnId, { ...turn, answer: item.text ?? '' }),
  });
}

function endAgentTurn(
  draft: Draft,
  signal: Extract<Signal, { type: 'turnCompleted' }>,
  dead: ReadonlySet<string> = new Set(),
): void {
  const { turnId, threadId, status } = signal;
  if (draft.state.endedAgentTurns.includes(turnId)) return;
  const answer = draft.state.agentTurns.get(turnId)?.answer ?? '';
  draft.set({ agentTurns: without(draft.state.agentTurns, turnId) });
  draft.addEndedAgentTurn(turnId);
  dropDead(draft, dead);
  // What the sub-agent leaves behind is registered before its own task ends, so that nothing is uncounted in between.
  for (const [itemId, command] of draft.state.commands) {
    if (command.threadId === threadId && !draft.state.turn) startTask(draft, itemId, command.name);
  }
  const how = status === 'completed' ? 'succeeded' : status === 'interrupted' ? 'cancelled' : 'failed';
  endTask(draft, turnId, how, how === 'failed' ? (signal.error?.message ?? answer) : answer);
}

function startTask(draft: Draft, taskId: string, name: string): void {
  if (draft.state.tasks.has(taskId)) return;
  const task = { taskId, name };
  draft.set({ tasks: new Map(draft.state.tasks).set(taskId, task) });
  draft.emit({ type: 'taskStarted', task });
}

function endTask(
  draft: Draft,
  taskId: string,
  status: 'succeeded' | 'failed' | 'cancelled',
  result: string,
): void {
  if (!draft.state.tasks.has(taskId)) return;
  draft.set({ tasks: without(draft.state.tasks, taskId) });
  draft.emit({ type: 'taskEnded', taskId, status, result: bounded(result) });
}

function without<Value>(map: ReadonlyMap<string, Value>, key: string): ReadonlyMap<string, Value> {
  if (!map.has(key)) return map;
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}
