// One run or one root as rows. Pure: the server's answers in, rows out, each with its level, in the order in which they
// are shown.

import { plain, remarksOn, shorten, shownState, titleOf } from './words.js';
import { attemptsOf, othersHolding, progressOf, stateOfRun } from './work.js';

/** Of more executions the page shows the first ones only. */
export const mostRows = 5_000;

/** A root: what it is, what holds it, its rows. */
export function viewOfTree(tree) {
  const root = tree.executions.find(({ id }) => id === tree.root);
  const rows = rowsOfTree(tree);
  const shown = root ? shownState(root) : 'lost';
  return {
    roots: new Set([tree.root]),
    name: shorten(root?.name ?? tree.root, 100),
    shown,
    summary: `${shown}${codeOf(tree)}`,
    holding: holdingOf([tree]),
    ...cut(rows),
  };
}

/** A run: its messages in order, each with its tree where there is one, and what is still to be sent. */
export function viewOfRun(run, trees) {
  const attempts = attemptsOf(run);
  const isOpenBelow = attempts.some(({ executionId, closed }) => !(trees.get(executionId)?.closed ?? closed));
  const shown = stateOfRun(run, isOpenBelow);
  const rows = run.messages.flatMap((message) => rowsOfMessage(run, message, trees));
  return {
    roots: new Set(attempts.map(({ executionId }) => executionId)),
    name: shorten(run.name || 'run', 100),
    shown,
    summary: `${shown}${codeOf(run)}, ${progressOf(run)}`,
    holding: holdingOf([...trees.values()]),
    ...cut(rows),
  };
}

function rowsOfMessage(run, message, trees) {
  const place = `${message.index + 1} of ${run.messagesCount ?? run.messages.length}`;
  if (message.attempts.length === 0) return [unsentRow(run, message, place)];
  return message.attempts.flatMap((attempt) => {
    const tree = trees.get(attempt.executionId);
    if (!tree) return [rowWithoutTree(attempt, message, place)];
    return rowsOfTree(tree).map((row) => (row.id === tree.root ? { ...row, place } : row));
  });
}

function unsentRow(run, { index, text }, place) {
  const words = run.state === 'ended' ? 'not sent' : 'not sent yet';
  const title = titleOf({ kind: 'message', name: text, attempt: 1 });
  return { id: `${run.id}/${index}`, level: 0, shown: 'unsent', words, title, place, remarks: [] };
}

// Of a long run only the trees of the last messages are read.
function rowWithoutTree(attempt, { text }, place) {
  const shown = shownState(attempt);
  const title = titleOf({ kind: 'message', name: text, attempt: attempt.attempt });
  const remarks = ['Enter or a double click shows its tree'];
  return { id: attempt.executionId, opens: attempt.executionId, level: 0, shown, title, place, remarks };
}

// Depth first, in the order of birth. An execution whose parent the answer lacks stands at the top, and is not lost.
function rowsOfTree({ executions, notices }) {
  const byId = new Map(executions.map((each) => [each.id, each]));
  const owed = Map.groupBy(notices, (notice) => notice.executionId);
  const handled = Map.groupBy(notices, (notice) => notice.continuationId);
  const children = Map.groupBy(executions.toSorted(byNewest), ({ parentId }) =>
    byId.has(parentId) ? parentId : null,
  );
  const rows = [];
  const pending = (children.get(null) ?? []).map((each) => ({ each, level: 0 }));
  while (pending.length > 0) {
    const { each, level } = pending.pop();
    const handles = (handled.get(each.id) ?? []).flatMap((notice) => byId.get(notice.executionId) ?? []);
    rows.push(rowOf(each, level, handles, owed.get(each.id)));
    for (const child of children.get(each.id) ?? []) pending.push({ each: child, level: level + 1 });
  }
  return rows;
}

function rowOf(execution, level, handles, notices) {
  const { id, closed, outcome, waiting, createdAt, startedAt, endedAt, closedAt } = execution;
  const shown = shownState(execution);
  const ended = outcome === undefined ? endedAt : (closedAt ?? endedAt);
  return {
    id,
    level,
    shown,
    title: titleOf(execution, handles),
    since: shown === 'waiting' ? waiting.since : (startedAt ?? createdAt),
    ended: closed ? ended : undefined,
    remarks: remarksOn(execution, { handles, notices }),
  };
}

function holdingOf(trees) {
  return trees
    .filter(({ closed }) => !closed)
    .flatMap((tree) => {
      const names = new Map(tree.executions.map(({ id, name }) => [id, name]));
      return othersHolding(tree.root, tree.holding).map((each) => ({
        ...each,
        name: each.name ?? names.get(each.executionId),
      }));
    });
}

function cut(rows) {
  return { rows: rows.slice(0, mostRows), left: Math.max(0, rows.length - mostRows) };
}

function codeOf({ outcomeCode }) {
  return outcomeCode ? ` (${plain(outcomeCode)})` : '';
}

function byNewest(left, right) {
  return left.id < right.id ? 1 : -1;
}
