import type { Schedule, WireDefinition } from '../../../../src/contract/schedule.ts';
import { plainLine } from '../../ui/plain.ts';

/** When a schedule is due, as its file says it: `cron 0 2 * * *`, `every 15m`, `after import`. */
export function ruleWords({ cron, every, at, after }: WireDefinition): string {
  if (cron !== undefined) return `cron ${plainLine(cron, 80)}`;
  if (every !== undefined) return `every ${spanWords(every)}`;
  if (at !== undefined) return `at ${plainLine(at, 40)}`;
  if (!after) return '';
  const deadline = after.deadline === undefined ? '' : `, until ${after.deadline}`;
  return `after ${plainLine(after.schedule, 80)} (${after.status}${deadline})`;
}

/** A span of time as it is written in a file, exactly: `15m`, `1h30m`, `250ms`. */
export function spanWords(ms: number): string {
  const units = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'm'],
    [1_000, 's'],
    [1, 'ms'],
  ] as const;
  let rest = ms;
  let words = '';
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words += `${count}${unit}`;
  }
  return words === '' ? '0ms' : words;
}

/** What a schedule does, in one line: its workflow, or its first message. */
export function workWords({ workflow, messages = [] }: WireDefinition): string {
  if (workflow)
    return `workflow ${workflow.name}${workflow.group === undefined ? '' : ` (${workflow.group})`}`;
  const [first] = messages;
  const more = messages.length > 1 ? ` and ${messages.length - 1} more` : '';
  return `${plainLine(first?.text ?? '', 120)}${more}`;
}

/** Who holds a schedule, and hence where it is changed. */
export function originWords(origin: Schedule['origin']): string {
  return { file: 'from a file', api: 'made by a person', agent: 'made by an agent' }[origin];
}

/** Those that fit all words of a search, a state, and a project; '' asks for none. */
export function fittingSchedules(
  all: readonly Schedule[],
  { search, state, project }: { readonly search: string; readonly state: string; readonly project: string },
): Schedule[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((one) => {
    if (state !== '' && one.state !== state) return false;
    if (project !== '' && one.project !== project) return false;
    const { definition } = one;
    const text =
      `${one.project}/${one.name} ${ruleWords(definition)} ${workWords(definition)} ${definition.agent ?? ''} ${definition.labels.join(' ')}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
