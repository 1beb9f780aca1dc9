import type { Draft } from './draft.ts';
import type { Signal, ToolSignal } from './signal.ts';
import { usageOf } from './turn-changes.ts';

/** A call that leaves its sub-agent behind: from now on that is work in the background. */
export function startTask(draft: Draft, { childId, sessionId }: ToolSignal): void {
  const { tasks, children } = draft.state;
  if (childId === undefined || tasks[childId]) return;
  const title = children[childId]?.title ?? 'sub-agent';
  if (!children[childId]) draft.set({ children: { ...children, [childId]: { parentId: sessionId, title } } });
  draft.set({ tasks: { ...tasks, [childId]: { taskId: childId, name: title, answer: '', isTold: false } } });
}

/** What a session of a sub-agent tells. Within a turn it is part of that turn's work; a task's end is told. */
export function reduceChild(draft: Draft, signal: Extract<Signal, { sessionId: string }>): void {
  const task = draft.state.tasks[signal.sessionId];
  if (signal.type === 'tool') return noteCall(draft, signal);
  if (signal.type === 'assistant') {
    countTokens(draft, signal);
    if (task && signal.error) setTask(draft, signal.sessionId, { error: signal.error });
  }
  if (!task) return;
  if (signal.type === 'text') return setTask(draft, signal.sessionId, { answer: signal.text });
  if (signal.type === 'idle') return endTask(draft, signal.sessionId);
}

/** Adds what a request has used to its turn, and tells of it. */
export function countTokens(draft: Draft, signal: Extract<Signal, { type: 'assistant' }>): void {
  const { turn } = draft.state;
  const { inputTokens: input, outputTokens: output, usd, messageId } = signal;
  const known = turn?.usage[messageId] ?? { input: 0, output: 0, usd: 0 };
  if (!turn || (known.input === input && known.output === output && known.usd === usd)) return;
  draft.setTurn({ usage: { ...turn.usage, [messageId]: { input, output, usd } } });
  const { usage } = usageOf({ ...turn, usage: { ...turn.usage, [messageId]: { input, output, usd } } });
  if (usage) draft.emit({ type: 'usage', nativeTurnId: turn.id, usage });
}

function noteCall(draft: Draft, { partId, sessionId, tool, status }: ToolSignal): void {
  const calls = draft.state.turn?.calls;
  if (!calls || draft.state.tasks[sessionId]) return;
  if (status === 'running' && !calls[partId])
    draft.setTurn({ calls: { ...calls, [partId]: { sessionId, tool } } });
  if (status === 'completed' || status === 'error') {
    const { [partId]: found, ...rest } = calls;
    if (found) draft.setTurn({ calls: rest });
  }
}

function setTask(draft: Draft, taskId: string, change: object): void {
  const task = draft.state.tasks[taskId];
  if (task) draft.set({ tasks: { ...draft.state.tasks, [taskId]: { ...task, ...change } } });
}

function endTask(draft: Draft, taskId: string): void {
  const { [taskId]: task, ...tasks } = draft.state.tasks;
  if (!task) return;
  draft.set({ tasks });
  if (!task.isTold) return;
  const isAborted = task.error?.name === 'MessageAbortedError';
  const status = isAborted ? 'cancelled' : task.error ? 'failed' : 'succeeded';
  draft.emit({ type: 'taskEnded', taskId, status, result: task.error?.message ?? task.answer });
}
