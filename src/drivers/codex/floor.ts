import type { DriverEvent } from '../port.ts';

/** How far a thread was processed before: up to a position, with these texts and tasks still open. */
export interface Floor {
  readonly position: number;
  readonly unresolved: ReadonlySet<string>;
  readonly openTasks: ReadonlySet<string>;
}

/** Whether an event that is told from the record was not processed before. */
export function isNews(event: DriverEvent, floor: Floor): boolean {
  if (event.position > floor.position) return true;
  // The end of background work has no place of its own within the turn.
  if (event.type === 'taskEnded') return floor.openTasks.has(event.taskId);
  const isOurs = event.type === 'taken' || event.type === 'turnStarted';
  return isOurs && event.deliveryId !== undefined && floor.unresolved.has(event.deliveryId);
}
