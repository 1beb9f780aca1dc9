import { assertNever } from '../../base/assert-never.ts';
import type { Draft } from './draft.ts';
import type { KnownTask } from './state.ts';
import { endIfNothingFollows } from './turns.ts';
import type { ListedTask, Signal, TaskStatus } from './wire.ts';

type TaskSignal = Extract<
  Signal,
  { type: 'tasks' | 'taskStarted' | 'taskUpdated' | 'taskNotice' | 'toolResults' }
>;

/** What a line says of the agent's background work. */
export function reduceTasks(draft: Draft, signal: TaskSignal): void {
  switch (signal.type) {
    case 'tasks':
      return takeList(draft, signal.tasks);
    case 'taskStarted': {
      const { task, toolUseId } = signal;
      const known = draft.state.tasks.get(task.taskId);
      const call = toolUseId === undefined ? {} : { toolUseId };
      return draft.setTask({ ...task, isTold: known?.isTold ?? false, ...call });
    }
    case 'toolResults':
      return takeResults(draft, new Set(signal.results.map(({ toolUseId }) => toolUseId)));
    case 'taskUpdated':
      return takeUpdate(draft, signal.taskId, signal.status);
    case 'taskNotice': {
      const task = draft.state.tasks.get(signal.taskId);
      if (task) endTask(draft, task, signal.status, signal.summary);
      return;
    }
    default:
      assertNever(signal);
  }
}

/** The agent is idle: whatever left the list of live tasks without a notice of its end gets none any more. */
export function settleTasks(draft: Draft): void {
  for (const task of [...draft.state.tasks.values()])
    if (task.hasLeft) endTask(draft, task, task.status ?? 'stopped', '', false);
}

/** The list is what counts: starts and ends that are told apart may be missed. */
function takeList(draft: Draft, tasks: readonly ListedTask[]): void {
  draft.set({ hasTaskList: true });
  for (const task of tasks) {
    const known = draft.state.tasks.get(task.taskId);
    draft.setTask({ ...known, ...task, isTold: true });
    if (!known?.isTold) draft.report({ type: 'taskStarted', task: { taskId: task.taskId, name: task.name } });
  }
  const listed = new Set(tasks.map(({ taskId }) => taskId));
  for (const task of [...draft.state.tasks.values()])
    if (task.isTold && !listed.has(task.taskId)) draft.setTask({ ...task, hasLeft: true });
  endIfNothingFollows(draft);
}

/** Where there is no list: what lives on though its call has returned is background work. */
function takeResults(draft: Draft, returned: ReadonlySet<string>): void {
  if (draft.state.hasTaskList) return;
  for (const task of [...draft.state.tasks.values()]) {
    if (task.isTold || task.toolUseId === undefined || !returned.has(task.toolUseId)) continue;
    draft.setTask({ ...task, isTold: true });
    draft.report({ type: 'taskStarted', task: { taskId: task.taskId, name: task.name } });
  }
}

function takeUpdate(draft: Draft, taskId: string, status: TaskStatus): void {
  const task = draft.state.tasks.get(taskId);
  if (!task) return;
  // Newer programs say more with the notice, which is about to come; older ones tell the agent first.
  if (draft.state.hasTaskList) draft.setTask({ ...task, status });
  else endTask(draft, task, status, '');
}

function endTask(draft: Draft, task: KnownTask, status: TaskStatus, summary: string, isNoticed = true): void {
  draft.dropTask(task.taskId);
  // A call that its turn waited for.
  if (!task.isTold) return;
  const isStopped = status === 'stopped' || status === 'killed';
  // The agent hears of what was stopped only when it works anyway.
  const wakes = isNoticed && !isStopped;
  const { taskId, runId } = task;
  const ended = { taskId, wakes, ...(runId === undefined ? {} : { runId }) };
  if (isNoticed) draft.set({ untold: [...draft.state.untold, ended].slice(-100) });
  draft.report({
    type: 'taskEnded',
    taskId,
    status: isStopped ? 'cancelled' : status === 'failed' ? 'failed' : 'succeeded',
    result: summary === '' ? `${task.name}: ${status}` : summary,
    ...(wakes ? {} : { wakes: false as const }),
  });
  endIfNothingFollows(draft);
}
