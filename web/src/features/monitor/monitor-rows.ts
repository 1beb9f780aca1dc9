import type { MonitorRow } from '../../../../src/contract/execution.ts';

/** What the monitor shows of all live roots. */
export interface MonitorFilter {
  /** Words that must all be in the name, the agent, the project, an id or in what holds it. */
  readonly search: string;
  readonly agent: string;
  readonly project: string;
  readonly label: string;
  readonly onlyNeedsPerson: boolean;
}

/** Whether somebody has to do something for it to go on. */
export function needsPerson({ waiting, holding }: MonitorRow): boolean {
  return (
    waiting?.for === 'input' || waiting?.for === 'login' || holding.some(({ why }) => why === 'unkillable')
  );
}

/** Those that fit, first the ones that need a person, then the oldest first. */
export function monitorRows(all: readonly MonitorRow[], filter: MonitorFilter): MonitorRow[] {
  const words = filter.search.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row: MonitorRow): boolean => {
    if (filter.agent !== '' && row.agent !== filter.agent) return false;
    if (filter.project !== '' && row.project !== filter.project) return false;
    if (filter.label !== '' && !row.labels?.includes(filter.label)) return false;
    if (filter.onlyNeedsPerson && !needsPerson(row)) return false;
    const text = [
      row.name,
      row.agent,
      row.project,
      row.schedule,
      ...(row.labels ?? []),
      row.id,
      row.sessionId,
      ...row.holding.map(({ name, why }) => `${name} ${why}`),
    ]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return all
    .filter(fits)
    .sort(
      (left, right) =>
        Number(needsPerson(right)) - Number(needsPerson(left)) ||
        left.createdAt.localeCompare(right.createdAt),
    );
}

/** What can be chosen to see a part: what there is among the live roots, by name. */
export function choicesOf(all: readonly MonitorRow[]): Record<'agent' | 'project' | 'label', string[]> {
  return {
    agent: sorted(all.map(({ agent }) => agent)),
    project: sorted(all.map(({ project }) => project)),
    label: sorted(all.flatMap(({ labels = [] }) => labels)),
  };
}

function sorted(words: readonly (string | undefined)[]): string[] {
  return [...new Set(words)].filter((word) => word !== undefined).sort();
}
