import type { Holding, TreeView } from '../contract/execution.ts';
import { growForest, type TreeNode } from './forest.ts';
import { type Line, type Span, span } from './line.ts';
import { signOfStep, stepStateWords } from './step-words.ts';
import { clip, columnsOf, plainBlock, plainLine, wrap } from './text.ts';
import {
  holdingWords,
  isBeginning,
  remarksOn,
  shortId,
  type Signs,
  signOf,
  stateWords,
  titleOf,
  titleOfNode,
  unicodeSigns,
} from './tree-words.ts';

/** How a tree is shown. */
export interface TreeOptions {
  /** The present, UTC milliseconds: for what still lasts. */
  readonly now: number;
  readonly signs?: Signs;
  /** Whether each line ends with the beginning of the id, enough to name it. */
  readonly ids?: boolean;
  /** Whether the answers stand below what gave them. */
  readonly results?: boolean;
  /** How wide a line may be, for what is broken into lines; absent: as wide as it is. */
  readonly columns?: number;
  /** How many lines there is room for; absent: as many as it takes. */
  readonly rows?: number;
  /** How many levels of lines are drawn before they are cut on the left. */
  readonly levels?: number;
}

/**
 * A tree as lines: each execution with its sign, state, time, attempt and remarks, and at the bottom what holds the root
 * open. With `rows` it never has more lines than that: first what is closed folds into its top line, then closed
 * siblings fold into one line, then the middle is left out.
 */
export function treeLines(view: TreeView, options: TreeOptions): Line[] {
  const rows = options.rows ?? Number.POSITIVE_INFINITY;
  const forest = growForest(view);
  const holding = holdingLines(view, options, Math.floor(rows / 3));
  const room = Math.max(1, rows - holding.length);
  for (const fold of ['nothing', 'subtrees', 'siblings'] as const) {
    const lines = forest.flatMap((node) => nodeLines(node, { ...options, fold }));
    if (lines.length <= room) return [...lines, ...holding];
    if (fold === 'siblings') return [...leaveOutMiddle(lines, room), ...holding];
  }
  return holding;
}

interface DrawOptions extends TreeOptions {
  readonly fold: 'nothing' | 'subtrees' | 'siblings';
}

const deepestLevels = 24;

function nodeLines(top: TreeNode, options: DrawOptions): Line[] {
  const signs = options.signs ?? unicodeSigns;
  const lines: Line[] = [];
  const draw = (node: TreeNode, guides: readonly string[], own: string, above = ''): void => {
    const guide = guideSpans(guides, own, options.levels ?? deepestLevels);
    lines.push([...guide, ...nodeSpans(node, signs, { ...options, columns: room(guide, options) })]);
    const inner = own === '' ? guides : [...guides, own === signs.lastBranch ? '   ' : signs.trunk];
    const answer = answerOf(node);
    if (options.results && answer !== above) lines.push(...answerLines(answer, node, inner, options));
    if (isFolded(node, options)) return;
    const { shown, hidden } = splitChildren(node, options);
    const steps = stepSpans(node, signs, options);
    const more = hidden.length > 0 ? [[foldedSpan(hidden)], ...steps] : steps;
    for (const [index, child] of shown.entries()) {
      const isLast = index === shown.length - 1 && more.length === 0;
      draw(child, inner, isLast ? signs.lastBranch : signs.branch, answer);
    }
    for (const [index, spans] of more.entries()) {
      const own = index === more.length - 1 ? signs.lastBranch : signs.branch;
      lines.push([...guideSpans(inner, own, deepestLevels), ...spans]);
    }
  };
  draw(top, [], '');
  return lines;
}

function nodeSpans(node: TreeNode, signs: Signs, options: DrawOptions): Span[] {
  const { execution } = node;
  const sign = signOf(execution, signs);
  const state = span(stateWords(execution, options.now), sign.tone);
  const facts = options.ids ? [state, span(shortId(execution.id), 'dim')] : [state];
  const title = titleOfNode(node);
  // The id is there to be copied: a long title gives way to it.
  const used = facts.reduce((sum, { text }) => sum + columnsOf(signs.separator + text), 2);
  const shown = options.ids ? clip(title, Math.max(narrowest, columnsFor(options) - used)) : title;
  const spans = [sign, span(' '), span(shown, execution.closed ? 'plain' : 'strong')];
  if (isFolded(node, options)) facts.push(span(`${node.size - 1} closed below`, 'dim'));
  for (const fact of [...facts, ...remarksOn(node)]) spans.push(span(signs.separator, 'dim'), fact);
  return spans;
}

/** The columns that are left beside a guide. */
function room(guide: readonly Span[], options: TreeOptions): number {
  return columnsFor(options) - guide.reduce((sum, { text }) => sum + columnsOf(text), 0);
}

function columnsFor({ columns = Number.POSITIVE_INFINITY }: TreeOptions): number {
  return columns;
}

/** What an execution answered, or why it did not. */
function answerOf({ execution: { result, error } }: TreeNode): string {
  return plainBlock(result || error?.message || '').trim();
}

function answerLines(
  answer: string,
  { children }: TreeNode,
  guides: readonly string[],
  options: DrawOptions,
): Line[] {
  if (answer === '') return [];
  const { trunk } = options.signs ?? unicodeSigns;
  const own = children.length > 0 ? trunk : '   ';
  const guide = guideSpans([...guides, own], '', options.levels ?? deepestLevels);
  return wrap(answer, Math.max(narrowest, room(guide, options))).map((line) => [...guide, span(line)]);
}

/** However deep a tree is, a title and an answer have this many columns. */
const narrowest = 20;

function isFolded(node: TreeNode, options: DrawOptions): boolean {
  const hasSomething = node.children.length + node.steps.length > 0;
  return options.fold !== 'nothing' && node.execution.closed && hasSomething;
}

function splitChildren(
  node: TreeNode,
  options: DrawOptions,
): { shown: readonly TreeNode[]; hidden: readonly TreeNode[] } {
  if (options.fold !== 'siblings') return { shown: node.children, hidden: [] };
  const hidden = node.children.filter((child) => child.execution.closed);
  if (hidden.length < 2) return { shown: node.children, hidden: [] };
  return { shown: node.children.filter((child) => !child.execution.closed), hidden };
}

/** How many steps that wait are named one by one. */
const stepsNamed = 6;

/** The steps of a workflow that no execution shows; many that wait are one line. */
function stepSpans({ steps }: TreeNode, signs: Signs, { now, fold }: DrawOptions): Span[][] {
  const waiting = steps.filter(({ state }) => state === 'blocked');
  const isFew = fold === 'nothing' && waiting.length <= stepsNamed;
  const named = isFew ? steps : steps.filter(({ state }) => state !== 'blocked');
  const shown = named.map((step) => [
    signOfStep(step, signs),
    span(` step ${plainLine(step.name)}`),
    span(signs.separator, 'dim'),
    span(stepStateWords(step, now), step.state === 'backsOff' ? 'warn' : 'dim'),
  ]);
  if (isFew || waiting.length === 0) return shown;
  const words = waiting.length === 1 ? '1 step waits' : `${waiting.length} steps wait`;
  return [...shown, [span(`${signs.queued} ${words} for others`, 'dim')]];
}

function foldedSpan(hidden: readonly TreeNode[]): Span {
  const counts = new Map<string, number>();
  for (const { execution } of hidden) counts.set(execution.state, (counts.get(execution.state) ?? 0) + 1);
  const words = [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
  return span(`${hidden.length} closed: ${words}`, 'dim');
}

function guideSpans(guides: readonly string[], own: string, levels: number): Span[] {
  const cut = guides.length - levels;
  const text = cut > 0 ? `…${guides.slice(cut).join('')}${own}` : `${guides.join('')}${own}`;
  return text === '' ? [] : [span(text, 'dim')];
}

function leaveOutMiddle(lines: readonly Line[], room: number): Line[] {
  if (room < 3) return lines.slice(0, room);
  const tail = room - 2;
  const [first] = lines;
  const left = span(`… ${lines.length - 1 - tail} lines left out; stemma tree shows all`, 'dim');
  return [...(first ? [first] : []), [left], ...lines.slice(lines.length - tail)];
}

function holdingLines(view: TreeView, options: TreeOptions, room: number): Line[] {
  const held = view.holding.filter((holding) => !isToldByRoot(holding, view, options.now));
  if (view.closed || held.length === 0 || room === 0) return [];
  const names = nameIndex(view);
  const isMany = held.length > room;
  const shown = isMany ? held.slice(0, Math.max(0, room - 1)) : held;
  const lines: Line[] = shown.map((holding) => [
    span('waits for: ', 'warn'),
    span(holdingWords(holding, names, options.now)),
  ]);
  return isMany ? [...lines, [span(`waits for ${held.length - shown.length} more`, 'warn')]] : lines;
}

// The line of the root says already that the root itself runs.
function isToldByRoot(holding: Holding, view: TreeView, now: number): boolean {
  if (holding.executionId !== view.root) return false;
  return isBeginning(holding, now) || ['running', 'queued', 'waiting'].includes(holding.why);
}

/** What things of a tree are called, by the ids of executions and of notices. */
function nameIndex(view: TreeView): Map<string, string> {
  const names = new Map(view.executions.map((execution) => [execution.id, titleOf(execution)]));
  for (const { id, executionId } of view.notices) {
    names.set(id, `the result of ${names.get(executionId) ?? executionId}`);
  }
  return names;
}
