import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { claudeDriver } from '../../src/drivers/claude/driver.ts';
import { endGroup } from '../../src/processes/group.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import type { AgentKit } from './kit.ts';

/** Claude Code on the scripted model: a configuration directory of its own, and a provider that is the model. */
export const claudeKit: AgentKit = {
  name: 'claude',
  driver: () => claudeDriver({ clock: systemClock }),
  profile(program, directory, model) {
    mkdirSync(join(directory, 'home'), { recursive: true });
    return {
      driver: 'claude',
      command: [program],
      home: join(directory, 'home'),
      env: {
        HOME: directory,
        ANTHROPIC_BASE_URL: model.url.replace(/\/v1$/, ''),
        ANTHROPIC_API_KEY: 'sk-scripted',
        // Else it tries for minutes what the script lets fail.
        CLAUDE_CODE_MAX_RETRIES: '1',
      },
      sandbox: 'full',
    };
  },
  async cleanUp(directory) {
    const sessions = join(directory, 'sessions');
    for (const name of existsSync(sessions) ? readdirSync(sessions) : []) {
      const leader = await readRecord(join(sessions, name));
      if (leader) await endGroup(leader, { graceMs: 300, clock: systemClock });
    }
  },
};
