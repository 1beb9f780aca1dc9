import { type History, orIfRefused } from './history.ts';
import { type RecordedTurn, type Replayed, replayTurn } from './replay.ts';
import { positionsPerTurn, type ThreadState, turnPosition } from './thread-state.ts';
import { type CodexTurn, completed, type Signal, started } from './wire.ts';

/** What happened in a thread while nobody listened, as signals to be reduced in order. */
export interface Missed {
  /** Turns that ended before all of it; they are only remembered. */
  readonly ended: readonly string[];
  /** The turn in which the last processed event lay: only what lies behind it there is new. */
  readonly boundary: readonly Signal[];
  readonly signals: readonly Signal[];
}

/** What is looked for. */
export interface Since {
  /** Everything up to it was processed. 0: nothing was. */
  readonly position: number;
  /** Whether all turns of the thread are the session's, so that position 0 means all of them. */
  readonly isOwn: boolean;
  readonly unresolved: ReadonlySet<string>;
  /** Resumes the thread of a sub-agent, so that it is heard from now on. */
  readonly resume: (threadId: string) => Promise<boolean>;
}

const mostTurns = 500;
const turnsOfStrangers = 20;

/**
 * Reads what was missed. The status that `thread/resume` gives is never looked at: close to a turn's end it says
 * `interrupted` of turns that were completed, while the list says what is true. Throws `Unreadable`.
 */
export async function readMissed(history: History, state: ThreadState, since: Since): Promise<Missed> {
  const { older, boundary, newer } = await selectTurns(history, state.threadId, since);
  const toReplay = [...(boundary ? [boundary] : []), ...newer];
  const replayed = toReplay.map((recorded) => replayTurn(state.threadId, recorded));
  const background = await readBackground(history, state, since, toReplay.at(-1), replayed);
  const newest = replayed.at(-1);
  const all = replayed.map((part) => [
    ...part.during,
    ...(part === newest ? background.before : []),
    ...(part.end ? [part.end] : []),
    ...part.after,
    ...(part === newest ? background.after : []),
  ]);
  return {
    ended: older.flatMap((turn) => (turn.status === 'inProgress' ? [] : [turn.id])).reverse(),
    boundary: boundary ? (all[0] ?? []) : [],
    signals: newest ? all.slice(boundary ? 1 : 0).flat() : [...background.before, ...background.after],
  };
}

interface Selected {
  /** Newest first. */
  readonly older: readonly CodexTurn[];
  readonly boundary: RecordedTurn | undefined;
  /** Oldest first. */
  readonly newer: readonly RecordedTurn[];
}

async function selectTurns(history: History, threadId: string, since: Since): Promise<Selected> {
  const withItems = async (turn: CodexTurn): Promise<RecordedTurn> => ({
    turn,
    items: await history.itemsOf(threadId, turn.id),
  });
  const readAll = async (turns: readonly CodexTurn[]): Promise<RecordedTurn[]> => {
    const recorded: RecordedTurn[] = [];
    for (const turn of [...turns].reverse()) recorded.push(await withItems(turn));
    return recorded;
  };
  if (since.position === 0 && !since.isOwn) return selectFromStrangers(history, threadId, since, readAll);
  const isBoundary = (turn: CodexTurn): boolean => {
    const start = turnPosition(turn.id);
    return start !== undefined && start === since.position - (since.position % positionsPerTurn);
  };
  const turns = await history.turns(threadId, (read) => read.some(isBoundary) || read.length >= mostTurns);
  const index = turns.findIndex(isBoundary);
  if (index >= 0) {
    const boundary = await withItems(turns[index] as CodexTurn);
    return { older: turns.slice(index + 1), boundary, newer: await readAll(turns.slice(0, index)) };
  }
  const firstOld = turns.findIndex((turn) => (turnPosition(turn.id) ?? Infinity) < since.position);
  const count = firstOld < 0 ? turns.length : firstOld;
  return { older: turns.slice(count), boundary: undefined, newer: await readAll(turns.slice(0, count)) };
}

/** A thread with a history that is not ours: only what carries a text of ours, or runs, is reported, and what follows it. */
async function selectFromStrangers(
  history: History,
  threadId: string,
  since: Since,
  readAll: (turns: readonly CodexTurn[]) => Promise<RecordedTurn[]>,
): Promise<Selected> {
  const turns = (await history.turns(threadId, () => true)).slice(0, turnsOfStrangers);
  const recorded = await readAll(since.unresolved.size > 0 ? turns : turns.slice(0, 1));
  const first = recorded.findIndex(
    ({ turn, items }) =>
      turn.status === 'inProgress' ||
      items.some(({ item }) => item.clientId && since.unresolved.has(item.clientId)),
  );
  const newer = first < 0 ? [] : recorded.slice(first);
  return { older: turns.slice(newer.length), boundary: undefined, newer };
}

interface Background {
  readonly before: readonly Signal[];
  readonly after: readonly Signal[];
}

/** Commands and sub-agents: those we know of, and those that the replayed turns tell of. */
async function readBackground(
  history: History,
  state: ThreadState,
  since: Since,
  newest: RecordedTurn | undefined,
  replayed: readonly Replayed[],
): Promise<Background> {
  const before: Signal[] = [];
  const after: Signal[] = [];
  const told = replayed.flatMap((part) =>
    part.during.flatMap((s) => ('item' in s ? (s.item.receiverThreadIds ?? []) : [])),
  );
  const atWork = [...state.agentTurns.values()].map((turn) => turn.threadId);
  const agents = new Set([...atWork, ...told]);
  for (const threadId of agents) {
    const known = new Set(
      [...state.agentTurns].flatMap(([id, turn]) => (turn.threadId === threadId ? [id] : [])),
    );
    const read = await readAgent(history, threadId, known, newest, since);
    before.push(...read.before);
    after.push(...read.after);
  }
  const living = new Map<string, Signal>();
  for (const threadId of [state.threadId, ...agents]) {
    for (const { itemId, command } of await orIfRefused(history.terminals(threadId), [])) {
      living.set(itemId, { type: 'commandFound', threadId, turnId: newest?.turn.id ?? '', itemId, command });
    }
  }
  for (const [itemId, signal] of living) if (!state.commands.has(itemId)) before.push(signal);
  after.push(...(await readEndedTasks(history, state, living)));
  return { before, after };
}

async function readAgent(
  history: History,
  threadId: string,
  known: ReadonlySet<string>,
  newest: RecordedTurn | undefined,
  since: Since,
): Promise<Background> {
  const before: Signal[] = [];
  const after: Signal[] = [];
  const isLoaded = await since.resume(threadId);
  const turns = await orIfRefused(
    history.turns(threadId, () => true),
    [],
  );
  for (const turnId of known) {
    // A sub-agent that Codex does not know any more will not tell how it ended.
    const isListed = turns.some((turn) => turn.id === turnId);
    if (!isListed) after.push({ type: 'turnCompleted', threadId, turnId, status: 'died' });
  }
  for (const turn of turns.slice(0, turnsOfStrangers).reverse()) {
    const isOfNewest = newest !== undefined && turn.rootTurnId === newest.turn.id;
    if (!known.has(turn.id) && !isOfNewest && turn.status !== 'inProgress') continue;
    before.push(started(threadId, turn));
    const isDead = turn.status === 'inProgress' && !isLoaded;
    const end = completed(threadId, isDead ? { ...turn, status: 'interrupted', completedAt: null } : turn);
    if (!end) continue;
    const items = await history.itemsOf(threadId, turn.id);
    const texts = items.filter(({ item }) => item.type === 'agentMessage');
    const signals: Signal[] = texts.map(({ item }) => ({
      type: 'itemCompleted',
      threadId,
      turnId: turn.id,
      item,
    }));
    // A sub-agent that was done before the turn is no background work. Whole seconds: in doubt it is.
    const isBefore = (turn.completedAt ?? Infinity) < (newest?.turn.completedAt ?? 0);
    (isBefore ? before : after).push(...signals, end);
  }
  return { before, after };
}

/** The ends of commands that were reported as tasks and do not run any more. */
async function readEndedTasks(
  history: History,
  state: ThreadState,
  living: ReadonlyMap<string, Signal>,
): Promise<Signal[]> {
  const ended: Signal[] = [];
  for (const [itemId, { threadId, turnId }] of state.commands) {
    // A command of the running turn is no task yet; the end of the turn will look for it.
    if (living.has(itemId) || !state.tasks.has(itemId)) continue;
    const entry = await orIfRefused(history.item(threadId, turnId, itemId), undefined);
    const unknown = {
      type: 'commandExecution',
      id: itemId,
      status: 'failed',
      aggregatedOutput: 'How it ended is not known.',
    };
    ended.push({ type: 'itemCompleted', threadId, turnId, item: entry?.item ?? unknown });
  }
  return ended;
}
