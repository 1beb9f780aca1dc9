import type { Budget } from '../../../src/contract/budget.ts';
import type { Execution, Holding, Usage, Waiting } from '../../../src/contract/execution.ts';
import { plainLine } from './plain.ts';

/** How an execution is shown: as it ended only once it is closed; before that a tick or a cross would promise too much. */
export type Shown = 'queued' | 'running' | 'waiting' | 'open' | 'succeeded' | 'failed' | 'cancelled' | 'lost';

/** The signs of the terminal's tree, so that both read the same. */
export const signs: Readonly<Record<Shown, string>> = {
  queued: '○',
  running: '●',
  waiting: '◐',
  open: '◎',
  succeeded: '✓',
  failed: '✗',
  cancelled: '⊘',
  lost: '?',
};

/** How an execution is shown. */
export function shownState({
  state,
  closed,
  outcome,
  waiting,
}: Pick<Execution, 'state' | 'closed' | 'outcome' | 'waiting'>): Shown {
  if (state === 'queued' || state === 'running') return waiting ? 'waiting' : state;
  if (!closed) return 'open';
  return outcome && !(state === 'lost' && outcome === 'failed') ? outcome : state;
}

/** Milliseconds for people: `12s`, `3m05s`, `2h07m`, `4d03h`. */
export function durationWords(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return pair(seconds, 60, 'm', 's');
  return seconds < 86_400 ? pair(seconds / 60, 60, 'h', 'm') : pair(seconds / 3600, 24, 'd', 'h');
}

/** `12,300 tokens, $0.41`; '' where nothing was counted. */
export function usageWords(used: Usage | undefined): string {
  return amounts({ usd: used?.usd, tokens: (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0) });
}

/** `used $0.41 of $5.00`; '' where nobody counted. */
export function spentWords({
  spent,
  budget,
}: {
  spent?: Usage | undefined;
  budget?: Budget | undefined;
}): string {
  const used = usageWords(spent);
  if (!budget) return used === '' ? '' : `used ${used}`;
  return `used ${used || 'nothing'} of ${amounts(budget)}`;
}

/** Why something holds a root open, with the evidence where it says more than the state does. */
export function holdingWords({ why, evidence }: Holding): string {
  const waits = why === 'waiting' ? /^waits for (.*)$/s.exec(evidence)?.[1] : undefined;
  if (waits !== undefined) return plainLine(`waiting for ${waits}`, 200);
  const isTold =
    ['running', 'queued', 'waiting', 'cancelling', 'notice_owed'].includes(why) || evidence === '';
  return plainLine(`${why.replaceAll('_', ' ')}${isTold ? '' : `: ${evidence}`}`, 200);
}

/** `for input: Which branch? [main | dev]` */
export function waitingWords({ for: what, text, choices }: Waiting): string {
  return plainLine(
    `for ${what}${text ? `: ${text}` : ''}${choices?.length ? ` [${choices.join(' | ')}]` : ''}`,
  );
}

/** `agent tests (attempt 2)`: `continuation` alone where the name says no more. */
export function titleOf({ kind, name, attempt }: Pick<Execution, 'kind' | 'name' | 'attempt'>): string {
  const said = plainLine(name, 200);
  const title = said === '' || said === kind ? kind : `${kind} ${said}`;
  return attempt > 1 ? `${title} (attempt ${attempt})` : title;
}

function amounts({ tokens, usd }: { tokens?: number | undefined; usd?: number | undefined }): string {
  const parts = [tokens ? `${tokens.toLocaleString('en')} tokens` : '', usd ? `$${usd.toFixed(2)}` : ''];
  return parts.filter((part) => part !== '').join(', ');
}

function pair(value: number, size: number, large: string, small: string): string {
  const total = Math.floor(value);
  return `${Math.floor(total / size)}${large}${String(total % size).padStart(2, '0')}${small}`;
}
