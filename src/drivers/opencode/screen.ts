import type { OpenRequest, ScreenCommand } from '../port.ts';
import { placeOf } from './environment.ts';
import { readAttachment } from './server.ts';

/**
 * opencode's own screen on this very conversation: another client of its server. The password is in the environment, since
 * everybody sees a command line.
 */
export async function screenOf({ profile, directory, cwd }: OpenRequest): Promise<ScreenCommand | undefined> {
  const attachment = await readAttachment(directory);
  if (!attachment) return undefined;
  const { command, env } = placeOf(profile);
  const { url, nativeId, password } = attachment;
  return {
    command: [...command, 'attach', url, '--session', nativeId, '--dir', cwd],
    cwd,
    env: { ...env, OPENCODE_SERVER_PASSWORD: password },
  };
}
