import type { ReactNode } from 'react';
import type { Schedule, TriggerAnswer } from '../../../../src/contract/schedule.ts';
import { tell } from '../../live/ask.ts';
import { Action } from '../../ui/action.tsx';

/** The path of a schedule in the API. */
export function schedulePath({ project, name }: Pick<Schedule, 'project' | 'name'>, more = ''): string {
  return `/schedules/${encodeURIComponent(`${project}/${name}`)}${more}`;
}

/** What is done with a schedule at once: trigger, pause, resume. */
export function ScheduleActions({
  schedule,
  onTriggered = () => undefined,
}: {
  readonly schedule: Schedule;
  readonly onTriggered?: (answer: TriggerAnswer) => void;
}): ReactNode {
  const trigger = async (): Promise<void> =>
    onTriggered(await tell<TriggerAnswer>(schedulePath(schedule, '/trigger'), {}));
  return (
    <>
      <Action label="Trigger" run={trigger} />
      {schedule.state === 'paused' ? (
        <Action label="Resume" tone="first" run={() => tell(schedulePath(schedule, '/resume'), {})} />
      ) : (
        <Action
          label="Pause"
          run={() => tell(schedulePath(schedule, '/pause'), { reason: 'paused on the page' })}
        />
      )}
    </>
  );
}
