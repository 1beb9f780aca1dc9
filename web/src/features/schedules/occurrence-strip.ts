import type { Occurrence } from '../../../../src/contract/schedule.ts';
import type { Run } from '../../../../src/contract/run.ts';
import { instantIn } from '../../ui/instants.ts';
import { plainLine } from '../../ui/plain.ts';

/** How a cell of a strip looks: the sign says it without colour. */
type CellTone = 'good' | 'bad' | 'running' | 'wait' | 'idle';

/** One instant of a schedule in its strip. */
export interface StripCell {
  readonly id: string;
  readonly sign: string;
  readonly tone: CellTone;
  /** All of it in words: when, what became of it, why. */
  readonly words: string;
  readonly runId: string | undefined;
  readonly instant: string;
}

const signs: Readonly<Record<Occurrence['state'], readonly [string, CellTone]>> = {
  due: ['○', 'wait'],
  waiting: ['◐', 'wait'],
  claimed: ['○', 'running'],
  ran: ['▸', 'running'],
  skipped: ['–', 'idle'],
  missed: ['!', 'bad'],
  expired: ['!', 'bad'],
  superseded: ['»', 'idle'],
};

/** What the signs of a strip mean, for a legend. */
export const legend: readonly (readonly [string, CellTone, string])[] = [
  ['✓', 'good', 'succeeded'],
  ['✗', 'bad', 'failed'],
  ['●', 'running', 'runs'],
  ['◐', 'wait', 'waits'],
  ['–', 'idle', 'skipped'],
  ['»', 'idle', 'superseded'],
  ['!', 'bad', 'missed or expired'],
];

/** The latest occurrences, the oldest first, each as it ended; `runs`: what is known of the runs that they became. */
export function stripCells(
  occurrences: readonly Occurrence[],
  runs: readonly Pick<Run, 'id' | 'state' | 'outcome'>[],
  zone: string,
  most = 60,
): StripCell[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  return occurrences
    .slice(0, most)
    .toReversed()
    .map((occurrence) => {
      const run = occurrence.runId === undefined ? undefined : byId.get(occurrence.runId);
      const [sign, tone, state] = lookOf(occurrence, run);
      const { id, instant, runId } = occurrence;
      const words = `${instantIn(instant, zone)}: ${state}${byWords(occurrence)}${reasonWords(occurrence)}`;
      return { id, instant, runId, sign, tone, words };
    });
}

function lookOf(
  { state }: Occurrence,
  run: Pick<Run, 'state' | 'outcome'> | undefined,
): readonly [string, CellTone, string] {
  if (state !== 'ran' || !run) {
    const [sign, tone] = signs[state];
    return [sign, tone, state];
  }
  if (run.state === 'waiting') return ['◐', 'wait', 'its run waits'];
  if (run.state === 'running') return ['●', 'running', 'its run is at work'];
  switch (run.outcome) {
    case 'succeeded':
      return ['✓', 'good', 'succeeded'];
    case 'cancelled':
      return ['⊘', 'idle', 'cancelled'];
    default:
      return ['✗', 'bad', 'failed'];
  }
}

/** How an occurrence came about, where it was not by the clock: ` (triggered)`. */
function byWords({ trigger }: Pick<Occurrence, 'trigger'>): string {
  const by = {
    time: '',
    manual: ' (triggered)',
    backfill: ' (backfill)',
    after: ' (after another schedule)',
  };
  return by[trigger];
}

function reasonWords({ reason }: Pick<Occurrence, 'reason'>): string {
  return reason === undefined ? '' : `, ${plainLine(reason, 200)}`;
}
