import type { Answer } from '../api/ports.ts';
import type { ScheduleId } from '../base/ids.ts';
import type { StopAnswer } from '../contract/schedule.ts';
import { toInstant } from '../contract/text.ts';
import type { CancelTree } from '../runs/stopping.ts';
import { stop } from '../schedules/stop.ts';
import type { SchedulingContext } from './scheduling-context.ts';

/** Gives up what waits, is due or is being begun, then cancels the runs that are at work and joins them. */
export async function stopSchedule(
  context: SchedulingContext,
  id: ScheduleId,
  request: CancelTree['request'],
): Promise<Answer<StopAnswer>> {
  const { store, clock, commands, stopping } = context;
  const instants: number[] = [];
  for (;;) {
    const stopped = await store.decide(() => stop({ now: clock.now(), id }));
    if (!stopped.ok) return stopped;
    instants.push(...stopped.value.instants);
    await Promise.all(stopped.value.begun.map((begun) => commands.end(begun)));
    if (!stopped.value.isDone) continue;
    const { runs } = stopped.value;
    const ends = await Promise.all(runs.map((runId) => stopping.cancelRun(runId, request)));
    const refused = ends.find((end) => !end.ok);
    if (refused && !refused.ok) return refused;
    const skipped = instants.sort((a, b) => a - b).map(toInstant);
    return { ok: true, value: { runs: [...runs], skipped } };
  }
}
