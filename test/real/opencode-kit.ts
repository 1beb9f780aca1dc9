import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { opencodeDriver } from '../../src/drivers/opencode/driver.ts';
import { endGroup } from '../../src/processes/group.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { AgentBench } from './agent-bench.ts';
import { type AgentKit, findProgram } from './kit.ts';

/** opencode on the scripted model: a home whose configuration names it. */
export const opencodeKit: AgentKit = {
  name: 'opencode',
  driver: () => opencodeDriver({ clock: systemClock }),
  profile(program, directory, model) {
    writeOpencodeHome(join(directory, 'home'), model.url);
    return {
      driver: 'opencode',
      command: [program],
      home: join(directory, 'home'),
      env: { ...offline },
      sandbox: 'full',
    };
  },
  asking({ sandbox: _sandbox, ...profile }) {
    // It asks by its own rules, which are in its configuration.
    const home = `${profile.home}-asking`;
    const file = join('.config', 'opencode', 'opencode.json');
    mkdirSync(dirname(join(home, file)), { recursive: true });
    const config = JSON.parse(readFileSync(join(profile.home ?? '', file), 'utf8')) as object;
    writeFileSync(join(home, file), JSON.stringify({ ...config, permission: { bash: 'ask' } }));
    return { ...profile, home };
  },
  async cleanUp(directory) {
    const sessions = join(directory, 'sessions');
    for (const name of existsSync(sessions) ? readdirSync(sessions) : []) {
      const leader = await readRecord(join(sessions, name));
      if (leader) await endGroup(leader, { graceMs: 300, clock: systemClock });
    }
  },
};

/** Without these it looks for models and plugins on the network. */
const offline = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_DEFAULT_PLUGINS: '1' };

/** The program under test, or undefined after saying how to get it. */
export function findOpencode(): string | undefined {
  return findProgram('opencode');
}

/** A bench of opencode; `more` goes into its configuration. */
export async function startOpencodeBench(
  program: string,
  more?: Record<string, unknown>,
): Promise<AgentBench> {
  const bench = await AgentBench.start(opencodeKit, program);
  if (more !== undefined) writeOpencodeHome(join(bench.directory, 'home'), bench.model.url, more);
  return bench;
}

/** The configuration of opencode for the scripted model. */
export function writeOpencodeHome(home: string, modelUrl: string, more: Record<string, unknown> = {}): void {
  const directory = join(home, '.config', 'opencode');
  mkdirSync(directory, { recursive: true });
  const provider = {
    npm: '@ai-sdk/openai-compatible',
    name: 'Scripted',
    options: { baseURL: modelUrl, apiKey: 'x' },
    models: { scripted: { name: 'Scripted', limit: { context: 1_000_000, output: 4000 } } },
  };
  const config = {
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    enabled_providers: ['scripted'],
    provider: { scripted: provider },
    ...more,
  };
  writeFileSync(join(directory, 'opencode.json'), JSON.stringify(config, undefined, 2));
}
