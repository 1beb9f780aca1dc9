import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.ts';
import { environmentOf, projectsOf } from '../drivers/terminal/launch.ts';
import type { AgentProfile } from '../drivers/port.ts';
import { TerminalOrder } from '../terminal/terminal-order.ts';
import { TmuxTerminals } from '../terminal/tmux-terminals.ts';

/**
 * Ends what the cases of a check have left at screens, and makes the agent forget their conversations. `root`: of the check;
 * `directory`: where its cases have theirs. The sign-in and everything else in the agent's own directory stays.
 */
export async function forgetScreens(profile: AgentProfile, root: string, directory: string): Promise<void> {
  for (const dataDir of [root, directory]) {
    const parts = { clock: systemClock, dataDir, order: new TerminalOrder(), report: () => undefined };
    await new TmuxTerminals(parts).reap(new Set());
  }
  const projects = projectsOf(environmentOf(profile));
  for (const name of await readdir(directory).catch(() => [])) {
    // The project is named after the case's own directory, so nobody else's conversations are in it.
    const project = join(directory, name).replace(/[^a-zA-Z0-9]/g, '-');
    await rm(join(projects, project), { recursive: true, force: true });
  }
}
