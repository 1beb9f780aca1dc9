import type { Logger } from 'pino';
import type { ScheduleCommands } from '../api/ports.ts';
import { StemmaError } from '../base/errors.ts';
import { withPlaces } from '../cli/config-file.ts';
import { schedulesOf } from '../cli/schedule-file.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { ApplyAnswer } from '../contract/schedule.ts';

/**
 * Makes the schedules of a server be those of its configuration, before anything of them becomes due. A configuration
 * that says nothing of schedules leaves them as they are. Answers what changed. Rejects with `INVALID_CONFIG`, with the place of each mistake,
 * and `ILLEGAL_STATE` when a name is held by a schedule that came another way.
 */
export async function takeOverSchedules(
  config: ConfigFile,
  file: string | undefined,
  commands: Pick<ScheduleCommands, 'apply'>,
  log: Logger,
): Promise<ApplyAnswer | undefined> {
  if (file === undefined) return undefined;
  const { project, schedules } = schedulesOf(config, file);
  if (schedules === undefined) return undefined;
  const caller = { kind: 'api', scope: 'admin', name: 'local' } as const;
  return withPlaces(file, async () => {
    const answer = await commands.apply({ project, schedules }, { caller });
    if (!answer.ok) throw new StemmaError(answer.code, answer.message, answer.data);
    log.info(answer.value, 'the schedules of the configuration');
    return answer.value;
  });
}
