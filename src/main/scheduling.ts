import type { ApiPorts } from '../api/ports.ts';
import type { ApplicationContext } from '../application/context.ts';
import { createScheduleCommands } from '../application/schedule-commands.ts';
import { createScheduleQueries } from '../application/schedule-queries.ts';
import type { Owner } from '../base/lifetime.ts';
import { refusalOfStepBudgets } from '../application/workflow-commands.ts';
import type { CommandRunner, TextSources } from '../runs/ports.ts';
import { ClockWatch } from '../schedules/clock-watch.ts';
import type { ScheduleWake } from '../schedules/schedules.ts';
import { Schedules } from '../schedules/schedules.ts';
import type { WholeStore } from '../store/whole-store.ts';
import { lookAgain } from '../wakeups/look-again.ts';
import type { NotifySettings } from './notifications.ts';

/** What schedules are made of. */
export interface SchedulingParts extends ApplicationContext {
  readonly store: WholeStore;
  readonly commands: CommandRunner;
  readonly texts: TextSources;
  readonly owner: Owner;
  readonly notify: NotifySettings;
  readonly report: (what: string, data: Readonly<Record<string, unknown>>) => void;
}

/** The schedules of a server. */
export interface Scheduling {
  readonly ports: Pick<ApiPorts, 'schedules' | 'scheduleQueries'>;
  readonly handle: (wake: ScheduleWake) => Promise<void>;
  /** Goes on with what the last server left, and begins to watch the clock. */
  start(): Promise<void>;
  /** Begins nothing more. */
  stop(): Promise<void>;
}

/** Wires them. */
export function createScheduling(parts: SchedulingParts): Scheduling {
  const { store, clock, agents, report, notify } = parts;
  const schedules = new Schedules({
    ...parts,
    agents: { find: (name) => agents.find(name)?.profile },
    refusalOfBudget: (definition, budget) => refusalOfStepBudgets(agents, definition, budget)?.message,
    claimed: () => store.recovery.claimedOccurrences(),
    all: () => store.recovery.schedules(),
  });
  const onJump = async (): Promise<void> => {
    await schedules.lookAtAll();
    await lookAgain(store, clock);
  };
  const watch = new ClockWatch({ clock, report, onJump });
  const targets = Object.keys(notify.targets);
  return {
    ports: {
      schedules: createScheduleCommands({ ...parts, targets: () => targets }),
      scheduleQueries: createScheduleQueries(parts),
    },
    handle: (wake) => schedules.handle(wake),
    async start() {
      await schedules.start();
      await lookAgain(store, clock);
      watch.start();
    },
    stop: () => watch.stop(),
  };
}
