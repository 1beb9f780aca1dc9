import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { acpDriver } from '../../src/drivers/acp/driver.ts';
import { type AgentKit, endRecorded } from './kit.ts';

/** Gemini CLI on the scripted model: a home whose settings choose an API key and switch off what goes elsewhere. */
export const geminiKit: AgentKit = {
  name: 'gemini',
  driver: () => acpDriver({ clock: systemClock }),
  profile(program, directory, model) {
    const home = join(directory, 'home');
    mkdirSync(join(home, '.gemini'), { recursive: true });
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      privacy: { usageStatisticsEnabled: false },
      // Its clean-up takes the second file of a conversation that was loaded once for a broken one, and deletes both.
      general: { enableAutoUpdate: false, sessionRetention: { enabled: false } },
    };
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings));
    return {
      driver: 'acp',
      // Without a sandbox of its own and without questions; the tests of questions leave `-y` out.
      command: [program, '--acp', '-m', 'gemini-2.5-flash', '-y'],
      home,
      env: { GEMINI_API_KEY: 'x', GOOGLE_GEMINI_BASE_URL: model.url.replace(/\/v1$/, '') },
    };
  },
  asking: (profile) => ({ ...profile, command: profile.command.filter((part) => part !== '-y') }),
  cannot: {
    usageLimit: 'on 429 it tries again for minutes and says nothing of it; an interrupt ends that',
  },
  cleanUp: endRecorded,
};
