import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { acpDriver } from '../../src/drivers/acp/driver.ts';
import { type AgentKit, endRecorded } from './kit.ts';

/** Qwen Code on the scripted model, over chat-completions. */
export const qwenKit: AgentKit = {
  name: 'qwen',
  driver: () => acpDriver({ clock: systemClock }),
  profile(program, directory, model) {
    const home = join(directory, 'home');
    mkdirSync(join(home, '.qwen'), { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true, enableAutoUpdate: false },
      telemetry: { enabled: false },
    };
    writeFileSync(join(home, '.qwen', 'settings.json'), JSON.stringify(settings));
    return {
      driver: 'acp',
      // With its search for tools it offers those of MCP servers only when its model has looked for them.
      command: [program, '--acp', '--exclude-tools', 'tool_search', '--approval-mode', 'yolo'],
      home,
      env: { OPENAI_API_KEY: 'x', OPENAI_BASE_URL: model.url, OPENAI_MODEL: 'scripted' },
    };
  },
  asking: (profile) => ({
    ...profile,
    command: profile.command.filter((part) => part !== '--approval-mode' && part !== 'yolo'),
  }),
  cannot: {
    usageLimit: 'on 429 it tries again for minutes and says nothing of it; an interrupt ends that',
  },
  cleanUp: endRecorded,
};
