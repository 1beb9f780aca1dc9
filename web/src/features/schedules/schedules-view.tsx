import type { ReactNode } from 'react';
import { useTitle } from '../../app/title.ts';

/** PLACEHOLDER. */
export function SchedulesView(): ReactNode {
  useTitle('Schedules');
  return <h1>Schedules</h1>;
}
