import type { Run } from '../../../../src/contract/run.ts';

/** Runs of a schedule over time, oldest first, each list as long as the others; null where nothing is known. */
export interface RunSeries {
  /** When each began; seconds since 1970, as the plot takes them. */
  readonly at: number[];
  readonly minutes: (number | null)[];
  readonly usd: (number | null)[];
  readonly tokens: (number | null)[];
  readonly runIds: string[];
}

/** What has ended of these runs, as series. */
export function runSeries(runs: readonly Run[]): RunSeries {
  const ended = runs
    .filter(({ createdAt, endedAt }) => createdAt !== undefined && endedAt !== undefined)
    .toSorted((left, right) => (left.createdAt ?? '').localeCompare(right.createdAt ?? ''));
  const used = ended.map(({ spent, workflow }) => spent ?? workflow?.usage);
  return {
    at: ended.map(({ createdAt = '' }) => Date.parse(createdAt) / 1_000),
    minutes: ended.map(
      ({ createdAt = '', endedAt = '' }) => (Date.parse(endedAt) - Date.parse(createdAt)) / 60_000,
    ),
    usd: used.map((usage) => usage?.usd ?? null),
    tokens: used.map((usage) =>
      usage?.inputTokens === undefined && usage?.outputTokens === undefined
        ? null
        : (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0),
    ),
    runIds: ended.map(({ id }) => id),
  };
}

/** The middle and the largest of what is known, in one sentence; '' where nothing is. */
export function spreadWords(values: readonly (number | null)[], words: (value: number) => string): string {
  const known = values.filter((value) => value !== null).toSorted((left, right) => left - right);
  const middle = known[Math.floor(known.length / 2)];
  const largest = known.at(-1);
  return middle === undefined || largest === undefined
    ? ''
    : `usually ${words(middle)}, at most ${words(largest)}`;
}
