import type { Execution } from '../../../../src/contract/execution.ts';

/**
 * A stretch of the life of an execution; UTC milliseconds. `wait`: it is there and has not begun. `run`: it works. `held`: it
 * waits for something in the midst of its work. `open`: it has ended itself, and what is below it has not.
 */
export interface Bar {
  readonly part: 'wait' | 'run' | 'held' | 'open';
  readonly from: number;
  readonly to: number;
  /** Whether it goes on. */
  readonly isGoing: boolean;
}

/** The stretches of an execution in order; what lasts reaches to `now`. */
export function barsOf(execution: Execution, now: number): Bar[] {
  const { state, waiting, closed } = execution;
  const createdAt = Date.parse(execution.createdAt);
  const endedAt = instantOf(execution.endedAt);
  const startedAt = instantOf(execution.startedAt);
  const closedAt = instantOf(execution.closedAt);
  const present = Math.max(now, createdAt);
  const bars: Bar[] = [];
  const add = (part: Bar['part'], from: number, to: number, isGoing: boolean): void => {
    if (to > from || isGoing) bars.push({ part, from, to: Math.max(from, to), isGoing });
  };
  // What is registered and ends without a start of its own, such as outside work, works from its birth on.
  const hasWaited = startedAt !== undefined || state === 'queued';
  if (hasWaited) add('wait', createdAt, startedAt ?? present, startedAt === undefined);
  if (state !== 'queued') {
    const from = startedAt ?? createdAt;
    const to = endedAt ?? present;
    const held = endedAt === undefined && waiting ? Math.max(from, Date.parse(waiting.since)) : undefined;
    // An instant is a stretch of no length: it is shown all the same.
    bars.push({ part: 'run', from, to: held ?? to, isGoing: endedAt === undefined && held === undefined });
    if (held !== undefined) add('held', held, present, true);
  }
  if (endedAt !== undefined) add('open', endedAt, closedAt ?? present, !closed);
  return bars;
}

/** When an execution is over for who looks at its bar, or `now`. */
export function endOf({ endedAt, closedAt }: Execution, now: number): number {
  return instantOf(endedAt ?? closedAt) ?? now;
}

function instantOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
