import type { Budget } from '../contract/budget.ts';
import type { Usage } from '../contract/execution.ts';

/** `12.3k tokens, $0.41`: what was used, as short as it can be said; '' for nothing. */
export function usageWords(used: Usage | undefined): string {
  const tokens = (used?.inputTokens ?? 0) + (used?.outputTokens ?? 0);
  return amounts({ ...(tokens > 0 ? { tokens } : {}), ...(used?.usd ? { usd: used.usd } : {}) });
}

/** `used 12.3k tokens, $0.41 of $5`: what was used at and below something, and what was allowed. */
export function spentWords(spent: Usage | undefined, budget: Budget | undefined): string {
  const used = usageWords(spent);
  if (budget === undefined) return used === '' ? '' : `used ${used}`;
  return `used ${used === '' ? 'nothing' : used} of ${amounts(budget)}`;
}

function amounts({ tokens, usd }: Budget): string {
  const parts = [
    ...(tokens === undefined ? [] : [`${shortCount(tokens)} tokens`]),
    ...(usd === undefined ? [] : [`$${shortUsd(usd)}`]),
  ];
  return parts.join(', ');
}

/** Three digits are enough to see what it comes to. */
function shortCount(count: number): string {
  if (count < 1000) return String(count);
  const [unit, size] = count < 999_500 ? ['k', 1000] : ['M', 1_000_000];
  const value = count / size;
  return `${value < 99.95 ? Number(value.toFixed(1)) : Math.round(value)}${unit}`;
}

function shortUsd(usd: number): string {
  if (usd > 0 && usd < 0.005) return String(Number(usd.toPrecision(1)));
  return Number.isInteger(usd) ? String(usd) : usd.toFixed(2);
}
