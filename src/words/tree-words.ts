import { assertNever } from '../base/assert-never.ts';
import type { Execution, Holding, Notice, Waiting } from '../contract/execution.ts';
import { formatDuration } from './durations.ts';
import type { TreeNode } from './forest.ts';
import { waitedFor } from './held-by.ts';
import { type Span, span, type Tone } from './line.ts';
import { plainLine } from './text.ts';
import { spentWords } from './usage-words.ts';

/** The signs of the states, and the lines of a tree. ASCII for terminals that have nothing else. */
export interface Signs {
  readonly succeeded: string;
  readonly failed: string;
  readonly cancelled: string;
  readonly lost: string;
  readonly running: string;
  readonly queued: string;
  readonly waiting: string;
  /** Ended itself, and something below it has not. */
  readonly open: string;
  readonly branch: string;
  readonly lastBranch: string;
  readonly trunk: string;
  readonly separator: string;
}

/** For terminals that show Unicode. */
export const unicodeSigns: Signs = {
  succeeded: '✓',
  failed: '✗',
  cancelled: '⊘',
  lost: '?',
  running: '●',
  queued: '○',
  waiting: '◐',
  open: '◎',
  branch: '├─ ',
  lastBranch: '└─ ',
  trunk: '│  ',
  separator: ' · ',
};

/** For consoles without. */
export const asciiSigns: Signs = {
  ...unicodeSigns,
  succeeded: '+',
  failed: 'x',
  cancelled: '/',
  running: '*',
  queued: 'o',
  waiting: '=',
  open: '@',
  branch: '|- ',
  lastBranch: '`- ',
  trunk: '|  ',
  separator: ' - ',
};

/** What decides how an execution is shown. */
export type Shown = Pick<Execution, 'state' | 'closed' | 'waiting' | 'outcome'>;

/** The sign and the tone of an execution: that of its end only once it is closed. */
export function signOf(execution: Shown, signs: Signs): Span {
  const tone = toneOf(execution);
  if (isLive(execution)) return span(execution.waiting ? signs.waiting : signs[execution.state], tone);
  return span(execution.closed ? signs[endOf(execution)] : signs.open, tone);
}

/** The colour that goes with a state. */
export function toneOf(execution: Shown): Tone {
  if (isLive(execution) && execution.waiting) return 'warn';
  if (!isLive(execution) && !execution.closed) return 'live';
  const end = endOf(execution);
  switch (end) {
    case 'succeeded':
      return 'good';
    case 'failed':
    case 'lost':
      return 'bad';
    case 'cancelled':
      return 'dim';
    case 'running':
      return 'live';
    case 'queued':
      return 'plain';
    default:
      return assertNever(end);
  }
}

// A root that is closed is what its whole tree made of it: an answer that its check refused is no success.
function endOf({ state, closed, outcome }: Shown): Execution['state'] {
  if (!closed || outcome === undefined) return state;
  return state === 'lost' && outcome === 'failed' ? 'lost' : outcome;
}

/** Whether it is the check of a message, which is no step of a workflow; one of those may have its name. */
function isCheck({ kind, name, key = 'check:' }: Pick<Execution, 'kind' | 'name' | 'key'>): boolean {
  return kind === 'step' && name === 'check' && key.startsWith('check:');
}

/** `message Run the checks`, `agent tests (attempt 2)`; `continuation` alone where the name says no more. */
export function titleOf(
  execution: Pick<Execution, 'kind' | 'name' | 'attempt' | 'key'>,
  isRetried = false,
): string {
  const isOfMessage = isCheck(execution);
  const kind = isOfMessage ? 'check' : execution.kind;
  const name = isOfMessage ? '' : plainLine(execution.name);
  const title = name === '' || name === kind ? kind : `${kind} ${name}`;
  return execution.attempt > 1 || isRetried ? `${title} (attempt ${execution.attempt})` : title;
}

/** The title of a node: a continuation is called after what it handles, which its remark says already. */
export function titleOfNode(node: Pick<TreeNode, 'execution' | 'handles' | 'isRetried'>): string {
  const isToldByRemark = node.execution.kind === 'continuation' && node.handles.length > 0;
  return titleOf(isToldByRemark ? { ...node.execution, name: '' } : node.execution, node.isRetried);
}

/**
 * `running 3.2s`, `open 8.0s`, `succeeded 12s`, `waits for input 4m01s`: state and how long it has been or was in it. What
 * ended itself is `open` until all below it is closed; a root that is closed has the outcome and the time of its tree.
 */
export function stateWords(execution: Execution, now: number): string {
  const { state, closed, waiting, createdAt, startedAt, endedAt, outcome, closedAt } = execution;
  if (isLive(execution) && waiting) return waitingWords(waiting, now);
  if (state === 'queued') return `queued ${formatDuration(now - Date.parse(createdAt))}`;
  const began = Date.parse(startedAt ?? createdAt);
  if (!isLive(execution) && !closed) return `open ${formatDuration(now - began)}`;
  const endInstant = outcome === undefined ? endedAt : (closedAt ?? endedAt);
  const ended = endInstant === undefined ? now : Date.parse(endInstant);
  return `${endOf(execution)} ${formatDuration(ended - began)}`;
}

/** What is to be known besides the state: what is open below, what it handles, what it owes, why it failed. */
export function remarksOn(node: TreeNode): Span[] {
  const { execution, handles, owes } = node;
  const { state, closed, open, error, outcomeCode, cancelReason } = execution;
  const remarks: Span[] = [];
  if (!closed && !isLive(execution) && state !== 'succeeded') remarks.push(span(`itself ${state}`, 'bad'));
  if (!closed && !isLive(execution) && open > 0) remarks.push(span(`waits for ${open} below`, 'live'));
  if (handles.length > 0) remarks.push(span(`handles: ${listHandled(handles)}`));
  for (const notice of owes) {
    const words = noticeWords(notice);
    if (words !== undefined) remarks.push(span(words, notice.state === 'waived' ? 'warn' : 'dim'));
  }
  const spent = spentWords(execution.spent, execution.budget);
  if (spent !== '') remarks.push(span(spent, outcomeCode === 'BUDGET' ? 'bad' : 'dim'));
  if (error) remarks.push(span(errorWords(error), 'bad'));
  if (cancelReason) remarks.push(span(`stopped: ${plainLine(cancelReason)}`, 'dim'));
  const isTold = outcomeCode === undefined || [error?.code, 'CANCELLED'].includes(outcomeCode);
  if (!isTold) remarks.push(span(plainLine(outcomeCode), 'bad'));
  return remarks;
}

/** Where a result is on its way to the session; undefined once it is handled, which its continuation shows. */
export function noticeWords(notice: Notice): string | undefined {
  switch (notice.state) {
    case 'owed':
      return notice.attempt > 0 ? `result owed again (delivery ${notice.attempt + 1})` : 'result owed';
    case 'claimed':
      return 'result being delivered';
    case 'handed':
      return 'result being handled';
    case 'handled':
      return undefined;
    case 'waived':
      return `result waived${reasonWords(notice)}`;
    default:
      return assertNever(notice.state);
  }
}

/** `agent tests (running 12s)`: one thing that keeps a root open, as short as it can be said. */
export function holdingWords(holding: Holding, names: ReadonlyMap<string, string>, now: number): string {
  const { executionId = '', noticeId = '' } = holding;
  const known = names.get(noticeId) ?? names.get(executionId);
  const name = known ?? plainLine(holding.name ?? shortId(noticeId || executionId));
  const facts = [sinceWords(holding, now), untilWords(holding, now)];
  if (!isToldByState.has(holding.why) && !isBeginning(holding, now)) facts.push(evidenceWords(holding));
  const told = facts.filter((fact) => fact !== '').join(', ');
  return name.endsWith(')') ? `${name.slice(0, -1)}, ${told})` : `${name} (${told})`;
}

/** How long an agent may take to begin before that is worth a word; milliseconds. */
const beginsWithinMs = 5_000;

/** Whether an agent has its text to begin with since a moment ago. */
export function isBeginning({ why, since }: Holding, now: number): boolean {
  return why === 'starting' && now - Date.parse(since) < beginsWithinMs;
}

/** What the server saw, with ids short enough to read and long enough to name one thing. */
export function evidenceWords(holding: Holding): string {
  return plainLine(holding.evidence).replace(/\b[a-z]{3}_[0-9A-Z]{15,}/g, shortId);
}

/** The beginning of an id: as much as it takes to name one thing (the time and the counter of its birth). */
export function shortId(id: string): string {
  return id.slice(0, 18);
}

// Of these, the evidence says nothing that helps, or what the words say already.
const isToldByState: ReadonlySet<string> = new Set([
  'running',
  'queued',
  'waiting',
  'cancelling',
  'notice_owed',
]);

function sinceWords(holding: Holding, now: number): string {
  const lasts = formatDuration(now - Date.parse(holding.since));
  const what = waitedFor(holding);
  return what === undefined
    ? `${plainLine(holding.why)
        .replace(/^notice_/, '')
        .replaceAll('_', ' ')} ${lasts}`
    : `waiting ${lasts} for ${plainLine(what)}`;
}

/** A deadline that is farther away than this is of no interest yet; milliseconds. */
const nearMs = 15 * 60_000;

function untilWords({ why, until }: Holding, now: number): string {
  if (until === undefined) return '';
  const leftMs = Date.parse(until) - now;
  const goesOn = why === 'waiting' || why === 'notice_backing_off';
  return goesOn || leftMs < nearMs ? `${formatDuration(leftMs)} left` : '';
}

function isLive({ state }: Pick<Execution, 'state'>): boolean {
  return state === 'queued' || state === 'running';
}

function waitingWords(waiting: Waiting, now: number): string {
  const since = formatDuration(now - Date.parse(waiting.since));
  const until =
    waiting.until === undefined ? '' : `, ${formatDuration(Date.parse(waiting.until) - now)} left`;
  const text = waiting.text === undefined ? '' : `: ${plainLine(waiting.text)}`;
  const choices = waiting.choices?.length ? ` [${waiting.choices.map(plainLine).join(' | ')}]` : '';
  return `waits for ${waiting.for} ${since}${until}${text}${choices}`;
}

const namesShown = 3;

function listHandled(handled: readonly Execution[]): string {
  const shown = handled.slice(0, namesShown).map(({ name, state }) => `${plainLine(name)} ${state}`);
  const more = handled.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : shown.join(', ');
}

function errorWords(error: { code: string; message: string }): string {
  const message = plainLine(error.message);
  return message === '' ? plainLine(error.code) : message;
}

function reasonWords({ reason, actor }: Notice): string {
  const parts = [reason, actor === undefined ? undefined : `by ${actor}`].filter(
    (part) => part !== undefined,
  );
  return parts.length === 0 ? '' : `: ${plainLine(parts.join(', '))}`;
}
