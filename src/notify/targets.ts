import { commandTarget } from './command.ts';
import { mailTarget } from './mail.ts';
import { ntfyTarget } from './ntfy.ts';
import type { Target } from './port.ts';
import type { SendingParts } from './sending.ts';
import type { TargetSettings } from './settings.ts';
import { slackTarget } from './slack.ts';
import { webhookTarget } from './webhook.ts';

/** Makes the target that the settings describe. Throws for settings that name no way: a bug of whoever read them. */
export function createTarget(settings: TargetSettings, parts: SendingParts): Target {
  const { webhook, command, mail, ntfy, slack } = settings;
  if (webhook !== undefined) return webhookTarget({ ...settings, webhook }, parts);
  if (command !== undefined) return commandTarget({ ...settings, command }, parts);
  if (mail !== undefined) return mailTarget({ ...settings, mail }, parts);
  if (ntfy !== undefined) return ntfyTarget({ ...settings, ntfy }, parts);
  if (slack !== undefined) return slackTarget({ ...settings, slack }, parts);
  throw new Error('the settings of a target name no way to tell it');
}
