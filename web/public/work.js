// What there is to see: runs, and roots that belong to no run. Pure: the server's answers in, entries of the list out.

import { plain, shownState, spentWords } from './words.js';

const closedShown = 30;
const closedKept = 100;

/** Roots that were open and are in no list any more: each must be asked for, to know how it ended. */
export function missingRoots(known, listed) {
  const ids = new Set(listed.map(({ id }) => id));
  return [...known.values()].filter(({ id, closed }) => !closed && !ids.has(id)).map(({ id }) => id);
}

/**
 * The roots that are known now, by id. What the monitor has is live; `recent` was read after it, and is right where they
 * differ. What was closed before stays, so that nothing vanishes the moment it ends.
 */
export function mergeRoots(known, monitor, recent) {
  const closed = [...known.values()].filter((root) => root.closed).toSorted(byNewest);
  const forgotten = new Set(closed.slice(closedKept).map(({ id }) => id));
  const roots = new Map([...known].filter(([id]) => !forgotten.has(id)));
  for (const row of monitor) {
    roots.set(row.id, { ...row, closed: false, open: row.open.executions + row.open.notices });
  }
  for (const row of recent) {
    if (row.parentId === null) roots.set(row.id, { ...roots.get(row.id), ...row });
  }
  return roots;
}

/** The entries of the list: what is open first, and the newest on top. */
export function entriesOf(roots, runs) {
  const owned = new Set(runs.flatMap(attemptsOf).map(({ executionId }) => executionId));
  const alone = [...roots.values()].filter(({ id }) => !owned.has(id)).map(entryOfRoot);
  const entries = [...alone, ...runs.map((run) => entryOfRun(run, roots))].toSorted(byNewest);
  return [...entries.filter(isOpen), ...entries.filter((entry) => !isOpen(entry)).slice(0, closedShown)];
}

/** How a run is shown. It is open as long as the tree of one of its messages is. */
export function stateOfRun(run, isOpenBelow) {
  if (run.state !== 'ended') return run.state;
  return isOpenBelow ? 'open' : (run.outcome ?? 'lost');
}

/** Every attempt at every message of a run, in order. */
export function attemptsOf(run) {
  return run.messages.flatMap(({ attempts }) => attempts);
}

/** `2 of 3 messages closed`. */
export function progressOf(run) {
  const { messages, messagesCount: total = messages.length, messagesClosed } = run;
  // Of very many messages only some are here.
  const closed =
    total > messages.length ? messagesClosed : messages.filter(({ attempts }) => attempts.at(-1)?.closed).length;
  return `${closed} of ${total} ${total === 1 ? 'message' : 'messages'} closed`;
}

function entryOfRoot(root) {
  const { id, kind, name, attempt, createdAt, startedAt, endedAt, closedAt } = root;
  const shown = shownState(root);
  const ended = root.closed ? (closedAt ?? endedAt) : undefined;
  const holding = root.closed ? [] : othersHolding(root.id, root.holding);
  const remarks = [root.outcomeCode ? plain(root.outcomeCode) : '', spentWords(root)].filter((text) => text !== '');
  return { id, kind, name, attempt, shown, since: startedAt ?? createdAt, ended, holding, remarks };
}

function entryOfRun(run, roots) {
  const attempts = attemptsOf(run);
  const open = attempts.find(({ closed }) => !closed);
  return {
    id: run.id,
    kind: 'run',
    name: plain(run.name) || 'without a name',
    attempt: 1,
    shown: stateOfRun(run, open !== undefined),
    since: run.createdAt,
    ended: run.state === 'ended' ? run.endedAt : undefined,
    holding: open ? othersHolding(open.executionId, roots.get(open.executionId)?.holding) : [],
    remarks: [progressOf(run), ...(run.outcomeCode ? [plain(run.outcomeCode)] : [])],
  };
}

/** What holds a root open, without that the root itself runs: its state says so already. */
export function othersHolding(root, holding = []) {
  return holding.filter(({ executionId, why }) => !(executionId === root && ['running', 'queued'].includes(why)));
}

function isOpen({ shown }) {
  return ['queued', 'running', 'waiting', 'open'].includes(shown);
}

// Behind its prefix an id sorts by the time of birth, whatever it names.
function byNewest(left, right) {
  return left.id.slice(4) < right.id.slice(4) ? 1 : -1;
}
