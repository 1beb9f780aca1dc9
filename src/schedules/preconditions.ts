import type { Occurrence } from '../ledger/occurrence.ts';
import type { ScheduleDefinition } from '../ledger/schedule-definition.ts';
import type { CommandEnd } from '../runs/ports.ts';
import type { SchedulesContext } from './ports.ts';

/** How long a precondition may take, in milliseconds. Then it has not said yes. */
const longestMs = 10 * 60_000;
/** How much of what it printed is told: the end of it, where the reason usually is. */
const toldLines = 5;
const toldChars = 600;

/** Runs the commands that say whether an occurrence runs at all. Each is a process that outlives the server. */
export class Preconditions {
  readonly #context: Pick<SchedulesContext, 'commands' | 'clock'>;

  constructor(context: Pick<SchedulesContext, 'commands' | 'clock'>) {
    this.#context = context;
  }

  /**
   * Why the occurrence is skipped, or undefined. After a restart it listens to the command that runs already; an abort lets
   * go of it. A run that a person asked for has no precondition.
   */
  async refusalOf(
    occurrence: Pick<Occurrence, 'id' | 'trigger'>,
    { onlyIf, cwd }: Pick<ScheduleDefinition, 'onlyIf' | 'cwd'>,
    signal: AbortSignal,
  ): Promise<string | undefined> {
    if (onlyIf === undefined || !isByItself(occurrence)) return undefined;
    const { commands, clock } = this.#context;
    let isLate = false;
    const cancelTimer = clock.after(longestMs, () => {
      isLate = true;
      void commands.end(occurrence.id);
    });
    try {
      const end = await commands.run(occurrence, onlyIf, cwd, signal);
      if (isLate) return `precondition: it did not end within ${longestMs / 60_000} min`;
      return end.exitCode === 0 ? undefined : refusalOf(end);
    } finally {
      cancelTimer();
    }
  }

  /** Ends what the command left running, and forgets it: what came of it is committed. */
  async clear(
    occurrence: Pick<Occurrence, 'id' | 'trigger'>,
    { onlyIf }: Pick<ScheduleDefinition, 'onlyIf'>,
  ): Promise<void> {
    if (onlyIf === undefined || !isByItself(occurrence)) return;
    await this.#context.commands.clear(occurrence.id);
  }
}

function isByItself({ trigger }: Pick<Occurrence, 'trigger'>): boolean {
  return trigger === 'time' || trigger === 'after';
}

function refusalOf({ exitCode, output, isUnstarted }: CommandEnd): string {
  // Nobody has said no: something is wrong, and people are told.
  if (isUnstarted)
    return `dispatch: the precondition could not be started: ${output.trim().slice(-toldChars)}`;
  const how = exitCode === null ? 'it left no exit code' : `exit code ${exitCode}`;
  const said = output.trim().split('\n').slice(-toldLines).join('\n').slice(-toldChars);
  return said === '' ? `precondition: ${how}` : `precondition: ${how}: ${said}`;
}
