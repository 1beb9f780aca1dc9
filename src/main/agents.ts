import { join } from 'node:path';
import type { AgentDirectory } from '../application/context.ts';
import { StemmaError } from '../base/errors.ts';
import type { ConfigFile } from '../contract/config-file.ts';
import type { AgentProfile, Driver } from '../drivers/port.ts';

/** What each driver runs when a profile names no command. */
const usualCommands: Readonly<Record<string, readonly string[]>> = {
  codex: ['codex'],
  script: ['cat'],
};

/** The agents of a server: those that are always there, and those of its configuration, which win. */
export function createAgents(
  drivers: readonly Driver[],
  config: ConfigFile,
  builtIn: { readonly self: readonly string[]; readonly examplesDirectory: string },
): AgentDirectory {
  const known = new Map(drivers.map((driver) => [driver.kind, driver]));
  const profiles = new Map<string, AgentProfile>();
  for (const profile of builtInProfiles(builtIn)) profiles.set(profile.name, profile);
  for (const [name, input] of Object.entries(config.agents ?? {})) {
    const command = input.command ?? usualCommands[input.driver];
    const path = `agents.${name}`;
    if (!known.has(input.driver)) {
      const drivers = [...known.keys()].join(', ');
      throw new StemmaError(
        'INVALID_CONFIG',
        `${path}.driver: there is no driver "${input.driver}"; there are ${drivers}.`,
        {
          key: `${path}.driver`,
        },
      );
    }
    if (!command) {
      throw new StemmaError(
        'INVALID_CONFIG',
        `${path}: a profile of driver "${input.driver}" needs a command.`,
        { key: path },
      );
    }
    profiles.set(name, definedOnly({ ...input, name, command }));
  }
  const find = (name: string): { profile: AgentProfile; driver: Driver } | undefined => {
    const profile = profiles.get(name);
    const driver = profile ? known.get(profile.driver) : undefined;
    return profile && driver ? { profile, driver } : undefined;
  };
  const configured = Object.keys(config.agents ?? {})[0];
  return {
    find,
    list: () => [...profiles.keys()].flatMap((name) => find(name) ?? []),
    defaultName: configured ?? 'demo',
  };
}

function builtInProfiles(builtIn: {
  readonly self: readonly string[];
  readonly examplesDirectory: string;
}): AgentProfile[] {
  const script = join(builtIn.examplesDirectory, 'demo', 'background-work.json');
  return [
    { name: 'demo', driver: 'acp', command: [...builtIn.self, 'demo-agent', '--script', script] },
    { name: 'codex', driver: 'codex', command: ['codex'] },
    // Echoes its prompt: the smallest program that is an agent.
    { name: 'script', driver: 'script', command: ['cat'] },
  ];
}

function definedOnly(
  profile: Record<string, unknown> & { name: string; command: readonly string[] },
): AgentProfile {
  return Object.fromEntries(
    Object.entries(profile).filter(([, value]) => value !== undefined),
  ) as unknown as AgentProfile;
}
