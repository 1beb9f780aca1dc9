import { createHash } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../base/parse-json.ts';
import { readIfThere } from '../../base/read-if-there.ts';
import type { OpenRequest } from '../port.ts';
import type { ThreadState } from './thread-state.ts';

const schema = z.object({
  threadId: z.string(),
  /** Directory of the app-server that holds the thread. */
  server: z.string(),
  /** Whether the thread began with this session, so that everything in it is ours to report. */
  isOwn: z.boolean(),
  /** Of the tools' address and bearer that the thread was loaded with; the bearer itself is not kept here. */
  tools: z.string(),
  /** The name of the tool server in the thread's configuration. */
  toolsName: z.string(),
  /** Background work that was reported and has not ended, with the turn and thread in which it began. */
  tasks: z.array(
    z.object({
      taskId: z.string(),
      name: z.string(),
      kind: z.enum(['command', 'agent']),
      threadId: z.string(),
      turnId: z.string(),
    }),
  ),
});

/** What a session's directory keeps, so that another process of ours can go on with its thread. */
export type ThreadRecord = z.infer<typeof schema>;

const fileName = 'codex-thread.json';

/** The record of a session; undefined when there is none, or none that makes sense. Throws when it cannot be read. */
export function readThreadRecord(directory: string): ThreadRecord | undefined {
  const text = readIfThere(join(directory, fileName));
  return text === undefined ? undefined : schema.safeParse(parseJson(text)).data;
}

/**
 * Replaces the record in one step. Synchronous, so that it is on its way before the event that it belongs to; it is as
 * durable as the machine: after a power cut the processes it speaks of are gone as well.
 */
export function writeThreadRecord(directory: string, record: ThreadRecord): void {
  const path = join(directory, fileName);
  writeFileSync(`${path}.new`, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** Names a pair of address and bearer without giving the bearer away. */
export function toolsFingerprint(tools: OpenRequest['tools']): string {
  return tools ? createHash('sha256').update(`${tools.url}\n${tools.token}`).digest('hex') : 'none';
}

/** The state's background work as the record keeps it. */
export function recordedTasks(state: ThreadState): ThreadRecord['tasks'] {
  return [...state.tasks.values()].map((task) => {
    const command = state.commands.get(task.taskId);
    if (command) return { ...task, kind: 'command', threadId: command.threadId, turnId: command.turnId };
    const threadId = state.agentTurns.get(task.taskId)?.threadId ?? state.threadId;
    return { ...task, kind: 'agent', threadId, turnId: task.taskId };
  });
}

/** A state that knows the recorded background work. */
export function withRecordedTasks(state: ThreadState, tasks: ThreadRecord['tasks']): ThreadState {
  const of = (kind: 'command' | 'agent') => tasks.filter((task) => task.kind === kind);
  return {
    ...state,
    tasks: new Map(tasks.map(({ taskId, name }) => [taskId, { taskId, name }])),
    commands: new Map(of('command').map(({ taskId, ...rest }) => [taskId, rest])),
    agents: new Map(of('agent').map(({ threadId, name }) => [threadId, name])),
    agentTurns: new Map(
      of('agent').map(({ taskId, threadId }) => [taskId, { threadId, rootTurnId: undefined, answer: '' }]),
    ),
  };
}
