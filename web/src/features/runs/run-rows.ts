import type { Run } from '../../../../src/contract/run.ts';
import type { Shown } from '../../ui/words.ts';

/** What of the runs is shown; '' asks for everything. */
export interface RunFilters {
  readonly search: string;
  /** A state, or `failed`: ended, and not well. */
  readonly state: string;
  readonly project: string;
  readonly schedule: string;
}

/** What the server is asked for: `failed` is an end that only the page tells from others. */
export function askedState(state: string): string | undefined {
  return state === 'failed' ? 'ended' : state === '' ? undefined : state;
}

/** Those that fit what the server was not asked for. */
export function fittingRuns(all: readonly Run[], { search, state, project }: RunFilters): Run[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((run) => {
    if (state === 'failed' && (run.outcome === undefined || run.outcome === 'succeeded')) return false;
    if (project !== '' && run.project !== project) return false;
    const { id, name, agent, schedule, workflow, outcomeCode } = run;
    const text = [id, name, run.project, agent, schedule, workflow?.name, outcomeCode]
      .join(' ')
      .toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** How a run is shown. */
export function shownRun({ state, outcome }: Pick<Run, 'state' | 'outcome'>): Shown {
  return state === 'ended' ? (outcome ?? 'failed') : state;
}

/** How far a run is: `2 of 3 messages`, `4 of 6 steps, 1 failed`; '' where that is not known. */
export function progressWords({ workflow, messagesCount, messagesClosed }: Run): string {
  if (workflow) {
    const { total, ended, failed } = workflow.counts;
    return `${ended} of ${total} steps${failed > 0 ? `, ${failed} failed` : ''}`;
  }
  return messagesCount === undefined ? '' : `${messagesClosed ?? 0} of ${messagesCount} messages`;
}

/** What a person may do with a run as it is. `resume`: go on where it stands; `rerun`: once more from a place. */
export function mayDo({ state, outcome }: Pick<Run, 'state' | 'outcome'>): {
  readonly stop: boolean;
  readonly resume: boolean;
  readonly rerun: boolean;
} {
  return {
    stop: state !== 'ended',
    resume: state === 'waiting' || (state === 'ended' && outcome !== 'succeeded'),
    rerun: state === 'ended',
  };
}
