import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { codexDriver } from '../../src/drivers/codex/driver.ts';
import { endGroup } from '../../src/processes/group.ts';
import { readRecord } from '../../src/processes/recorded-launch.ts';
import { AgentBench } from './agent-bench.ts';
import { type AgentKit, findProgram } from './kit.ts';

/** Codex on the scripted model: a home whose configuration names it. */
export const codexKit: AgentKit = {
  name: 'codex',
  driver: () => codexDriver({ clock: systemClock }),
  profile(program, directory, model) {
    writeCodexHome(join(directory, 'home'), model.url);
    return {
      driver: 'codex',
      command: [program],
      home: join(directory, 'home'),
      env: { HOME: directory, SCRIPTED_KEY: 'x' },
      sandbox: 'full',
    };
  },
  asking: (profile) => ({ ...profile, sandbox: 'workspace' }),
  async cleanUp(directory) {
    const place = join(directory, 'home', 'stemma');
    for (const name of existsSync(place) ? readdirSync(place) : []) {
      const leader = await readRecord(join(place, name));
      if (leader) await endGroup(leader, { graceMs: 300, clock: systemClock });
    }
  },
};

/** The program under test, or undefined after saying how to get it. */
export function findCodex(): string | undefined {
  return findProgram('codex');
}

/** A bench of Codex; `more` goes into its configuration. */
export async function startCodexBench(program: string, more?: string): Promise<AgentBench> {
  const bench = await AgentBench.start(codexKit, program);
  if (more !== undefined) writeCodexHome(join(bench.directory, 'home'), bench.model.url, more);
  return bench;
}

/** The directory of the one app-server of a bench. */
export function serverDirectoryOf(bench: AgentBench): string {
  const place = join(bench.directory, 'home', 'stemma');
  const [name] = existsSync(place) ? readdirSync(place) : [];
  return join(place, name ?? 'none');
}

/** Writes a home whose model is the scripted one. */
export function writeCodexHome(home: string, modelUrl: string, more = ''): void {
  mkdirSync(home, { recursive: true });
  const lines = [
    'model = "scripted"',
    'model_provider = "scripted"',
    'check_for_update_on_startup = false',
    '[model_providers.scripted]',
    'name = "scripted"',
    `base_url = "${modelUrl}"`,
    'env_key = "SCRIPTED_KEY"',
    'wire_api = "responses"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
    'supports_websockets = false',
    '[analytics]',
    'enabled = false',
    '[feedback]',
    'enabled = false',
    more,
  ];
  writeFileSync(join(home, 'config.toml'), lines.join('\n'));
}
