import type { Asking } from '../ledger/questions.ts';
import { ask } from '../ledger/questions.ts';
import type { Schedule } from '../ledger/schedule.ts';

/** How many schedules are looked at that run after one another. */
export const longestChain = 1_000;

/** The schedule of a full name that is not removed. */
export function* scheduleCalled(fullName: string): Asking<Schedule | undefined> {
  const [project = '', name = ''] = fullName.split('/');
  return yield* ask('scheduleNamed', project, name);
}

/** The schedule that is before all others that this one runs after: its instants are theirs. Undefined: it is gone. */
export function* topOf(schedule: Schedule): Asking<Schedule | undefined> {
  let top: Schedule | undefined = schedule;
  for (let steps = 0; top && top.dependsOn !== null && steps < longestChain; steps++)
    top = yield* scheduleCalled(top.dependsOn);
  return top;
}
