import type { CommandRunner } from '../runs/ports.ts';
import type { ApplicationContext } from './context.ts';

/** What commands about schedules need beside the services. */
export interface SchedulingContext extends ApplicationContext {
  /** Ends the preconditions of what is given up. */
  readonly commands: Pick<CommandRunner, 'end'>;
  /** The names of the targets of notifications. */
  readonly targets: () => readonly string[];
}
