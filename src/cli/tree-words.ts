import { assertNever } from '../base/assert-never.ts';
import type { Execution, Holding, Notice, Waiting } from '../contract/execution.ts';
import { formatDuration } from './durations.ts';
import type { TreeNode } from './forest.ts';
import { type Span, span, type Tone } from './line.ts';
import { plainLine } from './text.ts';

/** The signs of the states, and the lines of a tree. ASCII for terminals that have nothing else. */
export interface Signs {
  readonly succeeded: string;
  readonly failed: string;
  readonly cancelled: string;
  readonly lost: string;
  readonly running: string;
  readonly queued: string;
  readonly waiting: string;
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
  branch: '|- ',
  lastBranch: '`- ',
  trunk: '|  ',
  separator: ' - ',
};

/** The sign and the tone of an execution. */
export function signOf(execution: Execution, signs: Signs): Span {
  const { state } = execution;
  if (isLive(execution) && execution.waiting) return span(signs.waiting, 'warn');
  return span(signs[state], toneOf(execution));
}

/** The colour that goes with a state. */
export function toneOf(execution: Pick<Execution, 'state' | 'waiting'>): Tone {
  switch (execution.state) {
    case 'succeeded':
      return 'good';
    case 'failed':
    case 'lost':
      return 'bad';
    case 'cancelled':
      return 'dim';
    case 'running':
      return execution.waiting ? 'warn' : 'live';
    case 'queued':
      return execution.waiting ? 'warn' : 'plain';
    default:
      return assertNever(execution.state);
  }
}

/** `message Run the checks`, `agent tests (attempt 2)`; `continuation` alone where the name says no more. */
export function titleOf(execution: Pick<Execution, 'kind' | 'name' | 'attempt'>, isRetried = false): string {
  const name = plainLine(execution.name);
  const title = name === '' || name === execution.kind ? execution.kind : `${execution.kind} ${name}`;
  return execution.attempt > 1 || isRetried ? `${title} (attempt ${execution.attempt})` : title;
}

/** The title of a node: a continuation is called after what it handles, which its remark says already. */
export function titleOfNode(node: Pick<TreeNode, 'execution' | 'handles' | 'isRetried'>): string {
  const isToldByRemark = node.execution.kind === 'continuation' && node.handles.length > 0;
  return titleOf(isToldByRemark ? { ...node.execution, name: '' } : node.execution, node.isRetried);
}

/** `running 3.2s`, `succeeded 12s`, `waits for input 4m01s`: state and how long it has been or was in it. */
export function stateWords(execution: Execution, now: number): string {
  const { state, waiting, createdAt, startedAt, endedAt } = execution;
  if (isLive(execution) && waiting) return waitingWords(waiting, now);
  if (state === 'queued') return `queued ${formatDuration(now - Date.parse(createdAt))}`;
  const began = Date.parse(startedAt ?? createdAt);
  const ended = endedAt === undefined ? now : Date.parse(endedAt);
  return `${state} ${formatDuration(ended - began)}`;
}

/** What is to be known besides the state: what is open below, what it handles, what it owes, why it failed. */
export function remarksOn(node: TreeNode): Span[] {
  const { execution, handles, owes } = node;
  const remarks: Span[] = [];
  if (!execution.closed && !isLive(execution) && execution.open > 0)
    remarks.push(span(`${execution.open} open below`, 'live'));
  if (handles.length > 0) remarks.push(span(`handles: ${listHandled(handles)}`));
  for (const notice of owes) {
    const words = noticeWords(notice);
    if (words !== undefined) remarks.push(span(words, notice.state === 'waived' ? 'warn' : 'dim'));
  }
  if (execution.error) remarks.push(span(errorWords(execution.error), 'bad'));
  if (execution.outcomeCode !== undefined && execution.outcomeCode !== execution.error?.code) {
    remarks.push(
      span(`outcome ${execution.outcome ?? 'unknown'}: ${plainLine(execution.outcomeCode)}`, 'bad'),
    );
  }
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

/** `agent tests: running for 12s (heartbeat 2s ago)`: one thing that keeps a root open. */
export function holdingWords(holding: Holding, names: ReadonlyMap<string, string>, now: number): string {
  const id = holding.executionId ?? holding.noticeId ?? '';
  const name = names.get(id) ?? plainLine(holding.name ?? id);
  const since = formatDuration(now - Date.parse(holding.since));
  const until = holding.until === undefined ? '' : `, until ${untilWords(holding.until, now)}`;
  const evidence = plainLine(holding.evidence);
  return `${name}: ${plainLine(holding.why).replaceAll('_', ' ')} for ${since}${until}${evidence ? ` (${evidence})` : ''}`;
}

/** An instant that lies ahead, as people say it: the wait that is left. */
function untilWords(instant: string, now: number): string {
  const leftMs = Date.parse(instant) - now;
  return leftMs > 0
    ? `${instant.replace(/\.\d+Z$/, 'Z')}, in ${formatDuration(leftMs)}`
    : instant.replace(/\.\d+Z$/, 'Z');
}

function isLive(execution: Execution): boolean {
  return execution.state === 'queued' || execution.state === 'running';
}

function waitingWords(waiting: Waiting, now: number): string {
  const since = formatDuration(now - Date.parse(waiting.since));
  const until = waiting.until === undefined ? '' : `, until ${untilWords(waiting.until, now)}`;
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
