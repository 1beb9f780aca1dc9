import { type OpencodeApi, Unreadable } from './api.ts';
import type { Signal } from './signal.ts';
import type { SessionState } from './state.ts';
import {
  type AskedQuestion,
  noise,
  readRecorded,
  toChild,
  toPermission,
  toQuestion,
  toStatus,
} from './read-event.ts';
import {
  partShape,
  permissionList,
  questionList,
  rawMessage,
  rawMessageList,
  type Recorded,
  sessionList,
  statusMap,
} from './wire.ts';

/** What the server says of a session at one moment. */
export interface Reading {
  readonly sessionId: string;
  /** The newest messages, oldest first. */
  readonly messages: readonly Recorded[];
  /** What the session does, as signals; empty when it is idle. */
  readonly status: readonly Signal[];
  readonly children: readonly Signal[];
  readonly questions: readonly AskedQuestion[];
  /** For each task that we know of: its last messages, and whether it is idle. */
  readonly tasks: readonly Signal[];
  /** What of the record has no shape that is known. */
  readonly unread: readonly Signal[];
}

const messagesRead = 200;

/** Reads what is known of a session. Throws `Unreadable`. */
export async function readSession(api: OpencodeApi, state: SessionState): Promise<Reading> {
  const { sessionId } = state;
  // The status first: a session that is idle now has finished what the list shows.
  const statuses = await api.read('/session/status', statusMap);
  const { messages, unread } = readable(
    await api.read(`/session/${sessionId}/message?limit=${messagesRead}`, rawMessageList),
  );
  const children = await api.read(`/session/${sessionId}/children`, sessionList);
  const permissions = await api.read('/permission', permissionList);
  const questions = await api.read('/question', questionList);
  const tasks = await readTasks(api, Object.keys(state.tasks));
  const status = statuses[sessionId];
  return {
    sessionId,
    messages,
    status: status ? toStatus(sessionId, status) : [],
    children: children.flatMap(toChild),
    questions: [...permissions.map(toPermission), ...questions.map(toQuestion)],
    tasks,
    unread,
  };
}

/** One message or part in an unknown shape is passed over, so that the others can be read. */
export function readable(list: readonly unknown[]): Pick<Reading, 'messages' | 'unread'> {
  const unread: Signal[] = [];
  const messages = list.flatMap((raw): Recorded[] => {
    const message = rawMessage.safeParse(raw);
    if (!message.success) {
      unread.push(noise('a message in a shape that is not known', raw));
      return [];
    }
    const parts = message.data.parts.flatMap((part) => {
      const read = partShape.safeParse(part);
      if (!read.success) unread.push(noise('a part of a message in a shape that is not known', part));
      return read.success ? [read.data] : [];
    });
    return [{ info: message.data.info, parts }];
  });
  return { messages, unread };
}

/** What became of sub-agents in the background. Throws `Unreadable`. */
export async function readTasks(api: OpencodeApi, taskIds: readonly string[]): Promise<Signal[]> {
  if (taskIds.length === 0) return [];
  const statuses = await api.read('/session/status', statusMap);
  const signals: Signal[] = [];
  for (const taskId of taskIds) {
    signals.push(...(await readTask(api, taskId)));
    if (statuses[taskId] === undefined) signals.push({ type: 'idle', sessionId: taskId });
  }
  return signals;
}

async function readTask(api: OpencodeApi, taskId: string): Promise<Signal[]> {
  try {
    const { messages } = readable(await api.read(`/session/${taskId}/message?limit=2`, rawMessageList));
    return messages.flatMap(readRecorded);
  } catch (error) {
    if (error instanceof Unreadable && error.status !== undefined) return [];
    throw error;
  }
}

/**
 * The reading as the signals that would have told of it. Pure. The record does not say when the agent was idle: a text that
 * came after the last word of the one before began a turn of its own.
 */
export function replay(reading: Reading, isNewProcess: boolean): Signal[] {
  const { messages } = reading;
  const signals: Signal[] = [...reading.children];
  let last: Recorded | undefined;
  messages.forEach((message, index) => {
    if (message.info.role === 'user' && last && isBoundary(last, message, messages.slice(index + 1)))
      signals.push(...closing(last, true));
    signals.push(...readRecorded(message));
    if (message.info.role === 'assistant') last = message;
  });
  signals.push(...reading.tasks, ...reading.status);
  if (reading.status.length > 0) return signals;
  if (!isNewProcess)
    return [...signals, ...closing(last, false), { type: 'idle', sessionId: reading.sessionId }];
  // A process that has just been started works on nothing; what the one before it was at died with it.
  return [...signals, ...(last && isAnswer(last) ? closing(last, false) : []), { type: 'died' }];
}

/** Texts of a record that was not ours so far: everything before what is open now. */
export function pastOf(reading: Reading, state: SessionState): Signal {
  const ours = new Set(Object.values(state.deliveries).map(({ messageId }) => messageId));
  const { messages, status } = reading;
  const firstOurs = messages.findIndex(({ info }) => ours.has(info.id));
  const lastUser = messages.findLastIndex(({ info }) => info.role === 'user');
  const open = firstOurs >= 0 ? firstOurs : status.length > 0 ? lastUser : -1;
  const past = open >= 0 ? messages.slice(0, open) : messages;
  return { type: 'known', messageIds: past.map(({ info }) => info.id) };
}

/** The questions that somebody still waits for: opencode keeps those that an abort has ended. */
export function openQuestions({ questions }: Reading, state: SessionState): AskedQuestion[] {
  const { turn, tasks, sessionId } = state;
  const newest = turn?.newest;
  return questions.filter(({ signal, callMessageId }) => {
    if (signal.sessionId !== sessionId) return turn !== undefined || tasks[signal.sessionId] !== undefined;
    return newest !== undefined && newest.completedAt === undefined && newest.messageId === callMessageId;
  });
}

/** What was settled while nobody listened: these questions were open, and opencode keeps them no more. */
export function settledQuestions({ questions }: Reading, state: SessionState): Signal[] {
  return Object.values(state.questions).flatMap(({ questionId, sessionId }): Signal[] =>
    questions.some(({ signal }) => signal.questionId === questionId)
      ? []
      : [{ type: 'settled', sessionId, questionId }],
  );
}

function isBoundary(last: Recorded, user: Recorded, later: readonly Recorded[]): boolean {
  const { info } = last;
  if (info.role !== 'assistant') return false;
  const isAnswered = later.some((message) => message.info.role === 'assistant');
  if (info.time.completed === undefined) return isAnswered;
  // Between two requests of one turn a text may come in as well.
  if (info.finish === 'tool-calls' && !info.error) return false;
  return user.info.time.created >= info.time.completed;
}

/** The end of the turn that this message belongs to. `mayBreak`: it is over even if the message is not finished. */
function closing(last: Recorded | undefined, mayBreak: boolean): Signal[] {
  if (last?.info.role !== 'assistant') return [];
  const isBroken = last.info.time.completed === undefined;
  return isBroken && !mayBreak ? [] : [{ type: 'closed', messageId: last.info.id, isBroken }];
}

/** Whether the turn of this message had nothing more to do. */
function isAnswer({ info }: Recorded): boolean {
  return info.role === 'assistant' && (info.finish !== 'tool-calls' || info.error !== undefined);
}
