import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function ScheduleView(): ReactNode {
  useTitle('Schedule');
  return <h1>Schedule</h1>;
}
