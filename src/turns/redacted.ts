import { assertNever } from '../base/assert-never.ts';
import type { DriverEvent } from '../drivers/port.ts';

/** An event as it may be kept and told: all that an agent says in words is without the values of secrets. */
export function redacted(event: DriverEvent, clean: (text: string) => string): DriverEvent {
  switch (event.type) {
    case 'turnEnded': {
      const { error, tasks } = event;
      return {
        ...event,
        answer: clean(event.answer),
        tasks: tasks.map((task) => ({ ...task, name: clean(task.name) })),
        ...(error ? { error: { ...error, message: clean(error.message) } } : {}),
      };
    }
    case 'taskStarted':
      return { ...event, task: { ...event.task, name: clean(event.task.name) } };
    case 'taskEnded':
      return { ...event, result: clean(event.result) };
    case 'waiting':
      return { ...event, text: clean(event.text) };
    case 'item':
      return { ...event, item: { ...event.item, text: clean(event.item.text) } };
    case 'noise':
      return { ...event, what: clean(event.what) };
    case 'exited':
      return { ...event, reason: clean(event.reason) };
    case 'turnStarted':
      return event.typed ? { ...event, typed: { ...event.typed, text: clean(event.typed.text) } } : event;
    case 'typed':
      return { ...event, typed: { ...event.typed, text: clean(event.typed.text) } };
    case 'taken':
    case 'taskTold':
    case 'usage':
    case 'resumed':
      return event;
    default:
      return assertNever(event);
  }
}
