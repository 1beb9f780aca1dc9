import type { Execution } from '../../../src/contract/execution.ts';
import type { Absence } from '../live/stream.ts';

type Root = Pick<Execution, 'createdAt' | 'closedAt' | 'outcome'>;

/** What became of roots while nothing was heard, in words: "2 began, 3 ended (1 failed)". The absence is in the server's time. */
export function meanwhileWords(roots: readonly Root[], { since, until }: Absence): string {
  const isThen = (at: string | undefined): boolean => {
    const time = at === undefined ? Number.NaN : Date.parse(at);
    return time >= since && time <= until;
  };
  const began = roots.filter(({ createdAt }) => isThen(createdAt)).length;
  const ended = roots.filter(({ closedAt }) => isThen(closedAt));
  const failed = ended.filter(({ outcome }) => outcome === 'failed').length;
  const parts = [
    ...(began > 0 ? [`${began} began`] : []),
    ...(ended.length > 0 ? [`${ended.length} ended${failed > 0 ? ` (${failed} failed)` : ''}`] : []),
  ];
  return parts.length === 0 ? 'nothing began or ended' : parts.join(', ');
}
