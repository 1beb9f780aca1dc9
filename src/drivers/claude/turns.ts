import type { Draft } from './draft.ts';
import { hasQueued, liveTasks, type RunningTurn, type Verdict } from './state.ts';

/** A turn begins with this line. One that is over and whose end was not told yet ends before it. */
export function beginTurn(draft: Draft): void {
  if (draft.state.turn?.verdict) endTurn(draft);
  if (draft.state.turn) return;
  const turn: RunningTurn = {
    id: `turn:${draft.at}`,
    isAnnounced: false,
    open: [],
    hasTexts: false,
    wasCancelled: false,
    answer: '',
    isLimited: false,
    told: [],
  };
  draft.set({ turn });
}

/**
 * Tells the start of the running turn, once. Without a text of ours the agent began it by itself: for the first of the
 * tasks whose end it was not told of, if there is one.
 */
export function announce(draft: Draft, cause: { deliveryId?: string; isUnknown?: boolean } = {}): void {
  const { turn } = draft.state;
  if (!turn || turn.isAnnounced) return;
  const { deliveryId, isUnknown = false } = cause;
  const mayBeTask = deliveryId === undefined && !isUnknown;
  const next = mayBeTask ? draft.state.untold.find(({ wakes }) => wakes) : undefined;
  const why = {
    ...(deliveryId === undefined ? {} : { deliveryId }),
    ...(next === undefined ? {} : { taskId: next.taskId }),
  };
  if (next) draft.set({ untold: draft.state.untold.filter((task) => task !== next) });
  draft.setTurn({ ...why, isAnnounced: true, told: [] });
  draft.report({ type: 'turnStarted', nativeTurnId: turn.id, ...why });
  for (const taskId of turn.told) tellOfTask(draft, taskId);
}

/** Work is seen of which nothing said before that it would begin. */
export function ensureTurn(draft: Draft): RunningTurn {
  beginTurn(draft);
  announce(draft);
  return draft.state.turn as RunningTurn;
}

/** A text of ours was taken up: it begins a turn, or belongs to the one that runs. */
export function takeText(draft: Draft, uuid: string): void {
  const text = draft.state.texts.get(uuid);
  if (text?.state === 'taken') return draft.noise(`text ${text.id} was taken up a second time`);
  beginTurn(draft);
  const wasAnnounced = draft.state.turn?.isAnnounced === true;
  announce(draft, text ? { deliveryId: text.id } : { isUnknown: true });
  const turn = draft.state.turn as RunningTurn;
  // Where nothing says that a text is closed, none is open either.
  if (draft.state.hasLifecycle) draft.setTurn({ open: [...turn.open, uuid], hasTexts: true });
  if (!text) return;
  draft.setText(uuid, { id: text.id, state: 'taken', turnId: turn.id });
  if (wasAnnounced) draft.report({ type: 'taken', nativeTurnId: turn.id, deliveryId: text.id });
}

/** The agent was told within the running turn that a task has ended. */
export function tellOfTask(draft: Draft, taskId: string): void {
  const { turn } = draft.state;
  draft.set({ untold: draft.state.untold.filter((task) => task.taskId !== taskId) });
  if (!turn || turn.verdict || turn.taskId === taskId) return;
  if (!turn.isAnnounced) return draft.setTurn({ told: [...turn.told, taskId] });
  draft.report({ type: 'taskTold', nativeTurnId: turn.id, taskId });
}

/** Tells the end of the turn that is over. */
export function endTurn(draft: Draft): void {
  const { turn } = draft.state;
  const verdict = turn?.verdict;
  if (!turn || !verdict) return;
  draft.report({ type: 'turnEnded', nativeTurnId: turn.id, ...verdict, tasks: liveTasks(draft.state) });
  draft.addEnded(turn.id);
  draft.set({ turn: undefined, questions: new Map() });
}

/** The turn is over; its end is told when it is known what follows. */
export function decideTurn(draft: Draft, verdict: Verdict): void {
  draft.setTurn({ verdict, isLimited: false });
  endIfNothingFollows(draft);
}

/**
 * After a turn comes the next one or an idle agent, and that is its end. But as long as a sub-agent works in the
 * background, the agent does not call itself idle, however long that takes; what waits for the end is told it at once
 * then, unless a text of ours is about to begin a turn.
 */
export function endIfNothingFollows(draft: Draft): void {
  const { turn, tasks } = draft.state;
  if (!turn?.verdict || turn.open.length > 0 || hasQueued(draft.state)) return;
  const isHeldBack = [...tasks.values()].some(
    ({ isTold, hasLeft, type }) => isTold && !hasLeft && type !== 'local_bash',
  );
  if (isHeldBack) endTurn(draft);
}

/** The provider answers again. */
export function goOn(draft: Draft): void {
  if (!draft.state.turn?.isLimited) return;
  draft.setTurn({ isLimited: false });
  draft.report({ type: 'resumed' });
}
