import type { ScreenCommand } from '../port.ts';
import { socketPathIn } from './app-server.ts';
import { serverPlaceOf } from './environment.ts';
import type { CodexThread } from './thread.ts';

/**
 * Codex's own screen on this very thread: another client of the same app-server. What is typed there has a client id of its
 * own, and ending the screen leaves the thread alone.
 */
export function screenOf(thread: CodexThread): ScreenCommand {
  const { profile, cwd } = thread.request;
  const { command, env } = serverPlaceOf(profile);
  const address = `unix://${socketPathIn(thread.link.directory)}`;
  const quiet = ['-c', 'check_for_update_on_startup=false', '--disable', 'plugins'];
  return { command: [...command, 'resume', thread.id, '--remote', address, ...quiet], cwd, env };
}
