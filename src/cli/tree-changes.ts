import type { Execution, Notice, TreeView } from '../contract/execution.ts';
import type { TreeStep } from '../contract/step.ts';
import { formatDuration } from '../words/durations.ts';
import { growForest, type TreeNode } from '../words/forest.ts';
import { type Line, span } from '../words/line.ts';
import { signOfStep, stepStateWords } from '../words/step-words.ts';
import { plainLine } from '../words/text.ts';
import {
  noticeWords,
  remarksOn,
  type Signs,
  signOf,
  stateWords,
  titleOf,
  titleOfNode,
  unicodeSigns,
} from '../words/tree-words.ts';

/** What differs between two readings of one tree, in the order in which it happened. */
export interface TreeChanges {
  readonly executions: readonly Execution[];
  readonly notices: readonly Notice[];
}

/**
 * Compares two readings; without an earlier one, everything is new. `essential` leaves out what changes only a count or
 * a time; `any` takes every field.
 */
export function treeChanges(
  before: TreeView | undefined,
  after: TreeView,
  kind: 'essential' | 'any',
): TreeChanges {
  const fingerprint = kind === 'any' ? JSON.stringify : executionPrint;
  const known = new Map(before?.executions.map((execution) => [execution.id, fingerprint(execution)]));
  const delivered = new Map(before?.notices.map((notice) => [notice.id, noticePrint(notice)]));
  return {
    executions: after.executions
      .filter((execution) => known.get(execution.id) !== fingerprint(execution))
      .sort(byLastChange),
    notices: after.notices.filter((notice) => delivered.get(notice.id) !== noticePrint(notice)),
  };
}

/** How change lines are printed. `since`: the instant from which their times count, UTC milliseconds. */
export interface ChangeOptions {
  readonly now: number;
  readonly since: number;
  readonly signs?: Signs;
}

/**
 * The changes as lines for a log: one for each execution that changed, and one for each result whose delivery took a
 * turn of its own (waived, or owed again), since the others are told by the lines of the executions.
 */
export function changeLines(before: TreeView | undefined, after: TreeView, options: ChangeOptions): Line[] {
  const changes = treeChanges(before, after, 'essential');
  const nodes = new Map(growForest(after).flatMap(allNodes));
  const told = new Set(changes.executions.map(({ id }) => id));
  const lines = changes.executions.flatMap((execution) => {
    const node = nodes.get(execution.id);
    const parent = nodes.get(execution.parentId ?? '');
    return node ? [executionLine(node, parent, options)] : [];
  });
  for (const notice of changes.notices) {
    const isTold = notice.state !== 'waived' && !(notice.state === 'owed' && notice.attempt > 0);
    const about = nodes.get(notice.executionId);
    if (about && !isTold && !told.has(notice.executionId)) lines.push(noticeLine(about, notice, options));
  }
  return [...lines, ...stepLines(before, after, options)];
}

/** The steps that no execution shows and that came to something: skipped, tried again later, done before. */
function stepLines(before: TreeView | undefined, after: TreeView, options: ChangeOptions): Line[] {
  const known = new Set(before?.steps?.map(stepPrint));
  const signs = options.signs ?? unicodeSigns;
  return (after.steps ?? [])
    .filter(({ state }) => state !== 'blocked' && state !== 'due')
    .filter((step) => !known.has(stepPrint(step)))
    .map((step) => [
      timeSpan(options),
      signOfStep(step, signs),
      span(` step ${plainLine(step.name)}`),
      span(signs.separator, 'dim'),
      span(stepStateWords(step, options.now), step.state === 'backsOff' ? 'warn' : 'dim'),
    ]);
}

function stepPrint({ workflowId, name, state, tries }: TreeStep): string {
  return `${workflowId} ${name} ${state} ${tries}`;
}

function executionLine(node: TreeNode, parent: TreeNode | undefined, options: ChangeOptions): Line {
  const signs = options.signs ?? unicodeSigns;
  const { execution } = node;
  const sign = signOf(execution, signs);
  const isEnd = execution.parentId === null && execution.closed;
  const words = stateWords(execution, options.now);
  const line = [timeSpan(options), sign, span(` ${lineTitle(node, parent)}`)];
  line.push(
    span(signs.separator, 'dim'),
    isEnd ? span(`closed: ${words}`, 'strong') : span(words, sign.tone),
  );
  for (const remark of remarksOn(node)) line.push(span(signs.separator, 'dim'), remark);
  return line;
}

// No tree says here whose continuation it is, before it is known what it handles.
function lineTitle(node: TreeNode, parent: TreeNode | undefined): string {
  const title = titleOfNode(node);
  if (node.execution.kind !== 'continuation' || node.handles.length > 0 || !parent) return title;
  return `${title} of ${titleOf(parent.execution, parent.isRetried)}`;
}

function noticeLine(about: TreeNode, notice: Notice, options: ChangeOptions): Line {
  const words = noticeWords(notice) ?? 'result handled';
  const signs = options.signs ?? unicodeSigns;
  return [
    timeSpan(options),
    span(`${titleOf(about.execution, about.isRetried)}${signs.separator}${words}`, 'warn'),
  ];
}

function timeSpan({ now, since }: ChangeOptions): Line[number] {
  return span(`${`+${formatDuration(now - since)}`.padStart(7)}  `, 'dim');
}

function allNodes(node: TreeNode): [string, TreeNode][] {
  return [[node.execution.id, node], ...node.children.flatMap(allNodes)];
}

// What makes a new line: times and counts alone do not.
function executionPrint({ state, waiting, closed, parentId, outcome }: Execution): string {
  const rootEnd = parentId === null && closed ? `closed ${outcome}` : '';
  // What was told as open, since something below it was, is told once more when that has ended.
  return `${state} ${closed ? 'closed' : ''} ${waiting?.for ?? ''} ${waiting?.text ?? ''} ${rootEnd}`;
}

function noticePrint({ state, attempt }: Notice): string {
  return `${state} ${attempt}`;
}

// A root closes in the moment in which the last thing below it does, and is told after it.
function byLastChange(left: Execution, right: Execution): number {
  const [a, b] = [lastChange(left), lastChange(right)];
  if (a !== b) return a < b ? -1 : 1;
  return Number(left.parentId === null && left.closed) - Number(right.parentId === null && right.closed);
}

function lastChange({ closedAt, endedAt, startedAt, createdAt }: Execution): string {
  return closedAt ?? endedAt ?? startedAt ?? createdAt;
}
